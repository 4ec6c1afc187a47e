// Package content holds the common parts of albums, entries and landmarks. A service opens
// its kind of content once with a Spec. It gets documents that belong to users, with
// comments, recommendations and other attachments. Each subpackage keeps one of these
// parts.
package content

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// LatestComment is the field of a document that holds the highest id of a comment so far. It is a
// counter of Spec.Documents.
const LatestComment = "comment_latest"

// LatestPhoto is the same of a photo.
const LatestPhoto = "photo_latest"

// The fields of Spec.Score and Spec.ScoreRound.
const Score, NamedScore, ScoreRound = "score", "named_score", "score_round"

// Spec declares a kind of content whose documents have type P.
type Spec[P any] struct {
	// Kind is the kind in contracts.
	Kind typev1.Kind
	// Documents declares the collection of the documents.
	Documents docstore.Spec
	// Name begins the names of the related collections, such as album in album_comments.
	// Noun names a document in error messages. NotFound is the reason of the error for an
	// unknown id.
	Name, Noun, NotFound string
	// ID returns a document's id. Owner returns its owner's id, which is in the field OwnerField.
	// RequestKey returns the key of the request that created it, without the owner. Etag returns
	// its etag, and Revision its owned.ContentRevision.
	ID, Owner  func(*P) int64
	OwnerField string
	RequestKey func(*P) string
	Etag       func(*P) string
	Revision   func(*P) *int64
	// LatestComment returns the highest id of a comment so far; see child.Set.
	LatestComment func(*P) *int64
	// LatestPhoto is the same of a photo; nil if documents have no photos.
	LatestPhoto func(*P) *int64
	// Score returns the document's number of recommendations, and ScoreRound its round; see
	// package choices. ShownScore returns the number as replies show it.
	Score      func(*P) choices.Number
	ScoreRound func(*P) *int64
	ShownScore func(*P) int64
	// Attached are the attachments in addition to comments and recommendations.
	Attached []Attachment[P]
}

// Kind is a kind of content. Its fields do not change after Open. It may be used
// concurrently.
type Kind[P any] struct {
	*owned.Collection[P]
	// Kind is Spec.Kind.
	Kind            typev1.Kind
	Comments        *comments.Set[P]
	Recommendations *Recommendations[P]
	// Photos is nil if the kind has none.
	Photos *photos.Set[P]

	attached []attached
	// kept is how long a deletion is shown to followers.
	kept time.Duration
	// RequestKey is Spec.RequestKey.
	RequestKey func(*P) string
	// Small draws small identifiers; nil if there are none.
	Small *smallids.Counter
}

// Open opens the collections of a kind of content.
func Open[P any](ctx context.Context, deps Deps, spec Spec[P]) (*Kind[P], error) {
	documents, err := docstore.Open[int64, P](ctx, deps.Store, spec.Documents)
	if err != nil {
		return nil, err
	}
	kind := &Kind[P]{Kind: spec.Kind, kept: deps.Changes.KeptTime(), RequestKey: spec.RequestKey,
		Collection: &owned.Collection[P]{
			Documents: documents, ID: spec.ID, Owner: spec.Owner, OwnerField: spec.OwnerField, Etag: spec.Etag,
			Revision: spec.Revision,
			Hidden:   deps.Hidden, Settling: spec.Documents.SettlingTime(),
			NotFound: notFound(spec.NotFound, spec.Noun), NotOwner: notOwner(spec.Noun),
		}}
	deps.name = spec.Name
	if kind.Small, err = deps.Small.Counter(ctx, deps.Store, deps.name, spec.Documents.Name,
		hasFrom(documents)); err != nil {
		return nil, err
	}
	common := []Attachment[P]{commentsOf(&kind.Comments, spec), recommendationsOf(&kind.Recommendations, spec)}
	if spec.LatestPhoto != nil {
		common = append(common, photosOf(&kind.Photos, spec))
	}
	for _, attach := range slices.Concat(spec.Attached, common) {
		opened, err := attach(ctx, deps, kind.Collection)
		if err != nil {
			return nil, err
		}
		kind.attached = append(kind.attached, opened)
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
// began under the others. It forgets old deletions.
func (k *Kind[P]) Sweep(ctx context.Context) error {
	failed := []error{k.Documents.Sweep(ctx, k.kept, func(ctx context.Context, id int64) error {
		failed := []error{k.bury(ctx, id)}
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

// Parts returns what the kind serves of the contracts that services share.
func (k *Kind[P]) Parts() service.Parts {
	parts := service.Parts{Kind: k.Kind, Comments: k.Comments, Recommendations: k.Recommendations,
		Changes: changes.New(k.Documents)}
	if k.Photos != nil {
		parts.Photos = k.Photos
	}
	return parts
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

// Batch is the result of a call that names many documents.
type Batch[P any] struct {
	// Found are the documents that exist, each once, in the order in which they were named first.
	Found []P
	// Missing are the ids of documents that do not exist. Unread are those that did not fit into
	// docstore.MaxBatchBytes. Both are in the same order.
	Missing, Unread []int64
}

// Batch returns the documents with the given ids.
func (k *Kind[P]) Batch(ctx context.Context, ids []int64) (b Batch[P], err error) {
	ids = distinct(ids)
	if len(ids) == 0 {
		return b, nil
	}
	// The page reads in the order of the ids.
	page, err := k.Documents.Page(ctx, docstore.Query{
		Where: docstore.WithIDs(docstore.ValuesOf(ids)...), Limit: len(ids), MaxBytes: docstore.MaxBatchBytes,
		As: docstore.Listed,
	})
	if err != nil {
		return b, err
	}
	hidden, last := k.Hidden.Users(ctx), int64(math.MaxInt64)
	found := make(map[int64]*P, len(page.Documents))
	for i := range page.Documents {
		id := k.ID(&page.Documents[i])
		if !hidden[k.Owner(&page.Documents[i])] {
			found[id] = &page.Documents[i]
		}
		if page.Next != "" {
			last = id
		}
	}
	b.Found = make([]P, 0, len(found))
	for _, id := range ids {
		document := found[id]
		switch {
		case document != nil:
			b.Found = append(b.Found, *document)
		case id > last:
			b.Unread = append(b.Unread, id)
		default:
			b.Missing = append(b.Missing, id)
		}
	}
	return b, nil
}

// distinct returns the ids without those that were named before.
func distinct(ids []int64) []int64 {
	seen, first := make(map[int64]bool, len(ids)), make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id], first = true, append(first, id)
		}
	}
	return first
}

// OwnersOf returns the owner of each document.
func (k *Kind[P]) OwnersOf(documents []P) []int64 {
	owners := make([]int64, len(documents))
	for i := range documents {
		owners[i] = k.Owner(&documents[i])
	}
	return owners
}

// HiddenIn returns the hidden users whose documents a list leaves out.
func (k *Kind[P]) HiddenIn(ctx context.Context, list interface{ GetWithHidden() bool }) profiles.HiddenUsers {
	if list.GetWithHidden() {
		return nil
	}
	return k.Hidden.Users(ctx)
}

// Without leaves out the documents of users.
func (k *Kind[P]) Without(users profiles.HiddenUsers, documents []P) []P {
	if len(users) == 0 {
		return documents
	}
	return slices.DeleteFunc(documents, func(document P) bool { return users[k.Owner(&document)] })
}

// RequireOwner fails as Directory.Require does, unless the user, who may be gone, has a document
// among all.
func (k *Kind[P]) RequireOwner(ctx context.Context, users *profiles.Directory, id int64, all docstore.Where) error {
	_, missing := users.Require(ctx, id)
	if missing == nil {
		return nil
	}
	page, err := k.Documents.Page(ctx, docstore.Query{Where: all, Limit: 1})
	if err == nil && len(page.Documents) == 0 {
		return missing
	}
	return err
}

// Summaries are the documents of a kind as lists show them with VIEW_SUMMARY. S is the stored
// part. They may be used concurrently.
type Summaries[S any] struct {
	documents *docstore.Reader[int64, S]
	show      func(*S) (id int64, title string)
	// oldIDs returns the old identifiers of documents.
	oldIDs func(ctx context.Context, ids []int64) (map[int64]string, error)
}

// Summarize returns the summaries of a kind. S must be a struct with bson tags. show returns its
// identifier and its title.
func Summarize[S, P any](kind *Kind[P], show func(*S) (id int64, title string)) *Summaries[S] {
	return &Summaries[S]{docstore.Project[S](kind.Documents), show, kind.oldIDs}
}

// maxSummaryBytes bounds the documents of a page, which the embedded engine counts whole. It is as
// much as the photos and comments of a reply, because a page waits in memory for a client that
// reads slowly.
const maxSummaryBytes = 2 * docstore.MaxPageBytes

// Page returns the summaries of a page of documents, without those that keep refuses, and the
// token of the next page. keep may be nil. The summaries are in the memory of the call.
func (s *Summaries[S]) Page(
	ctx context.Context, query docstore.Query, keep func(*S) bool,
) (shown []*typev1.Summary, next string, err error) {
	query.Arena, query.MaxBytes = arena.Of(ctx), maxSummaryBytes
	page, err := s.documents.Page(ctx, query)
	if err != nil {
		return nil, "", err
	}
	messages := arena.Slice[typev1.Summary](query.Arena, len(page.Documents)) // one allocation for all
	shown = arena.Slice[*typev1.Summary](query.Arena, len(page.Documents))[:0]
	var untold []int64
	var of map[int64]*typev1.Summary
	for i := range page.Documents {
		document, message := &page.Documents[i], &messages[i]
		if keep != nil && !keep(document) {
			continue
		}
		message.Id, message.Title = s.show(document)
		shown = append(shown, message)
		if aliases.IsText(message.GetId()) {
			if of == nil {
				of = map[int64]*typev1.Summary{}
			}
			untold, of[message.GetId()] = append(untold, message.GetId()), message
		}
	}
	if len(untold) > 0 {
		oldIDs, err := s.oldIDs(ctx, untold)
		if err != nil {
			return nil, "", err
		}
		for newID, oldID := range oldIDs {
			of[newID].OldId = oldID
		}
	}
	return shown, page.Next, nil
}
