package process_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

// startAdmin serves an admin port and returns its address.
func startAdmin(t *testing.T, hasProfiles bool) string {
	t.Helper()
	env := newEnv(t)
	env.HasProfiles = hasProfiles
	address, err := env.Admin(t.Context(), "127.0.0.1:0", process.NewReadiness(), process.NewMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stack.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return "http://" + address.String()
}

func fetch(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	// A kept-alive connection would delay the server's stop.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestProfilesAreServedOnlyWhenEnabled(t *testing.T) {
	off, on := startAdmin(t, false), startAdmin(t, true)
	for _, path := range []string{"", "heap", "goroutine", "profile?seconds=0.01", "trace?seconds=0.01"} {
		if response, _ := fetch(t, off+"/debug/pprof/"+path); response.StatusCode != http.StatusNotFound {
			t.Errorf("%q is served although profiles are disabled: %s", path, response.Status)
		}
		response, body := fetch(t, on+"/debug/pprof/"+path)
		if response.StatusCode != http.StatusOK || body == "" {
			t.Errorf("%q: %s", path, response.Status)
		}
	}
	if _, body := fetch(t, on+"/debug/pprof/heap?gc=1"); !isZipped(body) {
		t.Error("the heap profile is not in pprof's format")
	}
	if _, body := fetch(t, on+"/healthz"); body != "ok\n" {
		t.Errorf("health: %s", body)
	}
}

func isZipped(body string) bool {
	_, err := gzip.NewReader(strings.NewReader(body))
	return err == nil
}

func TestProfilesDoNotExposeTheCommandLine(t *testing.T) {
	on := startAdmin(t, true)
	for _, path := range []string{"cmdline", "symbol", "nonsense"} {
		if response, _ := fetch(t, on+"/debug/pprof/"+path); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

func TestTheDefaultMuxServesNoProfiles(t *testing.T) {
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap"} {
		r, err := http.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, pattern := http.DefaultServeMux.Handler(r); pattern != "" {
			t.Errorf("%s is at %s of the default mux", path, pattern)
		}
	}
}
