package rpc_test

import (
	"context"
	"slices"
	"testing"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// item is an album, an entry or a landmark.
type item struct {
	kind
	id int64
}

// items returns new content of an owner, of each kind.
func (w *waybook) items(owner int64) (all []item) {
	for _, k := range w.kinds() {
		all = append(all, item{k, k.create(owner, "x")})
	}
	return all
}

func (r item) recommend(ctx context.Context, user, id int64) (int64, error) {
	reply, err := r.send(ctx, "Recommend", fields{"user_id": user, "id": id})
	return read[int64](reply, "score"), err
}

func (r item) withdraw(ctx context.Context, user, id int64) (int64, error) {
	reply, err := r.send(ctx, "Withdraw", fields{"user_id": user, "id": id})
	return read[int64](reply, "score"), err
}

func (r item) list(ctx context.Context, size int32, token string) ([]*typev1.Profile, string, error) {
	reply, err := r.send(ctx, "ListRecommenders", fields{"id": r.id, "page_size": size, "page_token": token})
	return readAll[*typev1.Profile](reply, "recommenders"), read[string](reply, "next_page_token"), err
}

func TestRecommendersAreListedUntilTheyWithdraw(t *testing.T) {
	t.Parallel()
	w := start(t)
	users := []int64{w.newUser("a"), w.newUser("b"), w.newUser("c")}
	for _, r := range w.items(w.newUser("owner")) {
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
