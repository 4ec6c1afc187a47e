package operations_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
)

// call calls an operation of the edge with a cookie.
func call(t *testing.T, edge, cookie string, form url.Values) string {
	t.Helper()
	return waybooktest.OnceAt(t, edge).WithCookie(cookie).Post(form.Encode()).Body
}

func TestTheEdgeAcceptsASessionUntilTheOperatorClosesIt(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	user := o.createUser("小旅人")
	isOpen := func(cookie string) bool {
		return strings.Contains(call(t, p.HTTP, cookie, url.Values{"func": {"addAlbum"}, "albumTitle": {"a"}, "category": {"5"}, "lat": {"25"}, "lng": {"121"}}), "SUCCESS")
	}
	one, id := o.openSession(user)
	two, other := o.openSession(user)
	three, _ := o.openSession(user)
	listed := o.must("session", "list", "--owner", user)
	if !strings.Contains(listed, id+"  "+user) || !strings.Contains(listed, other) || strings.Contains(listed, strings.TrimPrefix(one, "id="+user+"; idrand=")) {
		t.Errorf("the sessions are\n%s", listed)
	}
	o.run("", "session", "close", id, "--owner", user).expect(0, "closed "+id)
	if isOpen(one) || !isOpen(two) {
		t.Error("not the session that was named is closed")
	}
	o.run("", "session", "close", id, "--owner", user).expect(3, "has no session "+id)
	var closed struct {
		Count int `json:"closed_count"`
	}
	o.mustRead(&closed, "session", "close", "--all", "--owner", user)
	if closed.Count != 2 || isOpen(two) || isOpen(three) {
		t.Errorf("%d sessions closed; open are %v, %v", closed.Count, isOpen(two), isOpen(three))
	}
}

// A list and a show of each kind of content, and changes that are made only in the state that an etag names.
func TestContentIsListedShownAndDeleted(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner, friend := o.createUser("小旅人"), o.createUser("阿海")
	w := writer{waybooktest.Connect(t, o.address), t}
	users := [2]int64{numbered(t, owner), numbered(t, friend)}
	for noun, c := range map[string]struct {
		id                   int64
		listed, shown, field string
	}{
		"album":    {w.album(users), "  food  25.034,121.5645  2  ", "  x\n\nCOMMENT", "album"},
		"entry":    {w.blog(users), "  2026-02-28  mood  rainbow  25.034,121.5645  2  ", "\nx\n\nx\n\nVOTES  CHOICE\n1      a\n1      b\n", "blog"},
		"landmark": {w.poi(users), "  tender  25.034,121.5645  2  ", "  x\n\nCOMMENT", "poi"},
	} {
		id := fmt.Sprint(c.id)
		list := o.must(noun, "list", "--owner", owner)
		if lines := strings.Split(list, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], strings.ToUpper(noun)+" ") ||
			!strings.HasPrefix(lines[1], id) || !strings.Contains(strings.Join(strings.Fields(lines[1]), "  "), c.listed) || !strings.HasSuffix(lines[1], "小旅人 ("+owner+")  x") {
			t.Errorf("the list is\n%s", list)
		}
		if shown := o.must(noun, "show", id); !strings.Contains(shown, c.shown) || strings.Count(shown, "阿海 ("+friend+")") != 3 || strings.Contains(shown, "PHOTO") == (noun == "entry") {
			t.Errorf("shown is\n%s", shown)
		}
		etag := func() string {
			t.Helper()
			var shown map[string]json.RawMessage
			var it struct{ Etag string }
			o.mustRead(&shown, noun, "show", id)
			if err := json.Unmarshal(shown[c.field], &it); err != nil || it.Etag == "" {
				t.Fatalf("%v, no etag in %s", err, shown[c.field])
			}
			return it.Etag
		}
		first := etag()
		if noun == "landmark" {
			updated := o.must(noun, "update", id, "--name", "龍山寺", "--lat", "25.0371", "--lng", "121.4998", "--category", "community", "--etag", first)
			if !strings.Contains(updated, "community") || !strings.Contains(updated, "25.0371,121.4998") || !strings.Contains(updated, "龍山寺") {
				t.Errorf("updated is\n%s", updated)
			}
			o.run("", noun, "update", id, "--name", "x", "--etag", first).expect(4, "changed since")
			if byCategory := o.must(noun, "list", "--category", "community"); !strings.Contains(byCategory, id) {
				t.Errorf("by category there are\n%s", byCategory)
			}
		}
		o.run("", noun, "delete", id, "--etag", "another").expect(4, "changed since")
		o.run("", noun, "delete", id, "--etag", etag()).expect(0, "deleted "+id)
		o.run("", noun, "delete", id).expect(3, id)
		o.run("", noun, "show", id).expect(3, id)
		for format, want := range map[string]string{"json": "[]\n", "table": ""} {
			if got := o.run("", noun, "list", "--owner", owner, "-o", format).expect(0, "no "); got.out != want {
				t.Errorf("the empty list in %s is %q", format, got.out)
			}
		}
	}
}
