// Package history records the actions and observations of clients. It checks them against Waybook's
// promises: no acknowledged data is lost, and no request is executed twice.
package history

import (
	"fmt"
	"sync"
	"time"
)

// Span is the time from the start of an operation to its reply, relative to the start of the
// history.
type Span struct{ Begin, End time.Duration }

// Thing identifies an album, an entry, a landmark or a thread of comments: "album/17".
type Thing string

// NameThing returns the Thing with a kind and an id.
func NameThing(kind string, id int64) Thing { return Thing(fmt.Sprintf("%s/%d", kind, id)) }

// Gone is the value of a thing that was deleted or does not exist.
const Gone = ""

// List identifies a list of things of one kind.
type List struct {
	// Kind is the kind of the things.
	Kind string
	// Owner distinguishes lists of one kind: a user, a category, or a thing.
	Owner string
}

// Item is an entry of a list.
type Item struct {
	ID    int64
	Value string
}

// Add is an attempt to create a thing in a list. Attempts with the same value repeat one request.
// No other request uses the value.
type Add struct {
	Span
	List  List
	Value string
	// ID is 0 if the attempt was not acknowledged; the thing may still exist.
	ID int64
}

// Put is an attempt to change or delete a thing. Only one client writes a thing.
type Put struct {
	Span
	Thing          Thing
	Value          string
	IsAcknowledged bool
}

// Read is a client's read of a thing.
type Read struct {
	Span
	Thing Thing
	Value string
}

// Listing is a complete list as a client received it, in creation order.
type Listing struct {
	Span
	List  List
	Items []Item
}

// Mark is an attempt to count a member once, such as a recommendation or a ballot.
type Mark struct {
	Tally, Member  string
	IsAcknowledged bool
}

// Count is the value of a tally after all marks.
type Count struct {
	Tally string
	Count int64
}

// Rewarded is the final number of rewards, one for each thing that was ever in a list.
type Rewarded struct {
	List  List
	Count int64
}

// Violation is a broken promise.
type Violation struct{ Rule, Detail string }

func (v Violation) String() string { return v.Rule + ": " + v.Detail }

// History is the record of a run. Its methods may be called concurrently.
type History struct {
	began time.Time

	mu         sync.Mutex
	adds       []Add
	puts       []Put
	reads      []Read
	listings   []Listing
	marks      []Mark
	counts     []Count
	rewarded   []Rewarded
	complaints []Violation
}

// New starts a history.
func New() *History { return &History{began: time.Now()} }

// Now returns the time since the start.
func (h *History) Now() time.Duration { return time.Since(h.began) }

// Record adds events of any of the types above.
func (h *History) Record(events ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range events {
		switch e := event.(type) {
		case Add:
			h.adds = append(h.adds, e)
		case Put:
			h.puts = append(h.puts, e)
		case Read:
			h.reads = append(h.reads, e)
		case Listing:
			h.listings = append(h.listings, e)
		case Mark:
			h.marks = append(h.marks, e)
		case Count:
			h.counts = append(h.counts, e)
		case Rewarded:
			h.rewarded = append(h.rewarded, e)
		case Violation:
			h.complaints = append(h.complaints, e)
		default:
			panic(fmt.Sprintf("no event: %T", event))
		}
	}
}

// Made returns how many things of a list were created, according to replies and complete lists.
func (h *History) Made(list List) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := newModel(h)
	for _, listing := range h.listings {
		m.checkListing(listing)
	}
	return m.made(list)
}
