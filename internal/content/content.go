// Package content is what albums, entries and landmarks have in common. A service opens
// its kind of content once, with what differs, and gets documents that belong to users,
// with comments, recommendations and whatever else hangs on them. The packages below this
// one keep one part each.
package content

import (
	"context"
	"errors"
	"slices"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// Spec declares a kind of content whose documents have type P.
type Spec[P any] struct {
	// Documents declares the collection of the documents.
	Documents docstore.Spec
	// Name begins the names of the collections beside it, such as album in
	// album_comments. Noun is the word for a document in the messages of errors, and
	// NotFound the reason of the error of an id that names none.
	Name, Noun, NotFound string
	// ID is a document's id, and Owner whose document it is.
	ID, Owner func(*P) int64
	// CommentCount is where a document keeps its number of comments; see child.Set.
	CommentCount func(*P) *int64
	// Score is where a document keeps its number of recommendations, and Recommendations
	// how far that has come; see package choices.
	Score           func(*P) *int64
	Recommendations func(*P) *choices.Mark
	// Attached is what hangs on documents besides comments and recommendations.
	Attached []Attachment[P]
}

// Kind is a kind of content. Its fields do not change after it is opened. It may be used
// concurrently.
type Kind[P any] struct {
	*owned.Collection[P]
	Comments        *comments.Set[P]
	Recommendations *Recommendations[P]

	attached []attached
}

// Open opens the collections of a kind of content.
func Open[P any](ctx context.Context, deps Deps, spec Spec[P]) (*Kind[P], error) {
	documents, err := docstore.Open[P](ctx, deps.Store, spec.Documents)
	if err != nil {
		return nil, err
	}
	kind := &Kind[P]{Collection: &owned.Collection[P]{
		Documents: documents, ID: spec.ID, Owner: spec.Owner,
		NotFound: notFound(spec.NotFound, spec.Noun), NotOwner: notOwner(spec.Noun),
	}}
	common := []Attachment[P]{commentsOf(&kind.Comments, spec), recommendationsOf(&kind.Recommendations, spec)}
	for _, attach := range slices.Concat(spec.Attached, common) {
		opened, err := attach(ctx, deps, kind.Collection)
		if err != nil {
			return nil, err
		}
		kind.attached = append(kind.attached, opened)
	}
	kind.Tombstones, err = tombstone.Open(ctx, deps.Store, spec.Name+"_trash", deps.Now)
	if err != nil {
		return nil, err
	}
	return kind, nil
}

// Sweep removes all that hung on documents that were deleted.
func (k *Kind[P]) Sweep(ctx context.Context) error {
	return k.Collection.Sweep(ctx, func(ctx context.Context, id int64) error {
		var failed []error
		for _, each := range k.attached {
			failed = append(failed, each.RemoveAll(ctx, id))
		}
		return errors.Join(failed...)
	})
}

// Constraints are what must hold between the documents and all that hangs on them.
func (k *Kind[P]) Constraints() []integrity.Constraint {
	var all []integrity.Constraint
	for _, each := range k.attached {
		all = append(all, each.Constraint())
	}
	return all
}

func notFound(reason, noun string) func(id int64) *apierror.Error {
	return func(id int64) *apierror.Error { return apierror.NotFound(reason, "there is no %s %d", noun, id) }
}

func notOwner(noun string) func(id int64) *apierror.Error {
	return func(id int64) *apierror.Error { return apierror.NotOwner("%s %d belongs to somebody else", noun, id) }
}
