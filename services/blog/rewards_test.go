package blog

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

var tenEach = Config{Reward: 10, Zone: time.UTC}

// away fails every call, as an account service does that cannot be reached.
func away(*accountv1.GrantRewardsRequest) error {
	return status.Error(codes.Unavailable, "connection refused")
}

func (f *fixture) expect(when string, total, due int64) {
	f.t.Helper()
	if got := f.account.total(author); got != total {
		f.t.Errorf("%s: the author has %d, want %d", when, got, total)
	}
	if got := f.due(); got != due {
		f.t.Errorf("%s: %d rewards are due, want %d", when, got, due)
	}
}

func (f *fixture) sweep() {
	f.t.Helper()
	if err := f.Sweep(f.t.Context()); err != nil {
		f.t.Error(err)
	}
}

func TestARewardIsGrantedAfterItFailed(t *testing.T) {
	for name, grant := range map[string]func(f *fixture, id int64) error{
		"a sweep": func(f *fixture, _ int64) error { return f.Sweep(t.Context()) },
		"the sweep of another process": func(f *fixture, _ int64) error {
			other, err := New(t.Context(), f.deps, Config{Reward: 99, Zone: time.UTC})
			if err != nil {
				return err
			}
			return other.Sweep(t.Context())
		},
		"its deletion": func(f *fixture, id int64) error {
			_, err := f.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id})
			return err
		},
	} {
		t.Run("by "+name, func(t *testing.T) {
			f := newFixture(t, tenEach)
			f.account.refuse = away
			id := f.post(t.Context(), newRequest(author))
			if err := f.Sweep(t.Context()); status.Code(err) != codes.Unavailable {
				t.Errorf("the sweep returned %v", err)
			}
			f.expect("while the account service is away", 0, 1)
			f.account.refuse = nil
			if err := grant(f, id); err != nil {
				t.Fatal(err)
			}
			f.expect("in the end", 10, 0)
		})
	}
}

// A post that got no answer may be undone. Until a majority has it, nobody is rewarded for it.
func TestAnEntryThatAFailoverUndoesHasNoReward(t *testing.T) {
	for name, grant := range map[string]func(f *fixture, id int64) error{
		"a sweep": func(f *fixture, _ int64) error { return f.Sweep(t.Context()) },
		"its deletion": func(f *fixture, id int64) error {
			_, err := f.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id})
			return err
		},
		"its deletion with an etag of another": func(f *fixture, id int64) error {
			request := &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id, Etag: "x"}
			if _, err := f.DeleteBlog(t.Context(), request); err == nil {
				t.Error("it is deleted")
			}
			return nil
		},
	} {
		t.Run("not by "+name, func(t *testing.T) {
			store := storetest.NewReplica(t, storetest.ReplicaSettings{})
			f := newFixtureOn(t, store, tenEach)
			store.Hold(0)
			if _, err := f.CreateBlog(t.Context(), newRequest(author)); !errors.Is(err, docstore.ErrUnavailable) {
				t.Fatalf("the post: %v", err)
			}
			page, err := f.blogs.Documents.Page(t.Context(), docstore.Query{Where: byDue().All().Everywhere(), Limit: 1})
			if err != nil || len(page.Documents) != 1 {
				t.Fatalf("entries whose reward is due: %v, %v", page.Documents, err)
			}
			if err := grant(f, page.Documents[0].ID); err != nil && !errors.Is(err, docstore.ErrUnavailable) {
				t.Error(err)
			}
			store.Fail(storetest.Failover{})
			f.expect("after the entry was undone", 0, 0)
		})
	}
}

func TestAnEntryIsNotDeletedWhileItsRewardFails(t *testing.T) {
	f := newFixture(t, tenEach)
	f.account.refuse = away
	id := f.post(t.Context(), newRequest(author))
	_, err := f.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("the deletion returned %v", err)
	}
	f.expect("after the deletion failed", 0, 1)
	f.account.refuse = nil
	if _, err := f.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author + 1, BlogId: id}); err == nil {
		t.Error("another user deleted the entry")
	}
	f.expect("after another user tried to delete it", 0, 1)
}

func TestRewardsThatFailDoNotBlockThoseOfOtherBatches(t *testing.T) {
	f := newFixture(t, tenEach)
	for range 3 * grantBatch {
		request := newRequest(author)
		request.RequestId = ""
		f.post(t.Context(), request)
	}
	calls := 0
	f.account.refuse = func(request *accountv1.GrantRewardsRequest) error {
		if calls++; calls == 2 {
			return status.Error(codes.Internal, "something went wrong")
		}
		return nil
	}
	if err := f.Sweep(t.Context()); status.Code(err) != codes.Internal {
		t.Errorf("the sweep returned %v", err)
	}
	f.expect("after the sweep", 2*grantBatch*10, grantBatch)
	f.sweep()
	f.expect("after another one", 3*grantBatch*10, 0)
}

func TestAZeroRewardIsNeverDue(t *testing.T) {
	f := newFixture(t, Config{Reward: 0, Zone: time.UTC})
	f.account.refuse = func(*accountv1.GrantRewardsRequest) error {
		t.Error("the account service was asked")
		return nil
	}
	id := f.post(t.Context(), newRequest(author))
	f.sweep()
	f.expect("after the post", 0, 0)
	if _, err := f.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}); err != nil {
		t.Error(err)
	}
}

func TestAGrantChangesNothingElseInTheEntry(t *testing.T) {
	f := newFixture(t, tenEach)
	id := f.post(t.Context(), newRequest(author))
	want := f.stored(id)
	f.time = f.time.Add(time.Hour)
	// The author changes the entry while the reward is granted.
	f.account.granted = func() error {
		_, err := f.UpdateBlog(t.Context(), &blogv1.UpdateBlogRequest{ActorId: author, BlogId: id, Title: proto.String("new")})
		return err
	}
	want.Title, want.UpdateTime, want.ContentRevision = "new", f.time, 1
	f.sweep()
	want.RewardDue = 0
	if got := f.stored(id); !reflect.DeepEqual(got, want) {
		t.Errorf("the entry is %+v, want %+v", got, want)
	}
}
