package rpc_test

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/storetest"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
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
