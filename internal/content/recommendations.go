package content

import (
	"context"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/content/profiles"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// ChoicesPage is how many recommendations or ballots a page has by default.
const ChoicesPage = 200

// Recommended is the choice of a user who recommends a document.
const Recommended int32 = 1

// Recommendations counts the users who recommend documents of type P. A document's score is
// their number. It may be used concurrently.
type Recommendations[P any] struct {
	counter  *choices.Counter[P]
	profiles *profiles.Directory
	score    func(*P) int64
}

// recommendationsOf attaches recommendations, which every kind has.
func recommendationsOf[P any](into **Recommendations[P], spec Spec[P]) Attachment[P] {
	return func(ctx context.Context, deps Deps, parents *owned.Collection[P]) (attached, error) {
		*into = &Recommendations[P]{profiles: deps.Profiles, score: spec.shownScore}
		return Choices(&(*into).counter, ChoiceSpec[P]{
			Collection: spec.Name + "_recommendations",
			Mark:       spec.Recommendations,
			Add:        func(parent *P, _ int32, by int64) { *spec.Score(parent) += by },
			Numbers:    func(parent *P) []int64 { return []int64{*spec.Score(parent)} },
		})(ctx, deps, parents)
	}
}

// Recommend records a user's recommendation of a document and returns the new score. The
// user must exist.
func (r *Recommendations[P]) Recommend(ctx context.Context, id, userID int64) (score int64, err error) {
	if _, err := r.profiles.Require(ctx, userID); err != nil {
		return 0, err
	}
	return r.put(ctx, id, userID, Recommended)
}

// Withdraw removes a user's recommendation, if there is one, and returns the score.
func (r *Recommendations[P]) Withdraw(ctx context.Context, id, userID int64) (score int64, err error) {
	return r.put(ctx, id, userID, choices.None)
}

// List returns a page of the users who recommend a document, and the next page's token.
func (r *Recommendations[P]) List(ctx context.Context, id int64, limit int, token string) ([]*typev1.Profile, string, error) {
	if err := r.counter.Parents.Require(ctx, id); err != nil {
		return nil, "", err
	}
	listed, next, err := r.counter.List(ctx, id, limit, token)
	if err != nil {
		return nil, "", err
	}
	profiles := r.profiles.Show(ctx, choices.Users(listed)...)
	users := make([]*typev1.Profile, len(listed))
	for i, choice := range listed {
		users[i] = profiles[choice.UserID].Proto(choice.UserID)
	}
	return users, next, nil
}

func (r *Recommendations[P]) put(ctx context.Context, id, userID int64, value int32) (int64, error) {
	counted, err := r.counter.Put(ctx, id, userID, choices.Always(value))
	if err != nil {
		return 0, err
	}
	return r.score(&counted), nil
}

// Counter returns the counter of the recommendations.
func (r *Recommendations[P]) Counter() *choices.Counter[P] { return r.counter }
