// Package naughty sends strings that often break programs in every parameter of every operation,
// over a real connection to all of Waybook. The reply must always be a well-formed document and
// never a server error. Stored values must read back as they were sent.
package naughty

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// operation is an operation with a valid form and all its parameters.
type operation struct {
	name, form string
	parameters []string
}

// operations returns all operations of the table, on existing content.
func operations(t *testing.T, w *waybook) (all []operation) {
	t.Helper()
	const (
		place = "&lat=25.03&lng=121.56"
		entry = "&type=0_1&blogTitle=a&blogContent=b&year=2026&month=2&day=28&weather=%E6%9C%89%E5%BD%A9%E8%99%B9" + place
	)
	album, blog := "&albumID="+w.album, "&blogID="+w.blog
	forms := map[string]string{
		"addAlbum":           "&albumTitle=a&category=5" + place,
		"updateAlbum":        album + "&albumTitle=a&category=5" + place,
		"getAlbum":           album,
		"getUserAlbumList":   "&userID=" + w.user,
		"getCategoryPOIList": "&category=2",
		"getPOI":             "&POIID=1",
		"postBlog":           entry,
		"updateBlog":         blog + entry,
		"getBlog":            blog,
		"login":              "&email=a@waybook.example&password=x",
		"logout":             "",
	}
	read := readTable(t)
	for name, own := range read.own {
		form, ok := forms[name]
		if !ok {
			t.Errorf("%s is in the table but has no form in this test", name)
		}
		parameters := slices.Concat(own, read.shared, []string{"nobody-knows-this"})
		all = append(all, operation{name, "func=" + name + form, parameters})
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.name, b.name) })
	return all
}

func TestNaughtyStringsInEveryParameterOfEveryOperation(t *testing.T) {
	w := start(t)
	all := naughtyStrings(t)
	// Each parameter gets every eighth string, shifted by one for each parameter, unless all are
	// selected.
	isWhole := os.Getenv("WAYBOOK_NAUGHTY") == "all"
	var group sync.WaitGroup
	for _, each := range operations(t, w) {
		group.Go(func() {
			form, err := url.ParseQuery(each.form)
			if err != nil {
				t.Error(err)
				return
			}
			for n, name := range each.parameters {
				for i, value := range all {
					if !isWhole && (i+n)%8 != 0 {
						continue
					}
					sent := url.Values{"responseFormat": {[]string{"XML", "JSON"}[i%2]}}
					for other := range form {
						sent.Set(other, form.Get(other))
					}
					sent.Set(name, value)
					w.post(sent.Encode(), cookieOf(w, each.name)).check(t, fmt.Sprintf("%s with %s=%.100q", each.name, name, value))
				}
			}
			// Each string is also the name of a parameter, and unencoded text in the query.
			for _, value := range all {
				w.post("func="+each.name+"&"+url.QueryEscape(value)+"=x", "").check(t, fmt.Sprintf("a parameter %.100q", value))
				w.post("func="+each.name+"&"+value, "").check(t, fmt.Sprintf("the form %.100q", value))
			}
		})
	}
	group.Wait()
	w.checkLog(t)
}

// cookieOf returns no cookie for logout, so that the session stays open for the other operations.
func cookieOf(w *waybook, operation string) string {
	if operation == "logout" {
		return ""
	}
	return w.cookie
}

func TestNaughtyStringsInHeaders(t *testing.T) {
	w := start(t)
	for _, name := range []string{
		"Cookie", "Content-Type", "Accept-Encoding", "X-Forwarded-For", "X-Forwarded-Proto", "User-Agent", "Referer",
		"Origin", "Sec-Fetch-Site", "Traceparent", "X-Request-Id", "Authorization", "Range", "If-None-Match",
	} {
		for _, value := range naughtyStrings(t) {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				continue // Go's client and server refuse it
			}
			r := w.newRequest(http.MethodPost, "func=addAlbum&albumTitle=a&category=5&lat=1&lng=1")
			r.Header.Set(name, value)
			w.send(r).check(t, fmt.Sprintf("%s: %.100q", name, value))
		}
	}
	w.checkLog(t)
}

func TestAcceptedValuesReadBackAsTheyWereSent(t *testing.T) {
	w := start(t)
	taken := 0
	for _, value := range naughtyStrings(t) {
		for _, format := range []string{"XML", "JSON"} {
			made := w.post(url.Values{
				"func": {"addAlbum"}, "albumTitle": {value}, "category": {"5"}, "lat": {"1"}, "lng": {"2"}, "responseFormat": {"XML"},
			}.Encode(), w.cookie)
			id, ok := made.element("albumID")
			if !ok {
				continue
			}
			taken++
			read := w.post("func=getAlbum&responseFormat="+format+"&albumID="+id, "")
			read.check(t, fmt.Sprintf("the album %.100q", value))
			if title, _ := read.element("albumTitle"); title != value {
				t.Errorf("%s: %q reads back as %q", format, value, title)
			}
		}
	}
	if taken == 0 {
		t.Error("no value was accepted")
	}
}
