package programs_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// post sends a form, with a cookie unless that is empty. It keeps no connection open after the end of a process.
func post(t testing.TB, p *launch.Process, cookie string, pairs ...string) waybooktest.Reply {
	t.Helper()
	return waybooktest.OnceAt(t, p.HTTP).WithCookie(cookie).Post(form(pairs...))
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
		list := post(t, p, "", "func", "getCategoryPOIList", "category", string(rune('1'+i))).MustSucceed(t)
		counts[i] = len(list.XML().Find("POIList", "*"))
	}
	return counts
}

// probe returns the status and the body of a path of a port; 0 while nobody listens.
func probe(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	client := waybooktest.OnceAt(t, address)
	client.URL = "http://" + address + path
	reply, err := client.Try(client.Request(http.MethodGet, "", nil))
	if err != nil {
		return 0, err.Error()
	}
	return reply.Code, strings.TrimSpace(reply.Body)
}
