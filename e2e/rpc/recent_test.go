package rpc_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// recent lists recent content of a category.
func (k kind) recent(category int) page {
	order := int(typev1.ListOrder_LIST_ORDER_NEWEST_FIRST)
	if k.name == "Blog" {
		order = int(blogv1.BlogOrder_BLOG_ORDER_RECENT)
	}
	return k.page("List", fields{"category": category, "order": order}, k.lowers(), string(k.field("id")))
}

func TestRecentEntriesArePublishedOnesByPlannedDate(t *testing.T) {
	t.Parallel()
	p := startParts(t) // on 2026-05-01
	entries := p.kinds()[1]
	ann, ben := p.newUser("a"), p.newUser("b")
	post := func(author int64, category int, month, day int32) int64 {
		id := entries.createWith(author, "x", fields{"category": category, "post_date": &typev1.Date{Year: 2026, Month: month, Day: day}})
		p.Clock.Advance(time.Second)
		return id
	}
	tomorrow := post(ann, 1, 5, 2)
	old := post(ben, 2, 3, 1)
	today := post(ann, 1, 5, 1)
	yesterday := post(ben, 1, 4, 30)
	todayToo := post(ben, 2, 5, 1)
	for category, want := range [][]int64{{todayToo, today, yesterday, old}, {today, yesterday}, {todayToo, old}, nil} {
		for _, size := range []int32{0, 1, 3} {
			if ids := entries.recent(category).all(t, size); !slices.Equal(ids, want) {
				t.Errorf("type %d in pages of %d: %d, want %d", category, size, ids, want)
			}
		}
	}
	first, token, err := entries.recent(0)(t.Context(), 2, "")
	got(t, first, err)
	p.Clock.Advance(24 * time.Hour)
	rest, _, err := entries.recent(0)(t.Context(), 10, token)
	if got(t, 0, err); !slices.Equal(rest, []int64{yesterday, old}) {
		t.Errorf("after midnight the walk continues with %d", rest)
	}
	if ids := entries.recent(0).all(t, 0); !slices.Equal(ids, []int64{tomorrow, todayToo, today, yesterday, old}) {
		t.Errorf("a new walk shows %d", ids)
	}
}

func TestAListOfRecentContentFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	for _, k := range w.kinds() {
		k.create(owner, "x")
		k.create(owner, "x")
		_, token, err := k.recent(0)(t.Context(), 1, "")
		if got(t, token, err) == "" {
			t.Fatal("there is no second page")
		}
		for what, test := range map[string]struct {
			category int
			size     int32
			token    string
			field    string
		}{
			"an unknown category":          {77, 0, "", string(k.category)},
			"a token of all categories":    {1, 0, token, "page_token"},
			"a token cut short":            {0, 0, token[:len(token)-1], "page_token"},
			"nonsense":                     {0, 0, "nonsense", "page_token"},
			"a token of a day that is not": {0, 0, "99991231" + token[min(8, len(token)):], "page_token"},
		} {
			t.Run(k.service+" "+what, func(t *testing.T) {
				_, _, err := k.recent(test.category)(t.Context(), test.size, test.token)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}
