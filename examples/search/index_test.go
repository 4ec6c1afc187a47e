package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		{1, &Text{Entry, "old", "", 20251231}}, {2, &Text{Entry, "old", "", newest}}, {3, &Text{Entry, "old", "", newest + 1}},
	}, "1")
	if err == nil {
		err = x.Apply(Album, []Change{{4, &Text{Album, "old", "", 0}}}, "1")
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := find(t, x, "old"), []string{"album/4", "entry/1", "entry/2"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
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
	found, err := x.Find(t.Context(), text, newest, 100)
	if err != nil {
		t.Fatal(err)
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
		{1, &Text{Entry, "日月潭環湖", "騎了一整天，好累！", 0}},
		{2, &Text{Entry, "陽明山賞花", "Cherry blossoms 在竹子湖", 0}},
		{3, &Text{Entry, "山上的ＣＡＦＥ", "台北 101 的夜景", 0}},
		{4, &Text{Entry, "gone", "", 0}},
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
	} {
		if got := find(t, x, text); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", text, got, want)
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
		if changes = append(changes, Change{n, &Text{Landmark, name, "", 0}}); len(changes) == batch {
			if err := x.Apply(Landmark, changes, fmt.Sprint(n)); err != nil {
				b.Fatal(err)
			}
			changes = changes[:0]
		}
	}
	for _, text := range []string{"阿里山", "山", "燈塔 鹿港", "國家公園", "149999", "沒有"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Find(b.Context(), text, newest, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
