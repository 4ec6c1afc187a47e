package rpc_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// startOnPrimary starts the services on a primary whose majority the test can hold. It skips the test in the
// short form.
func startOnPrimary(t *testing.T) (*parts, *mongowire.Server) {
	t.Helper()
	longform.Only(t)
	server := mongotest.StartServer(t, mongowire.Config{})
	return startPartsOn(t, newBrittleOverWire(t, server.URI(mongotest.Database()))), server
}

// isUnanswered reports whether a call failed because no majority answered.
func isUnanswered(err error) bool {
	return status.Code(err) == codes.Unavailable || status.Code(err) == codes.DeadlineExceeded
}

// expectUnanswered checks that a call succeeds only once a majority acknowledges it, also when
// the primary has done it already.
func expectUnanswered(t *testing.T, server *mongowire.Server, call func() error) {
	t.Helper()
	release := server.HoldMajority(mongowire.Failing)
	for _, when := range []string{"the first call", "its repeat"} {
		if err := call(); !isUnanswered(err) {
			t.Errorf("%s: got %v while no majority has the write", when, err)
		}
	}
	release()
	if err := call(); err != nil {
		t.Errorf("with a majority: got %v", err)
	}
}

func TestARepeatedCreateIsAsDurableAsTheFirst(t *testing.T) {
	t.Parallel()
	p, server := startOnPrimary(t)
	owner := p.newUser("a")
	for name, create := range p.creates(owner) {
		t.Run(name, func(t *testing.T) {
			requestID := uuid.NewString()
			expectUnanswered(t, server, func() error { return failed(create(t.Context(), owner, requestID, "x")) })
		})
	}
}

func TestARepeatedChoiceRewardOrImportIsAsDurableAsTheFirst(t *testing.T) {
	t.Parallel()
	p, server := startOnPrimary(t)
	user, blog := p.newUser("a"), p.newBlog(p.newUser("b"))
	calls := map[string]func(context.Context) error{
		"CastBallot": func(ctx context.Context) error {
			return failed(p.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: user, BlogId: blog, Choice: 1}))
		},
		"GrantRewards": func(ctx context.Context) error {
			return failed(p.Account.GrantRewards(ctx, &accountv1.GrantRewardsRequest{
				Grants: []*accountv1.Grant{{UserId: user, Source: "test/1", Amount: 1}},
			}))
		},
		"ImportPois": func(ctx context.Context) error {
			return failed(p.importPois(ctx, &poiv1.ImportPoisRequest{OwnerId: user, Pois: []*poiv1.ImportedPoi{
				{Key: "k", Name: "x", Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121}},
			}}))
		},
	}
	for _, each := range p.items(p.newUser("owner")) {
		calls[each.service+" Recommend"] = func(ctx context.Context) error { return failed(each.recommend(ctx, user, each.id)) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			expectUnanswered(t, server, func() error { return call(t.Context()) })
		})
	}
}

func TestASessionIsClosedOnlyWithAMajority(t *testing.T) {
	t.Parallel()
	p, server := startOnPrimary(t)
	user := p.newUser("a")
	token := p.openSession(user)
	expectUnanswered(t, server, func() error {
		return failed(p.Account.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: token}))
	})
}

func TestASessionIsNotVerifiedForLongByAPrimaryWithoutAMajority(t *testing.T) {
	t.Parallel()
	p, server := startOnPrimary(t)
	user := p.newUser("a")
	token := p.openSession(user)
	if err := p.isOpen(user, token); err != nil {
		t.Fatal(err)
	}
	release := server.HoldMajority(mongowire.Failing)
	defer release()
	for deadline := time.After(10 * time.Second); !isUnanswered(p.isOpen(user, token)); {
		select {
		case <-deadline:
			t.Fatal("the session is still verified without a majority")
		case <-time.After(50 * time.Millisecond):
		}
	}
	release()
	if err := p.isOpen(user, token); err != nil {
		t.Errorf("with a majority: got %v", err)
	}
}
