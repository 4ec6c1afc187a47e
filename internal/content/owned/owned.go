// Package owned keeps documents that belong to a user: albums, entries, landmarks. Only the
// owner may change and delete them.
package owned

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// Collection is a collection of owned documents. Its fields do not change after creation.
// It may be used concurrently.
type Collection[T any] struct {
	Documents *docstore.Collection[int64, T]
	// ID returns a document's id. Owner returns its owner's id, which is in the field OwnerField.
	ID, Owner  func(*T) int64
	OwnerField string
	// Etag returns the etag of a document; see EtagOf. Revision returns its ContentRevision.
	Etag     func(*T) string
	Revision func(*T) *int64
	// Aliases are the old identifiers of documents that were moved in.
	Aliases *aliases.Aliases
	// Hidden are the users whose documents readers do not see.
	Hidden *profiles.Hidden
	// Settling is the settling time of the documents' feed; see docstore.Feed.
	Settling time.Duration
	// NotFound returns the error for an unknown id. NotOwner returns the error for a user
	// who does not own the document.
	NotFound, NotOwner func(id int64) *apierror.Error
}

// Get returns a document to a reader, who does not find that of a hidden user.
func (c *Collection[T]) Get(ctx context.Context, id int64) (T, error) {
	document, err := c.Stored(ctx, id)
	if err == nil && len(c.Hidden.Users(ctx)) > 0 {
		copied := document // so that the document need not be on the heap
		err = c.Visible(ctx, &copied, id)
	}
	return document, err
}

// Stored returns a document, also that of a hidden user.
func (c *Collection[T]) Stored(ctx context.Context, id int64) (T, error) {
	document, err := c.Documents.Get(ctx, id)
	return document, c.errorOf(err, id)
}

// Visible rejects a document of a hidden user as one that is not found.
func (c *Collection[T]) Visible(ctx context.Context, document *T, id int64) error {
	if hidden := c.Hidden.Users(ctx); len(hidden) > 0 && hidden[c.Owner(document)] {
		return c.NotFound(id)
	}
	return nil
}

// Require checks that a document exists.
func (c *Collection[T]) Require(ctx context.Context, id int64) error {
	_, err := c.Get(ctx, id)
	return err
}

// GetBy returns a document that must belong to the user.
func (c *Collection[T]) GetBy(ctx context.Context, actorID, id int64) (T, error) {
	document, err := c.Stored(ctx, id)
	if err != nil {
		return document, err
	}
	return document, c.onlyOwner(ctx, &document, actorID, id)
}

// onlyOwner is Allow for a document that others may not see.
func (c *Collection[T]) onlyOwner(ctx context.Context, document *T, actorID, id int64) error {
	if c.Owner(document) == actorID {
		return nil
	}
	return cmp.Or(c.Visible(ctx, document, id), error(c.NotOwner(id)))
}

// Allow rejects every user but the owner.
func (c *Collection[T]) Allow(document *T, actorID, id int64) error {
	if c.Owner(document) != actorID {
		return c.NotOwner(id)
	}
	return nil
}

// Update changes a document without checking its owner. See docstore.Collection.Update.
func (c *Collection[T]) Update(ctx context.Context, id int64, change func(*T) error) (T, error) {
	document, err := c.Documents.Update(ctx, id, change)
	return document, c.errorOf(err, id)
}

// UpdateBy changes a document that must belong to the user. An error of change ends it
// without a change; change is not called for other users.
func (c *Collection[T]) UpdateBy(ctx context.Context, actorID, id int64, change func(*T) error) (T, error) {
	return c.Update(ctx, id, func(document *T) error {
		if err := c.onlyOwner(ctx, document, actorID, id); err != nil {
			return err
		}
		return change(document)
	})
}

// SetBy sets fields of a document that must belong to the user and still have the etag, unless it
// is empty, and the time of its change, and returns the document. If it has all values, nothing is
// written. fields returns the values. If they need the document, it is read before; otherwise was
// is nil.
func (c *Collection[T]) SetBy(
	ctx context.Context, actorID, id int64, etag string, now time.Time, needsDocument bool,
	fields func(was *T) map[string]any,
) (document T, err error) {
	mark := ChangedAt(now)
	if needsDocument {
		return c.UpdateBy(ctx, actorID, id, func(document *T) error {
			if etag != "" && c.Etag(document) != etag {
				return Changed()
			}
			return c.set(document, fields(document), mark)
		})
	}
	set := fields(nil)
	err = c.onlyStill(ctx, actorID, id, etag, func(conditions []docstore.Condition) (err error) {
		counted := maps.Clone(mark)
		counted[ContentRevision] = docstore.Plus(1)
		document, err = c.Documents.Modify(ctx, id, docstore.Edit{If: conditions, Set: set, Mark: counted})
		return err
	})
	if err == nil {
		err = c.set(&document, set, mark)
	}
	return document, err
}

// set sets fields of a document in memory. If that changes it, it counts the change and sets the
// fields of mark.
func (c *Collection[T]) set(document *T, fields, mark map[string]any) error {
	before := *document
	if err := docstore.Assign(document, fields); err != nil || reflect.DeepEqual(before, *document) {
		return err
	}
	*c.Revision(document)++
	return docstore.Assign(document, mark)
}

// onlyStill writes a document if it belongs to the user and has the etag, unless it is empty. A
// refusal reads again to say why.
func (c *Collection[T]) onlyStill(ctx context.Context, actorID, id int64, etag string,
	write func([]docstore.Condition) error) error {
	conditions, changed := c.Still(actorID, etag)
	if changed == nil {
		err := write(conditions)
		if etag == "" || !errors.Is(err, docstore.ErrConflict) {
			return c.ownErrorOf(ctx, err, actorID, id)
		}
		changed = Changed()
	}
	if _, err := c.GetBy(ctx, actorID, id); err != nil {
		return err
	}
	return changed
}

// updateTime is the field of the time when the owner changed a document last.
const updateTime = "update_time"

// ChangedAt returns the value of the field of the time when the owner changed a document last.
func ChangedAt(now time.Time) map[string]any { return map[string]any{updateTime: now} }

// Together does reads at the same time where that is faster. See docstore.Collection.Together.
func (c *Collection[T]) Together(reads ...func() error) error { return c.Documents.Together(reads...) }

// RaiseBy raises a field of a document, which must belong to the user unless actorID is 0, and
// sets others. It returns the document as it was, with the raised field and the owner only.
func (c *Collection[T]) RaiseBy(ctx context.Context, actorID, id int64, to docstore.Amount,
	set map[string]any) (T, error) {
	edit := docstore.Edit{Raise: to, Set: set, Fields: []string{to.Field, c.OwnerField}}
	if actorID == 0 {
		before, err := c.Documents.Modify(ctx, id, edit)
		return before, c.errorOf(err, id)
	}
	edit.If = []docstore.Condition{docstore.Is(c.OwnerField, actorID)}
	before, err := c.Documents.Modify(ctx, id, edit)
	return before, c.ownErrorOf(ctx, err, actorID, id)
}

// Touch tells the followers of a document that something beside it has changed, and sets fields.
func (c *Collection[T]) Touch(ctx context.Context, id int64, set map[string]any) error {
	_, err := c.Documents.Modify(ctx, id, docstore.Edit{Set: set, Touches: true, Fields: []string{}})
	return c.errorOf(err, id)
}

// touchTimeout bounds a second touch, which outlives its call.
const touchTimeout = 5 * time.Second

// TouchAgain ends a write of something beside a document, such as a photo, that began with a touch
// or another change of the document. That is listed to followers for a settling time. If the write
// took longer than half of it, TouchAgain touches the document again, so that the follower comes
// back: also if the write failed with err, because it may be done all the same, and a retry finds
// nothing to do.
func (c *Collection[T]) TouchAgain(ctx context.Context, id int64, began time.Time, err error) error {
	if time.Since(began) <= c.Settling/2 {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), touchTimeout)
	defer cancel()
	return cmp.Or(err, c.Touch(ctx, id, nil))
}

// DeleteBy deletes a document that must belong to the user and still have the etag, unless it is
// empty. A later sweep removes its children. set are values of its tombstone; see
// docstore.Deletion.
func (c *Collection[T]) DeleteBy(ctx context.Context, actorID, id int64, etag string,
	set ...docstore.Condition) error {
	return c.onlyStill(ctx, actorID, id, etag, func(conditions []docstore.Condition) error {
		return c.Documents.Delete(ctx, id, docstore.Deletion{If: conditions, Set: set})
	})
}

// IsStored reports whether a document is stored, and no later failure undoes the answer. What is
// removed because a document is gone must ask this way: the deletion may have reached only a
// primary that falls, and then the document is there again.
func (c *Collection[T]) IsStored(ctx context.Context, id int64) (bool, error) {
	_, err := c.Documents.Get(ctx, id, docstore.Linearizable)
	if errors.Is(err, docstore.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (c *Collection[T]) errorOf(err error, id int64) error {
	if errors.Is(err, docstore.ErrNotFound) {
		return c.NotFound(id)
	}
	return err
}

// ownErrorOf is errorOf for a change whose only condition is the owner.
func (c *Collection[T]) ownErrorOf(ctx context.Context, err error, actorID, id int64) error {
	if !errors.Is(err, docstore.ErrConflict) {
		return c.errorOf(err, id)
	}
	if len(c.Hidden.Users(ctx)) > 0 { // the owner may be one of them
		if _, err := c.GetBy(ctx, actorID, id); err != nil {
			return err
		}
	}
	return c.NotOwner(id)
}

// Confirm makes documents durable that were found as a caller wants them. An earlier call may have
// stored them and failed before a majority had them.
func (c *Collection[T]) Confirm(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	durable, err := c.Documents.GetMany(ctx, ids, docstore.Durable)
	if err != nil {
		return err
	}
	isDurable := make(map[int64]bool, len(durable))
	for i := range durable {
		isDurable[c.ID(&durable[i])] = true
	}
	for _, each := range ids {
		if isDurable[each] {
			continue
		}
		// It is new, or was deleted.
		if _, err := c.Documents.Get(ctx, each, docstore.Linearizable); err != nil &&
			!errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}
