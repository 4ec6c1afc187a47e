package docstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ChangeScan asks an engine for changes.
type ChangeScan struct {
	// From is the position of the first change to return.
	From ChangePosition
	// Limit is the maximum number of changes, 1 or more.
	Limit int
}

// ChangePosition is a position in the order of changes: a moment, and the _id of one of the
// documents that changed then. Without an _id it is before all of them.
type ChangePosition struct {
	At Moment
	ID Value
}

// ChangeBatch is what an engine knows about changes. No later failure of a server undoes it.
type ChangeBatch struct {
	// Changes are in the order of their moments, and those of one moment in the order of the _id.
	// A document has one, for its latest change.
	Changes []RawChange
	// More reports that others may follow.
	More bool
	// Settled is a moment before which no change can appear any more that the batch does not have.
	// What a writer has stored beside the documents that changed up to then is stored.
	Settled Moment
	// Known is a moment up to which the server that answers has all changes, and not only those of
	// before it lost its role.
	Known Moment
	// Forgotten is the moment up to which tombstones may be gone.
	Forgotten Moment
	// Store identifies the store.
	Store int64
}

// RawChange is the latest change of a document.
type RawChange struct {
	ID Value
	// At is the moment of the change, and Made that of the insert.
	At, Made Moment
	// IsGone reports that the document is a tombstone.
	IsGone bool
}

func (r RawChange) position() ChangePosition { return ChangePosition{r.At, r.ID} }

// CheckChanges returns an error if a collection has no feed, or the scan is not valid.
func (s Spec) CheckChanges(scan ChangeScan) error {
	switch {
	case s.Feed == nil:
		return fmt.Errorf("docstore: collection %q has no feed", s.Name)
	case scan.Limit < 1:
		return errors.New("docstore: the limit must be 1 or more")
	case !scan.From.ID.IsNone() && scan.From.ID.kind != s.ID:
		return errors.New("docstore: the position has an id of another kind")
	}
	return nil
}

// Stamps reports whether the engine stamps a change: the collection has a feed, and followers are
// to see the change.
func (s Spec) Stamps(change Change) bool {
	isSeen := func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return !slices.Contains(s.Feed.NotStamped, top)
	}
	return s.Feed != nil && (change.Touches || slices.ContainsFunc(change.paths(), isSeen))
}
