package rpc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// written returns the texts of all comments of an author on content of the kind, by what they are on.
func (k kind) written(author int64) map[int64][]string {
	k.w.t.Helper()
	texts := map[int64][]string{}
	for token := ""; ; {
		reply := must(k.send(k.w.t.Context(), "ListCommentsByAuthor", fields{
			"author_id": author, "kind": int(k.of), "page_size": int32(2), "page_token": token,
		}))(k.w.t)
		for _, each := range readAll[*commentv1.Comment](reply, "comments") {
			if by := each.GetAuthor(); by.GetUserId() != author || by.GetName() == "" {
				k.w.t.Errorf("a comment of %d is by %v", author, by)
			}
			texts[each.GetParentId()] = append(texts[each.GetParentId()], each.GetText())
		}
		if token = read[string](reply, "next_page_token"); token == "" {
			return texts
		}
	}
}

// removeBy removes comments of an author, and expects how many it removes and whether there are more.
func (k kind) removeBy(on fields, wantCount int32, wantMore bool) {
	k.w.t.Helper()
	reply := must(k.send(k.w.t.Context(), "RemoveCommentsByAuthor", on))(k.w.t)
	if count, more := read[int32](reply, "removed_count"), read[bool](reply, "has_more"); count != wantCount || more != wantMore {
		k.w.t.Errorf("%s: removed %d, more: %v; want %d, %v", k.service, count, more, wantCount, wantMore)
	}
}

func (k kind) expectWritten(author int64, want map[int64][]string) {
	k.w.t.Helper()
	if all := k.written(author); fmt.Sprint(all) != fmt.Sprint(want) {
		k.w.t.Errorf("%s: %d wrote %v, want %v", k.service, author, all, want)
	}
}

func TestTheCommentsOfAnAuthorAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		owner, author, other := p.newUser("owner"), p.newUser("author"), p.newUser("other")
		first, second := p.items(owner), p.items(owner)
		for i := range first {
			for n, on := range []item{first[i], second[i], first[i]} {
				must(on.add(t.Context(), author, "", fmt.Sprint(on.service, n)))(t)
			}
			must(first[i].add(t.Context(), other, "", "other"))(t)
		}
		for i, k := range p.kinds() {
			a, b := first[i].id, second[i].id
			texts := []string{k.service + "0", k.service + "1", k.service + "2"}
			all := map[int64][]string{a: {texts[0], texts[2]}, b: {texts[1]}}
			k.expectWritten(author, all)
			k.expectWritten(owner, map[int64][]string{})
			k.expectWritten(1, map[int64][]string{}) // nobody
			_, token, err := k.page("ListCommentsByAuthor", fields{"author_id": author, "kind": int(k.of)}, "comments", "parent_id")(t.Context(), 1, "")
			expectFault(t, failed(k.send(t.Context(), "ListCommentsByAuthor", fields{"author_id": other, "kind": int(k.of), "page_token": got(t, token, err)})),
				codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
			k.expectRemovalFailures(t, owner, author, a)
			k.expectWritten(author, all)

			ofOwner := fields{"author_id": author, "actor_id": owner, "id": a}
			k.removeBy(ofOwner, 2, false)
			k.removeBy(ofOwner, 0, false)
			k.expectWritten(author, map[int64][]string{b: {texts[1]}})
			k.expectWritten(other, map[int64][]string{a: {"other"}})
			ofOperator := fields{"author_id": author, "kind": int(k.of)}
			k.removeBy(ofOperator, 1, false)
			k.removeBy(ofOperator, 0, false)
			k.expectWritten(author, map[int64][]string{})
			k.expectWritten(other, map[int64][]string{a: {"other"}})
			if shown, _ := first[i].first(); len(shown) != 1 {
				t.Errorf("%s: shows %v", k.service, shown)
			}
		}
		p.check()
	})
}

func (k kind) expectRemovalFailures(t *testing.T, owner, author, id int64) {
	t.Helper()
	call := func(values fields) func(context.Context) error {
		return k.calling("RemoveCommentsByAuthor", values.and(fields{"author_id": author}))
	}
	expectFailures(t, []failure{
		{"by the author", call(fields{"actor_id": author, "id": id}), codes.PermissionDenied, "NOT_OWNER"},
		{"of unknown content", call(fields{"actor_id": owner, "id": int64(1)}), codes.NotFound, k.missing},
	})
	for _, invalid := range []struct {
		values fields
		field  string
	}{
		{fields{"actor_id": owner}, "on"},
		{fields{"id": id}, "actor_id"},
		{fields{"actor_id": owner, "kind": int(k.of)}, "actor_id"},
		{fields{"kind": int(aUser)}, "kind"},
	} {
		expectFault(t, call(invalid.values)(t.Context()), codes.InvalidArgument, "INVALID_PARAMETER", invalid.field)
	}
}

func TestRepeatedCallsRemoveAllCommentsOfAnAuthor(t *testing.T) {
	t.Parallel()
	const count = 203
	w := start(t)
	owner, author := w.newUser("owner"), w.newUser("author")
	first, second := w.items(owner), w.items(owner)
	for i, k := range w.kinds() {
		for n := range count {
			must(first[i].add(t.Context(), author, "", fmt.Sprint(n)))(t)
		}
		must(second[i].add(t.Context(), author, "", "x"))(t)
		onOne := fields{"author_id": author, "actor_id": owner, "id": first[i].id}
		k.removeBy(onOne, 200, true)
		k.removeBy(onOne, count-200, false)
		k.expectWritten(author, map[int64][]string{second[i].id: {"x"}})
		for n := range count {
			must([]item{first[i], second[i]}[n%2].add(t.Context(), author, "", fmt.Sprint(n)))(t)
		}
		onAll := fields{"author_id": author, "kind": int(k.of)}
		k.removeBy(onAll, 200, true)
		k.removeBy(onAll, count+1-200, false)
		k.expectWritten(author, map[int64][]string{})
	}
}

func TestACommentIsCountedByTheCallThatRemovesIt(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		owner, author := p.newUser("owner"), p.newUser("author")
		for i, k := range p.kinds() {
			on := p.items(owner)[i]
			for _, values := range []fields{{"actor_id": owner, "id": on.id}, {"kind": int(k.of)}} {
				must(on.add(t.Context(), author, "", "x"))(t)
				asked := values.and(fields{"author_id": author})
				p.store.beforeNext(storetest.Call{Collection: k.service + "_comments", Verb: "delete"}, func() { k.removeBy(asked, 1, false) })
				k.removeBy(asked, 0, false)
			}
		}
		p.check()
	})
}

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

func TestAnEntryCanQuoteOnlyAnExistingEntry(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	id := w.newBlog(author)
	request := newBlogRequest(author)
	request.ReplyBlogId = 1
	expectFault(t, failed(w.Blog.CreateBlog(t.Context(), request)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
	for _, quoted := range []int64{1, id} { // an entry does not quote itself (rule 7.30)
		update := &blogv1.UpdateBlogRequest{ActorId: author, BlogId: id, ReplyBlogId: &quoted}
		expectFault(t, failed(w.Blog.UpdateBlog(t.Context(), update)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
		update.ActorId = w.newUser("b")
		expectFailures(t, []failure{{"UpdateBlog of another's entry", calling(w.Blog.UpdateBlog, update), codes.PermissionDenied, "NOT_OWNER"}})
	}
	request.RequestId, request.ReplyBlogId = requestID(1), id
	quoting := must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog()
	must(w.Blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
	again := must(w.Blog.CreateBlog(t.Context(), request))(t).GetBlog()
	if b := w.getBlog(again.GetBlogId()).GetBlog(); b.GetBlogId() != quoting.GetBlogId() || b.GetReplyBlogId() != id {
		t.Errorf("deleting the quoted entry changed %v", b)
	}
}

func TestVotingFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	author, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newBlog(author), w.newBlog(author)
	plain := newBlogRequest(author)
	plain.Vote = nil
	voteless := must(w.Blog.CreateBlog(ctx, plain))(t).GetBlog().GetBlogId()
	must(w.Blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: other, BlogId: elsewhere, Choice: 1}))(t)
	cast := func(voter, blog int64, choice int32) func(context.Context) error {
		return calling(w.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: choice})
	}
	expectFailures(t, []failure{
		{"CastBallot on an unknown entry", cast(other, 1, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"CastBallot without a vote", cast(other, voteless, 1), codes.NotFound, "VOTE_NOT_FOUND"},
		{"CastBallot for an unknown choice", cast(other, id, 4), codes.NotFound, "CHOICE_NOT_FOUND"},
		{"CastBallot by an unknown user", cast(1, id, 1), codes.NotFound, "USER_NOT_FOUND"},
		{"CastBallot for another choice", cast(other, elsewhere, 2), codes.AlreadyExists, "ALREADY_VOTED"},
		{"ListBallots of an unknown entry", calling(w.Blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: 1}), codes.NotFound, "BLOG_NOT_FOUND"},
		{"ListBallots without a vote", calling(w.Blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: voteless}), codes.NotFound, "VOTE_NOT_FOUND"},
	})
}

// expectRewards checks the total and the number of a user's rewards.
func (w *waybook) expectRewards(user, total, count int64) {
	w.t.Helper()
	want := waybooktest.Rewards{Total: total, Count: count}
	if got := must(waybooktest.RewardsOf(w.t.Context(), w.Account, user))(w.t); got != want {
		w.t.Errorf("user %d has the rewards %+v, want %+v", user, got, want)
	}
}

func TestARewardOutlivesItsEntry(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p *parts) {
		author := p.newUser("a")
		granted := p.newBlog(author)
		p.Sweep()
		p.expectRewards(author, 10, 1)
		due := p.newBlog(author)
		for _, id := range []int64{granted, due} {
			must(p.Blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
		}
		p.expectRewards(author, 20, 2)
		p.Sweep()
		p.expectRewards(author, 20, 2)
	})
}

func TestARewardIsGrantedOnceForEachSource(t *testing.T) {
	t.Parallel()
	w := startParts(t)
	user, other := w.newUser("a"), w.newUser("b")
	w.expectRewards(user, 0, 0)
	for _, grants := range [][]*accountv1.Grant{
		{{UserId: user, Source: "blog/1", Amount: 10}},
		{{UserId: user, Source: "blog/1", Amount: 99}, {UserId: user, Source: "blog/2", Amount: 5}},
		{
			{UserId: user, Source: "photo/1", Amount: 0},
			{UserId: user, Source: "photo/1", Amount: 7},
			{UserId: other, Source: "blog/1", Amount: 1_000_000_000},
			{UserId: 1, Source: "blog/1", Amount: 1}, // nobody
		},
	} {
		must(w.Account.GrantRewards(t.Context(), &accountv1.GrantRewardsRequest{Grants: grants}))(t)
	}
	w.expectRewards(user, 15, 3)
	w.expectRewards(other, 1_000_000_000, 1)
	if n := w.store.count(t, "rewards"); n != 4 {
		t.Errorf("%d rewards are stored", n)
	}
}
