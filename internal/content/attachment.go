package content

import (
	"context"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/content/profiles"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/service"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Attachment opens a collection whose documents belong to documents of a kind. Children and
// Choices create attachments.
type Attachment[P any] func(context.Context, Deps, *owned.Collection[P]) (attached, error)

// attached is an opened attachment.
type attached interface {
	// RemoveAll removes the documents that belong to a deleted one.
	RemoveAll(ctx context.Context, id int64) error
	Constraint() integrity.Constraint
}

// sweeper is an attachment that has work to finish from time to time.
type sweeper interface {
	Sweep(ctx context.Context) error
}

// ChildSpec declares children of type C for documents of type P.
type ChildSpec[P, C any] struct {
	// Documents declares the collection of the children. ByParent is one of its indexes.
	Documents docstore.Spec
	ByParent  docstore.Index1[int64]
	// Noun names a child in error messages. NotFound is the reason of the error for an
	// unknown id.
	Noun, NotFound string
	// Latest and LatestField are those of child.Set.
	Latest      func(*P) *int64
	LatestField string
	// Part is that of child.Set.
	Part string
	// ParentOf and RequestKey are those of child.Set. Etag returns the child's etag.
	ParentOf   func(*C) int64
	RequestKey func(*C) string
	Etag       func(*C) string
	// Clock is that of child.Set.
	Clock func() time.Time
}

// Children attaches children to a kind. When the kind opens, into receives the set.
func Children[P, C any](into **child.Set[P, C], spec ChildSpec[P, C]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		documents, err := docstore.Open[int64, C](ctx, deps.Store, spec.Documents)
		if err != nil {
			return nil, err
		}
		small, err := deps.Small.Counter(ctx, deps.Store, deps.name, spec.Documents.Name, hasFrom(documents))
		if err != nil {
			return nil, err
		}
		*into = &child.Set[P, C]{
			Parents: parents, Children: documents, IDs: deps.NewIDs(), Small: small,
			Latest: spec.Latest, LatestField: spec.LatestField, Part: spec.Part, Clock: spec.Clock,
			ByParent: spec.ByParent, ParentOf: spec.ParentOf, RequestKey: spec.RequestKey, Etag: spec.Etag,
			NoChild: notFound(spec.NotFound, spec.Noun),
		}
		return *into, nil
	}
}

// ChoiceSpec declares choices under documents of type P, at most one per user.
type ChoiceSpec[P any] struct {
	// Collection is the name of the collection of the choices.
	Collection string
	// Round, RoundField, Numbers and Fields are those of choices.Counter.
	Round      func(*P) *int64
	RoundField string
	Numbers    func(*P) []choices.Number
	Fields     func(value int32) (count, moved string)
}

// sweepPatience is longer than nearly every call takes to count a choice.
const sweepPatience = 5 * time.Second

// Choices attaches counted choices to a kind. When the kind opens, into receives the
// counter.
func Choices[P any](into **choices.Counter[P], spec ChoiceSpec[P]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		documents, err := docstore.Open[string, choices.Choice](ctx, deps.Store, choices.Spec(spec.Collection))
		if err != nil {
			return nil, err
		}
		*into = &choices.Counter[P]{
			Parents: parents, Choices: documents,
			Round: spec.Round, RoundField: spec.RoundField, Numbers: spec.Numbers, Fields: spec.Fields,
			Patience: sweepPatience,
		}
		return *into, nil
	}
}

// commentsOf attaches comments, which every kind has.
func commentsOf[P any](into **comments.Set[P], spec Spec[P]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		set := &comments.Set[P]{Profiles: deps.Profiles, Now: deps.Now}
		*into = set
		opened, err := Children(&set.Set, ChildSpec[P, comments.Comment]{
			Documents: comments.Spec(spec.Name + "_comments"), ByParent: comments.ByParent(),
			Noun: "comment", NotFound: "COMMENT_NOT_FOUND",
			Latest: spec.LatestComment, LatestField: LatestComment, Part: child.Comments, ParentOf: comments.ParentOf,
			RequestKey: comments.RequestKey,
		})(ctx, deps, parents)
		if err == nil {
			set.Limit(deps.Comments)
		}
		return opened, err
	}
}

// photosOf attaches photos.
func photosOf[P any](into **photos.Set[P], spec Spec[P]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		set := &photos.Set[P]{Files: photos.Files{
			Receiver: deps.Uploads, IDs: deps.NewIDs(), Kind: spec.Kind,
			PublicURL: strings.TrimRight(deps.PublicURL, "/"),
		}}
		*into = set
		if deps.Files != nil {
			var err error
			if set.Files.Store, err = deps.Files(ctx, spec.Name+"_photos"); err != nil {
				return nil, err
			}
		}
		if _, err := Children(&set.Set, ChildSpec[P, photos.Photo]{
			Documents: photos.Spec(spec.Name + "_photos"), ByParent: photos.ByParent(),
			Noun: "photo", NotFound: "PHOTO_NOT_FOUND",
			Latest: spec.LatestPhoto, LatestField: LatestPhoto, Part: child.Photos,
			ParentOf: photos.ParentOf, RequestKey: photos.RequestKey, Etag: photos.Etag, Clock: deps.Now,
		})(ctx, deps, parents); err != nil {
			return nil, err
		}
		if set.Files.Store != nil {
			set.SweepFiles(deps.Backups, deps.Now)
		}
		return set, nil
	}
}

// ChoicesPage is how many recommendations or ballots a page has by default.
const ChoicesPage = 200

// Recommended is the choice of a user who recommends a document.
const Recommended int32 = 1

// Recommendations counts the users who recommend documents of type P, and implements
// RecommendationService for them. A document's score is their number. It may be used concurrently.
type Recommendations[P any] struct {
	recommendationv1.UnimplementedRecommendationServiceServer

	counter  *choices.Counter[P]
	profiles *profiles.Directory
	score    func(*P) int64
}

// recommendationsOf attaches recommendations, which every kind has.
func recommendationsOf[P any](into **Recommendations[P], spec Spec[P]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		*into = &Recommendations[P]{profiles: deps.Profiles, score: spec.ShownScore}
		return Choices(&(*into).counter, ChoiceSpec[P]{
			Collection: spec.Name + "_recommendations",
			Round:      spec.ScoreRound, RoundField: ScoreRound,
			Numbers: func(parent *P) []choices.Number { return []choices.Number{spec.Score(parent)} },
			Fields:  func(int32) (count, moved string) { return Score, NamedScore },
		})(ctx, deps, parents)
	}
}

// Recommend records a user's recommendation. The user must exist.
func (r *Recommendations[P]) Recommend(
	ctx context.Context, request *recommendationv1.RecommendRequest,
) (*recommendationv1.RecommendResponse, error) {
	if _, err := r.profiles.Require(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	score, err := r.put(ctx, request, Recommended)
	if err != nil {
		return nil, err
	}
	return &recommendationv1.RecommendResponse{Score: score}, nil
}

// Withdraw removes a user's recommendation, if there is one.
func (r *Recommendations[P]) Withdraw(
	ctx context.Context, request *recommendationv1.WithdrawRequest,
) (*recommendationv1.WithdrawResponse, error) {
	score, err := r.put(ctx, request, choices.None)
	if err != nil {
		return nil, err
	}
	return &recommendationv1.WithdrawResponse{Score: score}, nil
}

// ListRecommenders returns a page of the users who recommend a document.
func (r *Recommendations[P]) ListRecommenders(
	ctx context.Context, request *recommendationv1.ListRecommendersRequest,
) (*recommendationv1.ListRecommendersResponse, error) {
	_, id := parent.Of(request)
	if err := r.counter.Parents.Require(ctx, id); err != nil {
		return nil, err
	}
	listed, next, err := r.counter.List(ctx, id, service.PageSize(request.GetPageSize(), ChoicesPage, service.MaxPage),
		request.GetPageToken())
	if err != nil {
		return nil, err
	}
	profiles := r.profiles.Show(ctx, choices.Users(listed)...)
	users := make([]*typev1.Profile, len(listed))
	for i, choice := range listed {
		users[i] = profiles.Of(choice.UserID()).Proto(choice.UserID())
	}
	return &recommendationv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, nil
}

// put stores a user's choice, and returns the new score.
func (r *Recommendations[P]) put(ctx context.Context, request interface{ GetUserId() int64 },
	value int32) (int64, error) {
	_, id := parent.Of(request)
	counted, err := r.counter.Put(ctx, id, request.GetUserId(), choices.Always[P](value))
	if err != nil {
		return 0, err
	}
	return r.score(&counted), nil
}

// Counter returns the counter of the recommendations.
func (r *Recommendations[P]) Counter() *choices.Counter[P] { return r.counter }
