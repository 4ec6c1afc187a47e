package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2"
)

func newIndex(t testing.TB) Index {
	t.Helper()
	x, err := OpenIndex(filepath.Join(t.TempDir(), "index"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

const newest = 20260228

func TestOnlyWhatIsPublishedIsFound(t *testing.T) {
	x := newIndex(t)
	err := x.Apply(Entry, []Change{
		{1, &Text{Kind: Entry, Title: "old", Day: 20251231}}, {2, &Text{Kind: Entry, Title: "old", Day: newest}},
		{3, &Text{Kind: Entry, Title: "old", Day: newest + 1}},
	}, "1")
	if err == nil {
		err = x.Apply(Album, []Change{{4, &Text{Kind: Album, Title: "old"}}}, "1")
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := find(t, x, "old"), []string{"album/4", "entry/1", "entry/2"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// whole is bleve.Index by a name that none of its methods has.
type whole = bleve.Index

// mortal is an index whose process is killed after some batches.
type mortal struct {
	whole
	batches int
}

func (m *mortal) Batch(batch *bleve.Batch) error {
	if m.batches--; m.batches < 0 {
		return errors.New("killed")
	}
	return m.whole.Batch(batch)
}

// Without a token, nothing would remove the rest.
func TestAClearThatIsKilledKeepsTheTokenUntilNothingIsLeft(t *testing.T) {
	x := newIndex(t)
	changes := make([]Change, clearedAtOnce+1)
	for n := range changes {
		changes[n] = Change{int64(n), &Text{Kind: Album, Title: "a"}}
	}
	if err := x.Apply(Album, changes, "token"); err != nil {
		t.Fatal(err)
	}
	for batches := 0; ; batches++ {
		err := Index{&mortal{x.Index, batches}}.Clear(t.Context(), Album)
		token, tokenErr := x.Token(Album)
		count, countErr := x.DocCount()
		if tokenErr != nil || countErr != nil || token == "" && count > 0 || err == nil && token != "" {
			t.Fatalf("after %d batches: %q, %d texts; %v, %v, %v", batches, token, count, err, tokenErr, countErr)
		}
		if err == nil {
			break
		}
	}
}

func TestASecondCopyIsRefused(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "index")
	first, err := OpenIndex(directory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := OpenIndex(directory); err == nil || !strings.Contains(err.Error(), "another program uses the index "+directory) {
		t.Errorf("got %v", err)
	}
}

func find(t testing.TB, x Index, text string) (keys []string) {
	t.Helper()
	found, isSimilar, err := x.Find(t.Context(), Query{Words: text, Today: newest, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if isSimilar {
		return nil
	}
	for _, each := range found {
		keys = append(keys, fmt.Sprintf("%s/%d", each.Kind, each.ID))
	}
	slices.Sort(keys)
	return keys
}

func TestWordsAndCharactersAreFoundInTitlesAndContents(t *testing.T) {
	x := newIndex(t)
	err := x.Apply(Entry, []Change{
		{1, &Text{Kind: Entry, Title: "日月潭環湖", Content: "騎了一整天，好累！"}},
		{2, &Text{Kind: Entry, Title: "陽明山賞花", Content: "Cherry blossoms 在竹子湖"}},
		{3, &Text{Kind: Entry, Title: "山上的ＣＡＦＥ", Content: "台北 101 的夜景"}},
		{4, &Text{Kind: Entry, Title: "gone"}},
	}, "7")
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Apply(Entry, []Change{{4, nil}}, "8"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"日月潭": {"entry/1"}, "月日": nil, "環湖 整天": {"entry/1"}, "環湖 夜景": nil,
		"山": {"entry/2", "entry/3"}, "陽明": {"entry/2"}, "明陽": nil, "湖": {"entry/1", "entry/2"},
		"cherry": {"entry/2"}, "CHERRY 竹子湖": {"entry/2"}, "cafe": {"entry/3"}, "101": {"entry/3"}, "gone": nil, "  ": nil, "！": nil,
		// The beginning of a word, but not its end.
		"che": {"entry/2"}, "ca": {"entry/3"}, "c": nil, "lossoms": nil, "10": {"entry/3"},
		// Variants of characters, letters with accents.
		"臺北": {"entry/3"}, "日月潭环湖": {"entry/1"}, "café": {"entry/3"},
	} {
		if got := find(t, x, text); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
	}
}

func TestSimilarTitlesAreFoundWhereNothingElseIs(t *testing.T) {
	x := newIndex(t)
	if err := x.Apply(Landmark, []Change{
		{1, &Text{Kind: Landmark, Title: "陽明山 Visitor Center"}}, {2, &Text{Kind: Landmark, Title: "日月潭"}},
	}, "1"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"楊明山": "landmark/1", "陽明小": "landmark/1", "visiter": "landmark/1", "visitor centre": "landmark/1", "楊明山 vsitor": "landmark/1",
		"日月談": "landmark/2", "日日潭": "landmark/2",
		"楊明": "", "vis1t0r5": "", "centr陽明海": "landmark/1", "日光潭湖": "", "xisitor": "",
	} {
		found, isSimilar, err := x.Find(t.Context(), Query{Words: text, Today: newest, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, each := range found {
			got += fmt.Sprintf("%s/%d", each.Kind, each.ID)
		}
		if got != want || isSimilar != (want != "") {
			t.Errorf("%q finds %q, similar: %v, want %q", text, got, isSimilar, want)
		}
	}
}

func TestWordsKindCategoryAndPlaceAreMetAtOnce(t *testing.T) {
	x := newIndex(t)
	tower, museum := Place{25.0339, 121.5645}, Place{25.1024, 121.5485} // 7.8 km apart
	if err := errors.Join(
		x.Apply(Album, []Change{
			{1, &Text{Kind: Album, Title: "夜市", Category: "food", Place: tower}}, {2, &Text{Kind: Album, Title: "夜市", Category: "pets", Place: tower}},
			{3, &Text{Kind: Album, Title: "夜市", Category: "food", Place: museum}},
		}, "1"),
		x.Apply(Entry, []Change{{4, &Text{Kind: Entry, Title: "夜景", Category: "food", Place: tower}}}, "1"),
	); err != nil {
		t.Fatal(err)
	}
	near := &Circle{Place{25.04, 121.5645}, 1000} // 678 m from the tower
	for name, test := range map[string]struct {
		query Query
		want  string
	}{
		"words":              {Query{Words: "夜市"}, "1 2 3"},
		"and a kind":         {Query{Words: "夜", Kind: Entry}, "4"},
		"and a category":     {Query{Words: "夜", Category: "food"}, "1 3 4"},
		"and a place":        {Query{Words: "夜市", Near: near}, "1 2"},
		"everything":         {Query{Words: "夜市", Kind: Album, Category: "food", Near: near}, "1"},
		"a place":            {Query{Near: near}, "1 2 4"},
		"nothing":            {Query{Category: "food"}, ""},
		"words elsewhere":    {Query{Words: "夜市", Near: &Circle{Place{0, 0}, 100_000}}, ""},
		"the nearest first":  {Query{Kind: Album, Category: "food", Near: &Circle{museum, 10_000}}, "3 1"},
		"a typo and a place": {Query{Words: "夜市場", Kind: Album, Near: near}, "1 2"},
	} {
		test.query.Today, test.query.Limit = newest, 100
		found, _, err := x.Find(t.Context(), test.query)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]string, 0, len(found))
		for _, each := range found {
			ids = append(ids, strconv.FormatInt(each.ID, 10))
			if each.Distance != nil && *each.Distance > test.query.Near.Radius {
				t.Errorf("%s: %d is %.0f m away", name, each.ID, *each.Distance)
			}
		}
		if test.query.Words != "" {
			slices.Sort(ids) // they count the same
		}
		if got := strings.Join(ids, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestAnIndexOfAnotherMappingIsRefused(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "index")
	other, err := bleve.New(directory, bleve.NewIndexMapping())
	if err == nil {
		err = other.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the refusal leaves it closed
		if _, err := OpenIndex(directory); err == nil || !strings.Contains(err.Error(), "another version of the program made the index "+directory) {
			t.Errorf("got %v", err)
		}
	}
}

func TestARequestNamesWhatIsWrong(t *testing.T) {
	for form, want := range map[string]string{
		"q=" + strings.Repeat("a", 201): "q: at most 200 bytes", "": "q, or lat and lng: say what to search for", "category=food": "q, or lat and lng: say what to search for",
		"q=a&limit=0": "limit: a number from 1 to 100", "q=a&limit=101": "limit: a number from 1 to 100", "q=a&limit=x": "limit: a number from 1 to 100",
		"lat=1": "lat and lng: both or neither", "q=a&radius=5": "lat and lng: both or neither", "lat=91&lng=NaN": "lat: a number from -90 to 90\nlng: a number from -180 to 180",
		"lat=1&lng=1&radius=100001": "radius: a number from 0 to 100000", "q=a&kind=photo": "kind: album, entry or landmark",
		"q=a&category=fod": "category: one of artwork, bargain, beauty, boys, campus, community, couples, domestic_travel, entertainment, family, food, foreign_travel," +
			" friends, friendship, girls, joy, landscapes, love, mood, news, other, pets, photo_shoots, private, tender, thrill, travel, weddings",
	} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := queryOf(values, newest); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", form, err, want)
		}
	}
}

// BenchmarkFind searches 150,000 landmarks.
func BenchmarkFind(b *testing.B) {
	const places, batch = 150_000, 1000
	parts := []string{"太魯閣", "陽明山", "日月潭", "阿里山", "淡水", "鹿港", "墾丁", "合歡山", "象山", "溪頭", "九份", "野柳", "集集"}
	kinds := []string{"步道", "國家公園", "老街", "車站", "夜市", "觀景台", "遊客中心", "咖啡館", "博物館", "燈塔", "瀑布"}
	x := newIndex(b)
	var changes []Change
	for n := range int64(places) {
		name := fmt.Sprint(parts[n%13], kinds[n%11], n)
		if changes = append(changes, Change{n, &Text{Kind: Landmark, Title: name, Category: categories[n%20], Place: Place{22 + float64(n%3000)/1000, 120 + float64(n/3000)/50}}}); len(changes) == batch {
			if err := x.Apply(Landmark, changes, fmt.Sprint(n)); err != nil {
				b.Fatal(err)
			}
			changes = changes[:0]
		}
	}
	for name, query := range map[string]Query{
		"阿里山": {}, "山": {}, "燈塔 鹿港": {}, "國家公園": {}, "149999": {}, "14": {}, "沒有": {}, "阿理山": {},
		"place": {Near: &Circle{Place{23.5, 121}, 5000}}, "所有": {Words: "山", Category: categories[1], Near: &Circle{Place{23.5, 121}, 5000}},
	} {
		if query.Near == nil {
			query.Words = name
		}
		query.Today, query.Limit = newest, 20
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := x.Find(b.Context(), query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
