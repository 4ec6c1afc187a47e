package docstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Feed declares that the changes of a collection can be followed. The engine stamps a write with a
// moment if followers are shown it; see Table.Feed.
type Feed struct {
	// Parts are the parts of a document. Each change raises the revisions of the parts that have
	// a changed field; a part begins with 0.
	Parts []Part
	// Rest, unless empty, is the part of all other fields. Its revision begins with 1.
	Rest string
	// NoPart are the fields that are in no part. A change of them alone is stamped.
	NoPart []string
	// NotStamped are the fields that followers are not shown. They are in no part either, and a change
	// of them alone is not stamped.
	NotStamped []string
	// Settling is how long a change waits before the feed shows it; 0 means DefaultSettling. A
	// writer that stores something beside the document takes at most half of it.
	Settling time.Duration
}

// DefaultSettling is the settling time of a feed that declares none.
const DefaultSettling = 2 * time.Second

// Part is a part of a document, with the top-level fields that hold it. Its name is in
// lower_snake_case.
type Part struct {
	Name   string
	Fields []string
}

// partPrefix begins the name of the field that counts the changes of a part.
const partPrefix = "_of_"

// Moment is a time of a store. Its upper 32 bits are seconds since 1970. The lower ones are a fraction
// of the second, or a counter: moments grow with each write that is stamped, whatever the clock does.
type Moment uint64

// MomentOf returns the moment of a time.
func MomentOf(t time.Time) Moment {
	return Moment(t.Unix())<<32 | Moment(uint64(t.Nanosecond())<<32/uint64(time.Second)) // #nosec G115 -- no clock is before 1970
}

// Time returns the time of a moment.
func (m Moment) Time() time.Time {
	fraction := uint64(m) & (1<<32 - 1)
	return time.Unix(int64(m>>32), int64(fraction*uint64(time.Second)>>32)).UTC() // #nosec G115 -- 32 bits
}

// FeedScan asks an engine for changes.
type FeedScan struct {
	// After is the position of the last change that the caller has.
	After FeedPosition
	// Since is the moment up to which the caller needs no tombstones: it had nothing then. The
	// present if it is 0.
	Since Moment
	// Chapter and Seen are those of an earlier batch; 0 for none.
	Chapter int64
	Seen    Moment
	// Limit and MaxBytes are as in Scan.
	Limit, MaxBytes int
	// Fields are as in Scan.
	Fields []string
	// IsUnsettled asks at once, and for other changes: those after After.At that have not settled. They have
	// neither tombstones nor documents, and the batch has no other result but Seen, Chapter and IsElsewhere.
	IsUnsettled bool
}

// FeedPosition is a position in the order of changes.
type FeedPosition struct {
	At Moment
	// ID is the id of the change at that moment, which another one may share. If it is none, the
	// position is behind all changes of the moment.
	ID Value
}

// FeedBatch is what an engine knows about changes.
type FeedBatch struct {
	// Changes are in the order of their moments. A document has one, for its latest change.
	Changes []RawChange
	// More reports that others may follow. Next is the position behind the changes. Until is the
	// moment up to which changes are settled; Next is behind it if no others follow.
	More  bool
	Next  FeedPosition
	Until Moment
	// Seen is the latest moment that the store had, also of a change that has not settled. For a document that
	// changed then is not shown as it was before, and a store that lost the change would never show it. Chapter
	// names the part of the store's history that has Seen. IsElsewhere reports that this store never had what
	// the scan has seen; then there is no other result.
	Seen        Moment
	Chapter     int64
	IsElsewhere bool
	// Forgotten is the moment up to which tombstones may be gone.
	Forgotten Moment
}

// RawChange is a change of a document.
type RawChange struct {
	ID Value
	// At is the moment of the change, and Made that of the insert; 0 if the document is older than
	// the feed.
	At, Made Moment
	// Document is the document as it is now; nil if it is deleted.
	Document bson.Raw
}

// partField returns the field that counts the changes of a part.
func partField(part string) string { return partPrefix + part }

// names returns the names of all parts.
func (f *Feed) names() (names []string) {
	for _, part := range f.Parts {
		names = append(names, part.Name)
	}
	if f.Rest != "" {
		names = append(names, f.Rest)
	}
	return names
}

// partOf returns the part of a field; empty if it is in none.
func (f *Feed) partOf(path string) string {
	top, _, _ := strings.Cut(path, ".")
	for _, part := range f.Parts {
		if slices.Contains(part.Fields, top) {
			return part.Name
		}
	}
	if slices.Contains(f.NoPart, top) || slices.Contains(f.NotStamped, top) {
		return ""
	}
	return f.Rest
}

// Stamps reports whether the engine stamps a change: the collection has a feed, and followers are shown
// a field that changes.
func (s Spec) Stamps(change Change) bool {
	isSeen := func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return !slices.Contains(s.Feed.NotStamped, top)
	}
	return s.Feed != nil && slices.ContainsFunc(change.paths(), isSeen)
}

// raise makes a change raise the revisions of the parts that it changes, unless it does so already.
func (f *Feed) raise(change *Change) {
	if f == nil {
		return
	}
	change.Add = slices.Clip(change.Add)
	paths := change.paths()
	for _, path := range paths {
		if strings.HasPrefix(path, partPrefix) {
			continue
		}
		part := f.partOf(path)
		if field := partField(part); part != "" && !slices.Contains(paths, field) {
			paths = append(paths, field)
			change.Add = append(change.Add, Amount{field, 1})
		}
	}
}

// settling returns the settling time.
func (f *Feed) settling() time.Duration {
	if f.Settling == 0 {
		return DefaultSettling
	}
	return f.Settling
}

// SettlingTime returns the settling time of a collection with a feed.
func (s Spec) SettlingTime() time.Duration { return s.Feed.settling() }

// checkFeed is the part of Validate about the feed.
func (s Spec) checkFeed() error {
	if s.Feed == nil {
		return nil
	}
	if !s.Tombstones {
		return fmt.Errorf("docstore: collection %q has a feed and no tombstones", s.Name)
	}
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	seen := map[string]bool{}
	for _, part := range s.Feed.names() {
		if !name.MatchString(part) || seen[part] {
			return fmt.Errorf("docstore: collection %q cannot have the part %q", s.Name, part)
		}
		seen[part] = true
	}
	return nil
}

// A document that changes again before its last change has settled is in no page of a feed for as long as
// that goes on. So a feed looks now and then at what has not settled. It shows the documents that it has
// found there in each look since a settling time, as they are at that moment, and once more when they rest.

// maxUnsettled is how many documents a look finds at most, those with the oldest changes. If more are unsettled,
// a restless one may be shown later; docs/grpc.md has the rate.
const maxUnsettled = 10_000

// maxFound bounds the documents that a process remembers from full looks.
const maxFound = 10 * maxUnsettled

// restless are the documents that the looks of this process have found unsettled. The zero value is ready to
// use. It may be used concurrently.
type restless struct {
	mu sync.Mutex
	// first has of each document the first look in a row that found it. A full look ends no row, unless there are
	// maxFound.
	first map[Value]look
}

// look is when a look found a document, and the moment of its latest change then.
type look struct {
	at      time.Time
	changed Moment
}

// settled notes that pages have these changes.
func (r *restless) settled(changes []RawChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, change := range changes {
		delete(r.first, change.ID)
	}
}

// found notes what a look has found, and returns those that were found a settling time ago and have changed
// since, in the order of their ids.
func (r *restless) found(unsettled []RawChange, settling time.Duration) (moving []RawChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, now := make(map[Value]look, len(unsettled)), time.Now()
	if len(unsettled) >= maxUnsettled && len(r.first) < maxFound {
		maps.Copy(all, r.first)
	}
	for _, change := range unsettled {
		first, wasFound := r.first[change.ID]
		if !wasFound {
			first = look{now, change.At}
		}
		if all[change.ID] = first; now.Sub(first.at) >= settling && change.At != first.changed {
			moving = append(moving, change)
		}
	}
	r.first = all
	slices.SortFunc(moving, func(a, b RawChange) int { return a.ID.Compare(b.ID) })
	return moving
}

// showRestless adds the restless documents to a page that has room, in the order of their ids. If it has not
// for all of them, the follower goes on with the next page.
func (c *Collection[K, T]) showRestless(ctx context.Context, query FeedQuery, token *feedToken, settled Moment, page *FeedPage[K, T]) error {
	scan := FeedScan{After: FeedPosition{At: settled}, Chapter: token.chapter, Seen: token.seen, Limit: maxUnsettled, IsUnsettled: true}
	unsettled, err := c.table.Feed(ctx, scan)
	if err != nil {
		return err
	}
	if unsettled.IsElsewhere {
		return ErrForgotten
	}
	used := 0
	for _, change := range c.restless.found(unsettled.Changes, c.SettlingTime()) {
		if !token.shown.IsNone() && change.ID.Compare(token.shown) <= 0 {
			continue
		}
		if page.More = len(page.Changes) >= query.Limit || used > MaxBatchBytes; page.More {
			break
		}
		token.shown = change.ID
		state, err := GetFrom(ctx, c.table, change.ID, Durable)
		if errors.Is(err, ErrNotFound) { // it is deleted by now
			continue
		}
		if err != nil {
			return err
		}
		change.Document, used = state, used+len(state)
		change.At = settled // so that the times of changes do not go back
		shown, err := c.feedChange(change, *token, query.WithDocuments, false)
		if err != nil {
			return err
		}
		page.Changes = append(page.Changes, shown)
	}
	if token.isWalking = page.More; !page.More {
		token.walked, token.shown = settled, Value{}
	}
	if unsettled.Chapter == 0 || used == 0 {
		return nil
	}
	// The documents were read after unsettled, so they may have changes that it does not know.
	latest, err := c.table.Feed(ctx, FeedScan{After: FeedPosition{At: settled}, Limit: 1, IsUnsettled: true})
	token.seen, token.chapter = latest.Seen, latest.Chapter
	return err
}
