package rpc_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// walk returns the items of all pages, which may be short.
func (p page) walk(t *testing.T, size int32) (all []int64) {
	t.Helper()
	for token := ""; ; {
		ids, next, err := p(t.Context(), size, token)
		all = append(all, got(t, ids, err)...)
		if token = next; token == "" {
			return all
		}
	}
}

// hide hides or shows a user, and waits until all know it.
func (p *parts) hide(user int64, hidden bool) {
	p.t.Helper()
	must(p.Account.UpdateUser(p.t.Context(), &accountv1.UpdateUserRequest{UserId: user, Hidden: &hidden}))(p.t)
	p.Clock.Advance(5 * time.Second)
}

func TestWhatAHiddenUserOwnsIsNotFound(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		hidden, other := p.newUser("hidden"), p.newUser("other")
		for i, on := range p.items(hidden) {
			k, another := on.kind, p.items(other)[i]
			t.Run(k.service, func(t *testing.T) {
				comment := must(on.add(t.Context(), other, "", "t"))(t).GetCommentId()
				at := func(method string, values fields) failure {
					return failure{method, k.calling(method, fields{"id": on.id}.and(values)), codes.NotFound, k.missing}
				}
				ofOwner := func(name string, values fields) failure {
					return failure{name, k.calling("List", fields{"owner": hidden}.and(values)), codes.NotFound, "USER_NOT_FOUND"}
				}
				gone := []failure{
					at("Get", nil), at("ListComments", nil), at("ListRecommenders", nil),
					at("AddComment", fields{"author_id": other, "text": "t"}),
					at("ReplyToComment", fields{"actor_id": other, "comment_id": comment, "text": "t"}),
					at("RemoveComment", fields{"actor_id": other, "comment_id": comment}),
					at("RemoveCommentsByAuthor", fields{"actor_id": other, "author_id": other}),
					at("Recommend", fields{"user_id": other}), at("Withdraw", fields{"user_id": other}),
					at("Update", fields{"actor_id": other, "title": "z"}), at("Delete", fields{"actor_id": other}),
					ofOwner("list of the owner", nil), ofOwner("summaries of the owner", fields{"view": 1}),
				}
				if k.hasPhotos() {
					photo := read[int64](must(k.send(t.Context(), "AddPhoto", fields{"actor_id": hidden, "id": on.id, "url": "p"}))(t), "photo.photo_id")
					gone = append(gone, at("ListPhotos", nil), at("AddPhoto", fields{"actor_id": other, "url": "p"}),
						at("UpdatePhoto", fields{"actor_id": other, "photo_id": photo}), at("RemovePhoto", fields{"actor_id": other, "photo_id": photo}))
				} else {
					gone = append(gone, at("ListBallots", nil), at("CastBallot", fields{"voter_id": other, "choice": int32(1)}))
				}
				shows := func(want bool) {
					t.Helper()
					found := map[string][]int64{
						"nearby": k.nearby(circle(25.034, 121.5645, 10)).walk(t, 1), "in a box": k.inBox(t, world(), 0, 1),
						"recent": k.recent(0).walk(t, 1), "another's": k.page("List", fields{"owner": other}, k.lowers(), string(k.field("id"))).walk(t, 100),
						"together": must(k.gather(t.Context(), on.id, another.id))(t).ids,
					}
					for name, ids := range found {
						if !slices.Contains(ids, another.id) || slices.Contains(ids, on.id) != (want && name != "another's") {
							t.Errorf("%s: found %v; %d is of the user, %d of another", name, ids, on.id, another.id)
						}
					}
				}
				shows(true)
				p.hide(hidden, true)
				expectFailures(t, gone)
				shows(false)
				if k.name == "Blog" {
					quoting := newBlogRequest(other)
					quoting.ReplyBlogId = on.id
					expectFault(t, failed(p.Blog.CreateBlog(t.Context(), quoting)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
				}
				ofOperator := k.page("List", fields{"owner": hidden, "with_hidden": true}, k.lowers(), string(k.field("id")))
				if ids := ofOperator.walk(t, 100); !slices.Equal(ids, []int64{on.id}) {
					t.Errorf("an operator finds %v", ids)
				}
				p.hide(hidden, false)
				shows(true)
				if shown, _ := on.first(); len(shown) != 1 || shown[0].GetText() != "t" {
					t.Errorf("comments: %v", shown)
				}
			})
		}
		p.check()
	})
}

func TestTheCommentsAndChoicesOfAHiddenUserDoNotAppear(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		hidden, owner := p.newUser("hidden"), p.newUser("owner")
		items := p.items(owner)
		for _, on := range items {
			for _, by := range []int64{hidden, owner, hidden} {
				must(on.add(t.Context(), by, "", "t"))(t)
			}
			for _, by := range []int64{hidden, owner} {
				must(on.recommend(t.Context(), by, on.id))(t)
				if !on.hasPhotos() {
					must(on.send(t.Context(), "CastBallot", fields{"id": on.id, "voter_id": by, "choice": int32(1)}))(t)
				}
			}
		}
		// choosers are the users whose recommendations and ballots are listed, on pages of one.
		choosers := func(on item) map[string][]int64 {
			all := map[string][]int64{
				"recommenders": on.page("ListRecommenders", fields{"id": on.id}, "recommenders", "user_id").walk(t, 1),
			}
			if !on.hasPhotos() {
				all["voters"] = on.page("ListBallots", fields{"id": on.id}, "ballots", "voter.user_id").walk(t, 1)
			}
			return all
		}
		authors := func(on item, size int32) (all []int64) {
			list := on.page("ListComments", fields{"id": on.id}, "comments", "author.user_id")
			return list.walk(t, size)
		}
		expect := func(on item, want ...int64) {
			t.Helper()
			first, _ := on.first()
			got := idsOf(first, func(c *commentv1.Comment) int64 { return c.GetAuthor().GetUserId() })
			if one := authors(on, 1); !slices.Equal(got, want) || !slices.Equal(one, want) {
				t.Errorf("%s: comments of %v, and on pages of one of %v; want %v", on.service, got, one, want)
			}
			if score := read[int64](on.shown(on.id), "score"); score != 2 {
				t.Errorf("%s: score %d", on.service, score)
			}
			for name, users := range choosers(on) {
				if slices.Contains(users, hidden) != slices.Contains(want, hidden) || !slices.Contains(users, owner) {
					t.Errorf("%s: %s are %v, comments of %v", on.service, name, users, want)
				}
			}
		}
		p.hide(hidden, true)
		for _, on := range items {
			expect(on, owner)
			on.expectWritten(hidden, map[int64][]string{on.id: {"t", "t"}})
		}
		p.hide(hidden, false)
		for _, on := range items {
			expect(on, hidden, owner, hidden)
		}
		p.hide(owner, true)
		for _, on := range items {
			on.removeBy(fields{"author_id": hidden, "kind": int(on.of)}, 2, false)
		}
		p.hide(owner, false)
		for _, on := range items {
			first, _ := on.first()
			if len(first) != 1 {
				t.Errorf("%s: comments %v", on.service, first)
			}
		}
		p.check()
	})
}

func TestAHiddenUserIsDisabledAndAnEnabledOneIsNotHidden(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		id := p.newUser("a")
		isHidden := func() bool {
			t.Helper()
			page := must(p.Account.ListHiddenUsers(t.Context(), &accountv1.ListHiddenUsersRequest{}))(t)
			if page.GetNextPageToken() != "" || len(page.GetUserIds()) > 1 {
				t.Errorf("hidden are %v", page)
			}
			return slices.Contains(page.GetUserIds(), id)
		}
		update := func(hidden, disabled *bool, wantHidden, wantDisabled bool) {
			t.Helper()
			u := must(p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Hidden: hidden, Disabled: disabled}))(t).GetUser()
			if u.GetHidden() != wantHidden || u.GetDisabled() != wantDisabled || isHidden() != wantHidden {
				t.Errorf("the user is %v, listed: %t", u, isHidden())
			}
		}
		open := p.openSession(id)
		update(new(true), nil, true, true)
		expectFault(t, p.isOpen(id, open), codes.Unauthenticated, "LOGIN_REQUIRED")
		update(new(false), nil, false, true)
		update(new(true), nil, true, true)
		update(nil, new(true), true, true)
		update(nil, new(false), false, false)
		update(new(true), new(true), true, true)
		expectFault(t, failed(p.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Hidden: new(true), Disabled: new(false)})),
			codes.InvalidArgument, "INVALID_PARAMETER", "hidden")
		update(new(false), new(false), false, false)
	})
}

func TestFollowersLearnThatAUserIsHidden(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		id, feed := p.newUser("a"), p.feed(t.Context(), aUser)
		_, token := feed.catchUp(t, "", 0)
		for _, hidden := range []bool{true, false} {
			p.hide(id, hidden)
			var changed changeTypes
			if changed, token = feed.catchUp(t, token, 0); changed[id] != changev1.Change_TYPE_CHANGED {
				t.Errorf("hidden %t: changes %v", hidden, changed)
			}
		}
	})
}
