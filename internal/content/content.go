// Package content holds the common parts of albums, entries and landmarks. A service opens
// its kind of content once with a Spec. It gets documents that belong to users, with
// comments, recommendations and other attachments. Each subpackage keeps one of these
// parts.
package content

import (
	"context"
	"errors"
	"slices"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/tombstone"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// CommentCounter is the field of a document that holds its number of comments. It is one of
// the counters of Spec.Documents.
const CommentCounter = "comment_count"

// Spec declares a kind of content whose documents have type P.
type Spec[P any] struct {
	// Documents declares the collection of the documents.
	Documents docstore.Spec
	// Name begins the names of the related collections, such as album in album_comments.
	// Noun names a document in error messages. NotFound is the reason of the error for an
	// unknown id.
	Name, Noun, NotFound string
	// ID returns a document's id. Owner returns its owner's id. RequestKey returns the key of the
	// request that created it.
	ID, Owner  func(*P) int64
	RequestKey func(*P) string
	// CommentCount returns the document's number of comments, which the field CommentCounter
	// holds; see child.Set.
	CommentCount func(*P) *int64
	// Score returns the document's number of recommendations. Recommendations returns the
	// mark of those counted last; see package choices.
	Score           func(*P) *int64
	Recommendations func(*P) *choices.Mark
	// UnnamedScore returns the number of recommendations by nobody known, which replies add.
	UnnamedScore func(*P) int64
	// Attached are the attachments in addition to comments and recommendations.
	Attached []Attachment[P]
}

// shownScore returns a document's score as replies show it.
func (s Spec[P]) shownScore(document *P) int64 {
	score := *s.Score(document)
	if s.UnnamedScore != nil {
		score += s.UnnamedScore(document)
	}
	return score
}

// Kind is a kind of content. Its fields do not change after Open. It may be used
// concurrently.
type Kind[P any] struct {
	*owned.Collection[P]
	Comments        *comments.Set[P]
	Recommendations *Recommendations[P]
	// Aliases are the old identifiers of documents that were moved in.
	Aliases *aliases.Aliases

	attached []attached
	// RequestKey is Spec.RequestKey.
	RequestKey func(*P) string
}

// Open opens the collections of a kind of content.
func Open[P any](ctx context.Context, deps Deps, spec Spec[P]) (*Kind[P], error) {
	documents, err := docstore.Open[int64, P](ctx, deps.Store, spec.Documents)
	if err != nil {
		return nil, err
	}
	kind := &Kind[P]{RequestKey: spec.RequestKey, Collection: &owned.Collection[P]{
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
	kind.Aliases, err = aliases.Open(ctx, deps.Store, spec.Name+"_aliases")
	if err != nil {
		return nil, err
	}
	return kind, nil
}

// oldIDs returns the old identifiers of documents.
func (k *Kind[P]) oldIDs(ctx context.Context, ids []int64) (map[int64]string, error) {
	found, err := k.Documents.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	oldIDs := make(map[int64]string, len(found))
	for i := range found {
		oldIDs[k.ID(&found[i])] = aliases.OldID(k.ID(&found[i]), k.RequestKey(&found[i]))
	}
	return oldIDs, nil
}

// Sweep removes the attached documents of deleted documents, and finishes what callers
// began under the others.
func (k *Kind[P]) Sweep(ctx context.Context) error {
	failed := []error{k.Collection.Sweep(ctx, func(ctx context.Context, id int64) error {
		var failed []error
		for _, each := range k.attached {
			failed = append(failed, each.RemoveAll(ctx, id))
		}
		return errors.Join(failed...)
	})}
	for _, each := range k.attached {
		if unfinished, ok := each.(sweeper); ok {
			failed = append(failed, unfinished.Sweep(ctx))
		}
	}
	return errors.Join(failed...)
}

// Constraints returns the constraints between the documents and the attached ones.
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
	return func(id int64) *apierror.Error { return apierror.NotOwner("%s %d belongs to another user", noun, id) }
}
