package programs_test

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// reply is an XML reply, or an element of one.
type reply struct {
	XMLName  xml.Name
	Text     string  `xml:",chardata"`
	Children []reply `xml:",any"`
}

// parse parses a reply.
func parse(t testing.TB, body string) reply {
	t.Helper()
	var r reply
	if err := xml.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	if r.XMLName.Local != "response" {
		t.Fatalf("the root of %q is not a response", body)
	}
	return r
}

// at returns the element at a path such as Location/lat, or an empty one.
func (r reply) at(path string) reply {
	name, rest, deeper := strings.Cut(path, "/")
	for _, child := range r.Children {
		if child.XMLName.Local == name {
			if deeper {
				return child.at(rest)
			}
			return child
		}
	}
	return reply{}
}

func (r reply) text(path string) string { return r.at(path).Text }

// mustSucceed ends the test unless the status is SUCCESS.
func (r reply) mustSucceed(t testing.TB) reply {
	t.Helper()
	if r.text("status") != "SUCCESS" {
		t.Fatalf("status %q, info %q", r.text("status"), r.text("info"))
	}
	return r
}

// client keeps no connection open after the end of a process.
var client = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// post sends a form, with a cookie unless that is empty.
func post(t testing.TB, p *launch.Process, cookie string, pairs ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.HTTP+"/API.php", strings.NewReader(form(pairs...)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(body))
}

// form encodes alternating names and values.
func form(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values.Encode()
}

// demoCookie reads the cookie that standalone wrote at a start.
func demoCookie(t testing.TB, data string) string {
	t.Helper()
	return readLine(t, filepath.Join(data, "demo-cookie"))
}

// demoPassword reads the password that the first start wrote.
func demoPassword(t testing.TB, data string) string {
	t.Helper()
	return readLine(t, filepath.Join(data, "demo-password"))
}

func readLine(t testing.TB, path string) string {
	t.Helper()
	line, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line))
}

// demoUser returns the user of a cookie.
func demoUser(cookie string) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(cookie, "id="), ";")
	return id
}

// landmarks returns the number of landmarks in each category.
func landmarks(t testing.TB, p *launch.Process) (counts [5]int) {
	t.Helper()
	for i := range counts {
		list := post(t, p, "", "func", "getCategoryPOIList", "category", string(rune('1'+i))).mustSucceed(t)
		counts[i] = len(list.at("POIList").Children)
	}
	return counts
}
