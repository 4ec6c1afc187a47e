package rpc_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// Whoever repeats a call learns only once a majority has it that it is done, also when the primary did it the first time.
func TestARepeatedCallIsAsDurableAsTheFirst(t *testing.T) {
	t.Parallel()
	store := storetest.NewReplica(t, storetest.ReplicaSettings{})
	p := startPartsOn(t, newBrittleOf(t, store))
	owner, user := p.newUser("a"), p.newUser("b")
	blog, token := p.newBlog(owner), p.openSession(user)
	calls := map[string]func(context.Context) error{
		"CastBallot": calling(p.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: user, BlogId: blog, Choice: 1}),
		"GrantRewards": calling(p.Account.GrantRewards, &accountv1.GrantRewardsRequest{
			Grants: []*accountv1.Grant{{UserId: user, Source: "test/1", Amount: 1}},
		}),
		"ImportPois":   calling(p.Poi.ImportPois, batchOf(user, importedPoi("k", "x"))),
		"CloseSession": calling(p.Account.CloseSession, &accountv1.CloseSessionRequest{UserId: user, Token: token}),
	}
	for _, each := range p.items(owner) {
		calls[each.service+" Recommend"] = func(ctx context.Context) error { return failed(each.recommend(ctx, user, each.id)) }
	}
	for name, create := range p.creates(owner) {
		calls[name] = func(ctx context.Context) error { return failed(create(ctx, owner, requestID(1), "x")) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			store.Hold(0)
			for _, when := range []string{"the first call", "its repeat"} {
				if err := call(t.Context()); status.Code(err) != codes.Unavailable {
					t.Errorf("%s: got %v while no majority has the write", when, err)
				}
			}
			store.Settle()
			if err := call(t.Context()); err != nil {
				t.Errorf("with a majority: got %v", err)
			}
		})
	}
}
