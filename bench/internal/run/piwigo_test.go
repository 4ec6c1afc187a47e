package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAReplyWithoutItsContentIsRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, "<content>text</content><content>text</content>"); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	at := gallerySide([]string{"pwg_id=1", "pwg_id=2"}, "GET /ws.php", "", map[string]int{"<content>": 2})
	if err := at.check(address); err != nil {
		t.Error(err)
	}
	at.holds["<content>"] = 3
	if err := at.check(address); err == nil || !strings.Contains(err.Error(), "2 times, want 3") {
		t.Errorf("got %v", err)
	}
}
