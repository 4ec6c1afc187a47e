package guides_test

import (
	"regexp"
	"strings"
	"testing"
)

// sender sends a form by a client and returns the reply. The client keeps cookies. Fields are names
// and values in turn; no value is empty or has a tab or a backslash.
type sender func(t *testing.T, method string, fields ...string) string

// account is a user who can log in.
type account struct{ id, email, password string }

// step is an operation that was sent: its reply, and after a write what is stored, as a client in Go
// reads it. Both are masked.
type step struct{ operation, reply, stored string }

// texts are the texts that a script writes.
type texts struct{ title, changed, content string }

var (
	chinese = texts{
		"東北角 🏖️ <b>\"R&D\"</b> ']]>' 100% a+b;c=d~", "@第二章 𠮷野家 é ￥ ＠", "第一行\n\n第三行 & 完 ",
	}
	// chineseFromForms is what arrives of chinese from a library that sends line breaks as the
	// forms of browsers do.
	chineseFromForms = texts{chinese.title, chinese.changed, strings.ReplaceAll(chinese.content, "\n", "\r\n")}
	ascii            = texts{"<b>\"R&D\"</b> ']]>' 100% a+b;c=d~", "@home", "one\n\nthree & end "}
)

// script sends operations by a client, as a user, and collects the steps.
type script struct {
	t *testing.T
	// send sends as the user; read sends by Go without a session; rescue sends by Go as the user.
	send, read, rescue sender
	steps              []step
}

// varying matches text that differs from run to run.
var varying = regexp.MustCompile(`\b[0-9]{13,16}\b|\b[0-9a-f]{32}\b|<updateDate>.*?</updateDate>`)

// masked replaces text that differs from run to run.
func masked(text string) string { return varying.ReplaceAllString(text, "…") }

// do sends an operation. After a write it reads what is stored with the query, unless that is empty.
func (s *script) do(operation, method string, query []string, fields ...string) (reply string) {
	s.t.Helper()
	reply = s.send(s.t, method, fields...)
	s.note(operation, reply, query)
	return reply
}

func (s *script) note(operation, reply string, query []string) {
	s.t.Helper()
	stored := ""
	if len(query) > 0 {
		stored = masked(s.read(s.t, "GET", query...))
	}
	s.steps = append(s.steps, step{operation, masked(reply), stored})
}

// create sends an operation that creates something, and returns the reply's element id. If the
// client fails, Go creates it, so that the steps that follow show what they are about.
func (s *script) create(id string, fields ...string) string {
	s.t.Helper()
	reply := s.send(s.t, "POST", fields...)
	created := element(reply, id)
	if created == "" {
		created = element(s.rescue(s.t, "POST", fields...), id)
	}
	if created == "" {
		s.t.Fatalf("%v: no %s in %s", fields, id, reply)
	}
	s.note(fields[1], reply, []string{"func", "get" + strings.ToUpper(id[:1]) + strings.TrimSuffix(id[1:], "ID"), id, created})
	return created
}

// element returns the text of the first element of a name in a reply, or "".
func element(reply, name string) string {
	_, rest, _ := strings.Cut(reply, "<"+name+">")
	text, _, isThere := strings.Cut(rest, "</"+name+">")
	if !isThere {
		return ""
	}
	return text
}

// play logs in, sends the eleven operations and logs out.
func (s *script) play(user account, written texts) []step {
	s.t.Helper()
	place := []string{"lat", "25.034", "lng", "-121.5645"}
	s.do("login", "POST", nil, "func", "login", "email", user.email, "password", user.password)

	id := s.create("albumID", append([]string{"func", "addAlbum", "albumTitle", written.title, "category", "5"}, place...)...)
	album := []string{"func", "getAlbum", "albumID", id}
	s.do("getAlbum", "GET", nil, album...)
	s.do("updateAlbum", "POST", album, "func", "updateAlbum", "albumID", id, "albumTitle", written.changed, "category", "14")
	s.do("getUserAlbumList", "GET", nil, "func", "getUserAlbumList", "userID", user.id)

	list := s.do("getCategoryPOIList", "GET", nil, "func", "getCategoryPOIList", "category", "2")
	s.do("getPOI", "GET", nil, "func", "getPOI", "POIID", element(list, "POIID"))

	entry := append([]string{"type", "0_8", "blogTitle", written.title, "blogContent", written.content, "weather", "雨過天晴"}, place...)
	entry = append(entry, "year", "2027", "month", "2", "day", "28")
	id = s.create("blogID", append([]string{"func", "postBlog"}, entry...)...)
	blog := []string{"func", "getBlog", "blogID", id}
	s.do("getBlog", "GET", nil, blog...)
	s.do("updateBlog", "POST", blog, append([]string{"func", "updateBlog", "blogID", id, "zoomLevel", "9"}, entry...)...)
	s.do("updateBlog with delete", "POST", blog, "func", "updateBlog", "blogID", id, "delete", "true")
	s.do("updateAlbum with delete", "POST", album, "func", "updateAlbum", "albumID", album[3], "delete", "true")

	s.do("logout", "POST", nil, "func", "logout")
	s.do("logout", "POST", album, "func", "updateAlbum", "albumID", album[3]) // the session is over
	return s.steps
}
