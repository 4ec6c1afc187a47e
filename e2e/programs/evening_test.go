package programs_test

import (
	"errors"
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
)

// The site of docs/moving-in.md for the evening of a move lets reads through to the old service, and nothing else.
func TestTheSiteOfTheEveningClosesAnOldServiceForWrites(t *testing.T) {
	t.Parallel()
	examples.Need(t, "nginx")
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "of old") }))
	defer old.Close()
	address, behind := launch.Address(t), launch.Address(t)
	for _, block := range blocks {
		if block.Language != "nginx" || !strings.Contains(block.Text, "$closed") {
			continue
		}
		text := strings.ReplaceAll(block.Text, "127.0.0.1:8078", behind)
		program, environment, args := nginxWith(t, replaced(t, text, "listen 80;", "listen "+address+";", "http://127.0.0.1:8079", old.URL))
		process := launch.Begin(t, program, environment, args...)
		t.Cleanup(func() { process.End(syscall.SIGTERM) }) // SIGKILL would leave nginx's workers behind
		awaitListening(t, program, process, behind)
	}
	expect := func(isOpen bool, method, path, body, kind string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reply.Body)
		if err := errors.Join(err, reply.Body.Close()); err != nil {
			t.Fatal(err)
		}
		want, status := "of old", http.StatusOK
		if !isOpen {
			want, status = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>FAILED</status><info>SERVICE BUSY</info></response>", http.StatusServiceUnavailable
		}
		hasHeader := reply.Header.Get("Retry-After") != "" && reply.Header.Get("Content-Type") == "text/xml; charset=utf-8"
		if string(text) != want || reply.StatusCode != status || !isOpen && !hasHeader {
			t.Errorf("%s %s %.80q: %d %v %s", method, path, body, reply.StatusCode, reply.Header, text)
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
