package edge

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/clients"
)

func TestAPanicIsLoggedWithoutRequestData(t *testing.T) {
	var log bytes.Buffer
	h := New(Config{
		// The clients have no connections, so every call panics on nil.
		Clients: clients.Of(nil, nil, nil, nil),
		Zone:    time.UTC, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader("func=addAlbum&albumTitle=s3cr3t&category=1&lat=1&lng=2"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", demoCookie)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if n := strings.Count(log.String(), "request failed"); w.Code != http.StatusOK || n != 1 {
		t.Errorf("status %d, logged %d times", w.Code, n)
	}
	if !strings.Contains(w.Body.String(), "INTERNAL ERROR") || !strings.Contains(log.String(), "panic:") || !strings.Contains(log.String(), "session.go") {
		t.Errorf("replied %s and logged %s", w.Body, log.String())
	}
	for _, secret := range []string{"s3cr3t", demoToken} {
		if strings.Contains(log.String()+w.Body.String(), secret) {
			t.Errorf("the log contains %s: %s", secret, log.String())
		}
	}
}
