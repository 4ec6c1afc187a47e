// Package history records what clients did and saw, and checks it against what a
// Waybook promises that loses nothing and does nothing twice.
package history

import (
	"fmt"
	"sync"
	"time"
)

// Span is when an operation began and when its answer was known, since the history's
// beginning.
type Span struct{ Begin, End time.Duration }

// Thing names one album, entry, landmark or thread of comments: "album/17".
type Thing string

// NameThing names a thing.
func NameThing(kind string, id int64) Thing { return Thing(fmt.Sprintf("%s/%d", kind, id)) }

// Gone is the value of a thing that was deleted, or is not there.
const Gone = ""

// List names a list of things of one kind.
type List struct {
	// Kind is that of the things in it.
	Kind string
	// Owner tells lists of one kind apart: a user, a category, a thing.
	Owner string
}

// Item is what a list shows of a thing.
type Item struct {
	ID    int64
	Value string
}

// Add is an attempt to create a thing in a list. Attempts with the same value are
// repeats of one request. A thing's values are used for nothing else.
type Add struct {
	Span
	List  List
	Value string
	// ID is 0 when the attempt was not acknowledged: then it may have happened.
	ID int64
}

// Put is an attempt to change a thing, or to delete it. One client writes a thing.
type Put struct {
	Span
	Thing          Thing
	Value          string
	IsAcknowledged bool
}

// Read is what a client saw of a thing.
type Read struct {
	Span
	Thing Thing
	Value string
}

// Listing is a list that a client got whole, in creation order.
type Listing struct {
	Span
	List  List
	Items []Item
}

// Mark is an attempt to count a member, once: a recommendation, a ballot.
type Mark struct {
	Tally, Member  string
	IsAcknowledged bool
}

// Count is what a tally showed after all marks.
type Count struct {
	Tally string
	Count int64
}

// Rewarded is how many rewards there were after all, one for each thing that was ever
// in a list.
type Rewarded struct {
	List  List
	Count int64
}

// Violation is a promise that was broken.
type Violation struct{ Rule, Detail string }

func (v Violation) String() string { return v.Rule + ": " + v.Detail }

// History is all that happened. Its methods may be called concurrently.
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

// New begins a history.
func New() *History { return &History{began: time.Now()} }

// Now is the time since the beginning.
func (h *History) Now() time.Duration { return time.Since(h.began) }

// Record adds events, of any of the types above.
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

// Made is how many things of a list were made, as far as replies and whole lists tell.
func (h *History) Made(list List) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := newModel(h)
	for _, listing := range h.listings {
		m.checkListing(listing)
	}
	return m.made(list)
}
