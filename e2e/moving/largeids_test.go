package moving_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// parts reads a list in parts of one item, and returns the items in their order.
func parts(t *testing.T, read func(after string) string, id string) (found []string) {
	t.Helper()
	for after := ""; len(found) < 20; {
		reply := read(after)
		_, rest, _ := strings.Cut(reply, "<"+id+">")
		item, _, isThere := strings.Cut(rest, "</"+id+">")
		if !isThere {
			t.Fatalf("after %s: %s", after, reply)
		}
		found = append(found, item)
		_, rest, hasNext := strings.Cut(reply, "<next>")
		if !hasNext {
			return found
		}
		after, _, _ = strings.Cut(rest, "</next>")
	}
	t.Fatalf("the parts do not end: %s", found)
	return nil
}

// Old services count by clocks, and some do not count.
func TestLargeNumbersAndTextsAreOldIdentifiersInEveryReply(t *testing.T) {
	t.Parallel()
	olds := []string{
		"5", "1099511627776", "1700000000123", "850000000000000", "1700000000123456", "9007199254740991", "12345678901234567890",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
	}
	lines := []string{anna}
	for _, old := range olds {
		lines = append(lines,
			fmt.Sprintf(`{"kind":"album","id":"%s","owner_id":7,"title":"of %s","category":1,"lat":1,"lng":2,"create_time":1204679251}`, old, old),
			fmt.Sprintf(`{"kind":"photo","id":"%s","album_id":"%s","url":"a.jpg"}`, old, old),
			fmt.Sprintf(`{"kind":"landmark","id":"%s","owner_id":7,"name":"of %s","category":1,"lat":1,"lng":2,"create_time":1204679251}`, old, old))
	}
	waybook := startOn(t, t.TempDir(), "-ids", "old")
	if done := imported(t, waybook, small(t, ended(lines)...)); done.status != 0 {
		t.Fatal(done)
	}
	for _, old := range olds {
		if reply := album(t, waybook, old); !strings.Contains(reply, "of "+old+"<") || !strings.Contains(reply, "<photoID>"+old+"<") {
			t.Errorf("%s: %s", old, reply)
		}
	}
	for id, list := range map[string]url.Values{
		"albumID": {"func": {"getUserAlbumList"}, "userID": {"7"}}, "POIID": {"func": {"getCategoryPOIList"}, "category": {"1"}},
	} {
		found := parts(t, func(after string) string {
			list.Set("limit", "1")
			if after != "" {
				list.Set("after", after)
			}
			return post(t, waybook, "", list)
		}, id)
		if found[0] != "5" {
			t.Errorf("%s: %s is not first", id, found)
		}
		slices.Sort(found)
		if want := slices.Sorted(slices.Values(olds)); !slices.Equal(found, want) {
			t.Errorf("%s: got %s, want %s", id, found, want)
		}
	}
}
