package programs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/waybooktest"
)

// The site of docs/moving-in.md for the evening of a move lets reads through to the old service, and nothing else.
func TestTheSiteOfTheEveningClosesAnOldServiceForWrites(t *testing.T) {
	t.Parallel()
	examples.Need(t, "nginx")
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "of old") }))
	defer old.Close()
	address, behind := launch.Address(t), launch.Address(t)
	site := replaced(t, strings.ReplaceAll(example(t, "proxy/evening.conf"), "127.0.0.1:8078", behind), "listen 80;", "listen "+address+";", "http://127.0.0.1:8079", old.URL)
	program, environment, args := nginxWith(t, site)
	process := launch.Begin(t, program, environment, args...)
	t.Cleanup(func() { process.End(syscall.SIGTERM) }) // SIGKILL would leave nginx's workers behind
	awaitListening(t, program, process, behind)
	client := waybooktest.ClientAt(t, address)
	expect := func(isOpen bool, method, path, body, kind string) {
		t.Helper()
		client.URL = "http://" + address + path
		request := client.Request(method, "", strings.NewReader(body))
		request.Header.Set("Content-Type", kind)
		reply := client.Send(request)
		want, status := "of old", http.StatusOK
		if !isOpen {
			want, status = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>FAILED</status><info>SERVICE BUSY</info></response>", http.StatusServiceUnavailable
		}
		hasHeader := reply.Header.Get("Retry-After") != "" && reply.Header.Get("Content-Type") == "text/xml; charset=utf-8"
		if reply.Body != want || reply.Code != status || !isOpen && !hasHeader {
			t.Errorf("%s %s %.80q: %d %v %s", method, path, body, reply.Code, reply.Header, reply.Body)
		}
	}
	const form = "application/x-www-form-urlencoded"
	for _, each := range edge.Operations() {
		isRead, query := each.Effect == operation.Reads, "x=func%3DgetPOI&func="+each.Func
		expect(isRead, http.MethodGet, "/API.php?"+query, "", "")
		expect(isRead, http.MethodPost, "/API.php", query+"&y=1", form)
	}
	expect(true, http.MethodGet, "/upload/5/31.jpg?func=addAlbum", "", "")
	expect(false, http.MethodPost, "/album/new", "title=x", form)
	expect(false, http.MethodPost, "/API.php?func=getPOI", "func=addAlbum", form)
	expect(false, http.MethodPost, "/API.php", "title="+strings.Repeat("x", 1<<20)+"&func=addAlbum", form)
	expect(false, http.MethodPost, "/API.php", "--x\r\nContent-Disposition: form-data; name=\"func\"\r\n\r\naddAlbum\r\n--x--\r\n", "multipart/form-data; boundary=x")
}
