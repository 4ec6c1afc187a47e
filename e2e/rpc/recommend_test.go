package rpc_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// recommended is one item of content that users can recommend.
type recommended struct {
	kind
	id int64
}

// recommendable returns an item of content of each kind.
func (w *waybook) recommendable() (items []recommended) {
	owner := w.newUser("owner")
	for _, k := range w.kinds() {
		items = append(items, recommended{k, k.create(owner, "x")})
	}
	return items
}

func (r recommended) recommend(ctx context.Context, user, id int64) (int64, error) {
	reply, err := r.send(ctx, "Recommend", fields{"user_id": user, "id": id})
	return read[int64](reply, "score"), err
}

func (r recommended) withdraw(ctx context.Context, user, id int64) (int64, error) {
	reply, err := r.send(ctx, "WithdrawRecommendation", fields{"user_id": user, "id": id})
	return read[int64](reply, "score"), err
}

// score returns the score that a read shows.
func (r recommended) score(ctx context.Context) (int64, error) {
	reply, err := r.send(ctx, "Get", fields{"id": r.id})
	return read[int64](reply, r.service+".score"), err
}

func (r recommended) list(ctx context.Context, size int32, token string) ([]*typev1.Profile, string, error) {
	reply, err := r.send(ctx, "ListRecommenders", fields{"id": r.id, "page_size": size, "page_token": token})
	return readAll[*typev1.Profile](reply, "recommenders"), read[string](reply, "next_page_token"), err
}

func TestARecommendationCountsOnceUntilItIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := start(t)
	user, other := w.newUser("a"), w.newUser("b")
	for _, r := range w.recommendable() {
		t.Run(r.service, func(t *testing.T) {
			for i, step := range []struct {
				do   func(context.Context, int64, int64) (int64, error)
				user int64
				want int64
			}{
				{r.withdraw, user, 0}, {r.recommend, user, 1}, {r.recommend, user, 1}, {r.recommend, other, 2},
				{r.withdraw, user, 1}, {r.withdraw, user, 1}, {r.recommend, user, 2}, {r.withdraw, other, 1},
			} {
				score, err := step.do(t.Context(), step.user, r.id)
				shown, showErr := r.score(t.Context())
				if err != nil || showErr != nil || score != step.want || shown != step.want {
					t.Errorf("step %d: score %d (%v), shown %d (%v), want %d", i, score, err, shown, showErr, step.want)
				}
			}
		})
	}
}

func TestRecommendersAreListedUntilTheyWithdraw(t *testing.T) {
	t.Parallel()
	w := start(t)
	users := []int64{w.newUser("a"), w.newUser("b"), w.newUser("c")}
	for _, r := range w.recommendable() {
		t.Run(r.service, func(t *testing.T) {
			expect := func(want ...string) {
				t.Helper()
				var names []string
				for token := ""; ; {
					listed, next, err := r.list(t.Context(), 1, token)
					for _, user := range got(t, listed, err) {
						names = append(names, user.GetName())
					}
					if token = next; token == "" {
						break
					}
				}
				// The test of pages checks the order.
				if slices.Sort(names); !slices.Equal(names, want) {
					t.Errorf("recommended by %v, want %v", names, want)
				}
			}
			expect()
			for _, user := range []int64{users[2], users[0], users[1]} {
				must(r.recommend(t.Context(), user, r.id))(t)
			}
			expect("a", "b", "c")
			must(r.withdraw(t.Context(), users[1], r.id))(t)
			expect("a", "c")
		})
	}
}

func TestRecommendingFailsAsTheContractsSay(t *testing.T) {
	t.Parallel()
	w := start(t)
	user := w.newUser("a")
	for _, r := range w.recommendable() {
		t.Run(r.service, func(t *testing.T) {
			expectFailures(t, []failure{
				{"nothing", r.calling("Recommend", fields{"user_id": user, "id": int64(1)}), codes.NotFound, r.missing},
				{"withdrawing it from nothing", r.calling("WithdrawRecommendation", fields{"user_id": user, "id": int64(1)}), codes.NotFound, r.missing},
				{"listing those of nothing", r.calling("ListRecommenders", fields{"id": int64(1)}), codes.NotFound, r.missing},
				{"by an unknown user", r.calling("Recommend", fields{"user_id": int64(1), "id": r.id}), codes.NotFound, "USER_NOT_FOUND"},
			})
			if score, err := r.score(t.Context()); err != nil || score != 0 {
				t.Errorf("score %d, %v", score, err)
			}
		})
	}
}

// Rule 4.6: updateDate tells of the owner's changes only.
func TestCommentsAndRecommendationsLeaveTheUpdateTime(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	album := w.newAlbum(owner, "x")
	updated := func() time.Time {
		t.Helper()
		return must(w.album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: album}))(t).GetAlbum().GetUpdateTime().AsTime()
	}
	created := updated()
	id := must(w.album.AddComment(t.Context(), &albumv1.AddCommentRequest{AuthorId: owner, AlbumId: album, Text: "x"}))(t).GetComment().GetCommentId()
	for what, err := range map[string]error{
		"recommend": failed(w.album.Recommend(t.Context(), &albumv1.RecommendRequest{UserId: owner, AlbumId: album})),
		"reply":     failed(w.album.ReplyToComment(t.Context(), &albumv1.ReplyToCommentRequest{ActorId: owner, AlbumId: album, CommentId: id, Text: "x"})),
		"withdraw":  failed(w.album.WithdrawRecommendation(t.Context(), &albumv1.WithdrawRecommendationRequest{UserId: owner, AlbumId: album})),
		"remove":    failed(w.album.RemoveComment(t.Context(), &albumv1.RemoveCommentRequest{ActorId: owner, AlbumId: album, CommentId: id})),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := updated(); !now.Equal(created) {
		t.Errorf("the update time went from %v to %v", created, now)
	}
}
