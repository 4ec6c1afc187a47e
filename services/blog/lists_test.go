package blog

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// list fetches a page and returns the days of the month of its entries.
func (f *fixture) list(request *blogv1.ListBlogsRequest) (days []int32, token string) {
	f.t.Helper()
	reply, err := f.ListBlogs(f.t.Context(), request)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, b := range reply.GetBlogs() {
		days = append(days, b.GetPostDate().GetDay())
	}
	return days, reply.GetNextPageToken()
}

// newDiary posts one entry for each of the first days of May 2026, the last day first.
func newDiary(t *testing.T, days int32, zone *time.Location) *fixture {
	t.Helper()
	f := newFixture(t, Config{Zone: zone})
	for d := days; d > 0; d-- {
		request := newRequest(author)
		request.RequestId, request.PostDate.Day = "", d
		f.post(t.Context(), request)
	}
	return f
}

func publishedRequest(size int32) *blogv1.ListBlogsRequest {
	return &blogv1.ListBlogsRequest{
		Order: blogv1.BlogOrder_BLOG_ORDER_POST_DATE, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PageSize: size,
	}
}

// published returns what each list shows of the published entries of a diary: the days of the month, ascending.
func (f *fixture) published() map[string][]int32 {
	f.t.Helper()
	shown := map[string][]int32{}
	add := func(list string, err error, days ...int32) {
		f.t.Helper()
		if err != nil {
			f.t.Fatal(list, err)
		}
		shown[list] = append(shown[list], days...)
		slices.Sort(shown[list])
	}
	for list, who := range map[string]int64{"of all": 0, "of an author": author} {
		request := publishedRequest(0)
		request.AuthorId = who
		days, _ := f.list(request)
		add(list, nil, days...)
	}
	const published = blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED
	for _, request := range []*blogv1.ListBlogsRequest{
		{Order: blogv1.BlogOrder_BLOG_ORDER_RECENT}, {Publication: published, AuthorId: author},
	} {
		whole, _ := f.list(request)
		add(request.GetOrder().String(), nil, whole...)
		request.View = typev1.View_VIEW_SUMMARY
		summaries, err := f.ListBlogs(f.t.Context(), request)
		add("summaries, "+request.GetOrder().String(), err)
		for _, b := range summaries.GetSummaries() {
			add("summaries, "+request.GetOrder().String(), nil, f.stored(b.GetId()).PostDay.proto().GetDay())
		}
	}
	near, err := f.SearchNearby(f.t.Context(), &blogv1.SearchNearbyRequest{
		Circle: &typev1.Circle{Center: &typev1.Location{}, RadiusMeters: 1}, Publication: published,
	})
	add("nearby", err)
	for _, b := range near.GetBlogs() {
		add("nearby", nil, b.GetPostDate().GetDay())
	}
	box, err := f.ListBlogs(f.t.Context(), &blogv1.ListBlogsRequest{View: typev1.View_VIEW_SUMMARY, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, Box: &typev1.Box{North: 1, East: 1}})
	add("in a box", err)
	for _, b := range box.GetSummaries() {
		add("in a box", nil, f.stored(b.GetId()).PostDay.proto().GetDay())
	}
	return shown
}

func TestAnEntryIsPublishedWhenItsDayBeginsInTheZoneOfTheService(t *testing.T) {
	f := newDiary(t, 4, time.FixedZone("east", 8*60*60))
	for _, moment := range []struct {
		time string
		want []int32
	}{
		{"2026-04-30T15:59:59.999Z", nil},
		{"2026-04-30T16:00:00Z", []int32{1}},
		{"2026-05-02T15:59:59.999Z", []int32{1, 2}},
		{"2026-05-02T16:00:00Z", []int32{1, 2, 3}},
		{"2027-01-01T00:00:00Z", []int32{1, 2, 3, 4}},
	} {
		var err error
		if f.time, err = time.Parse(time.RFC3339, moment.time); err != nil {
			t.Fatal(err)
		}
		shown := f.published()
		if len(shown) != 8 {
			t.Fatal(shown)
		}
		for list, days := range shown {
			if !slices.Equal(days, moment.want) {
				t.Errorf("at %s %s: %v; want %v", moment.time, list, days, moment.want)
			}
		}
	}
}

func TestPagingThroughPublishedEntriesEndsWithTheDayOnWhichItBegan(t *testing.T) {
	f := newDiary(t, 5, time.UTC)
	request := publishedRequest(2)
	f.time = time.Date(2026, 5, 4, 23, 59, 59, 0, time.UTC)
	for _, want := range [][]int32{{1, 2}, {3, 4}} {
		days, token := f.list(request)
		if !slices.Equal(days, want) || (token == "") != (want[1] == 4) {
			t.Errorf("%v, token %q; want %v", days, token, want)
		}
		request.PageToken = token
		f.time = f.time.AddDate(0, 0, 1)
	}
}

func TestPublishedEntriesKeepTheRequestedBounds(t *testing.T) {
	f := newDiary(t, 9, time.UTC)
	f.time = time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC)
	on := func(d int32) *typev1.Date { return &typev1.Date{Year: 2026, Month: 5, Day: d} }
	for name, bounds := range map[string]struct {
		from, to *typev1.Date
		want     []int32
	}{
		"from":            {on(4), nil, []int32{4, 5}},
		"to the past":     {nil, on(2), []int32{1, 2}},
		"to the future":   {on(3), on(8), []int32{3, 4, 5}},
		"from the future": {on(6), nil, nil},
	} {
		request := publishedRequest(0)
		request.PostDateFrom, request.PostDateTo = bounds.from, bounds.to
		if days, token := f.list(request); !slices.Equal(days, bounds.want) || token != "" {
			t.Errorf("%s: %v, token %q; want %v", name, days, token, bounds.want)
		}
	}
}

func TestAListOfAUserWhoIsGoneMayEndWhileEntriesAreKept(t *testing.T) {
	f := newFixture(t, Config{Zone: time.UTC})
	f.account.unknown = author
	expect := func(isListed bool) {
		t.Helper()
		_, list := f.ListBlogs(t.Context(), &blogv1.ListBlogsRequest{
			AuthorId: author, Order: blogv1.BlogOrder_BLOG_ORDER_POST_DATE, PostDateFrom: &typev1.Date{Year: 2026, Month: 6, Day: 1},
		})
		_, rest := f.ListBlogs(t.Context(), &blogv1.ListBlogsRequest{AuthorId: author, AfterBlogId: author})
		for _, err := range []error{list, rest} {
			if (err == nil) != isListed || err != nil && apierror.From(err).Reason != "USER_NOT_FOUND" {
				t.Errorf("the user has entries: %v; got %v", isListed, err)
			}
		}
	}
	expect(false)
	f.store([]blog{placed(author, 121, 20260501)})
	expect(true)
}

// A token is either rejected as bad or read as one that is the same again, of a day until today.
func FuzzParseRecent(f *testing.F) {
	const today = day(20260228)
	for _, seed := range []string{"20260228.x", "20260301.x", "020260228.x", "", ".", "20260228."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		from, token, err := parseRecent(text, today)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case from > today || text != "" && recentToken(from, token) != text:
			t.Fatalf("%q was read as %d, %q", text, from, token)
		}
	})
}
