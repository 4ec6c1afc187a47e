package edge

import (
	"io"
	"net/http"
	"strings"
	"testing"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestOneAddressSendsOnlySoManyLongReplies(t *testing.T) {
	more := make(chan struct{})
	server := serve(t, &fakes{pois: func(_ *poiv1.StreamPoisRequest, s poiStream) error {
		if err := sendPois(s, 4); err != nil {
			return err
		}
		select {
		case <-more:
		case <-s.Context().Done():
		}
		return sendPois(s, 1)
	}}, func(c *Config) {
		c.TrustedProxies = proxies(t, "1")
		c.Load = newLoad(&Flags{MaxLongReplies: 10, ClientLongReplies: 2})
	})
	// read begins to read a list as a client of the proxy.
	read := func(client string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+listPois, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "198.51.100.1, "+client)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		if _, err := io.ReadFull(response.Body, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return response
	}
	first := []*http.Response{read("192.0.2.1"), read("192.0.2.1")}
	third := read("192.0.2.1")
	if body := readAll(t, third.Body); third.StatusCode != http.StatusTooManyRequests || third.Header.Get("Retry-After") != "1" ||
		third.Header.Get("X-Waybook-Reason") != "TOO_MANY_LONG_REPLIES" || !strings.HasSuffix(body, "<info>TOO MANY LONG REPLIES</info></response>") {
		t.Errorf("a third list of one address: %d %v %s", third.StatusCode, third.Header, body)
	}
	other := read("192.0.2.2")
	close(more)
	for _, response := range append(first, other) {
		if got := strings.Count(readAll(t, response.Body), "<name>"); response.StatusCode != 200 || got != 2500 {
			t.Errorf("%d, %d landmarks", response.StatusCode, got)
		}
	}
	for range 3 { // one after the other
		if response := read("192.0.2.1"); response.StatusCode != 200 || strings.Count(readAll(t, response.Body), "<name>") != 2500 {
			t.Errorf("after the others: %d", response.StatusCode)
		}
	}
}

func TestARefusalByAllLongRepliesReturnsThePlaceOfTheClient(t *testing.T) {
	load := newLoad(&Flags{MaxLongReplies: 1, ClientLongReplies: 1})
	other := turn{load: &load, address: func() string { return "192.0.2.1" }}
	if err := other.goLong(); err != nil {
		t.Fatal(err)
	}
	own := turn{load: &load, address: func() string { return "192.0.2.2" }}
	if err := own.goLong(); err == nil {
		t.Fatal("a second long reply was accepted")
	}
	own.end()
	other.end()
	for range 2 {
		if err := own.goLong(); err != nil {
			t.Errorf("with free slots: %v", err)
		}
		own.end()
	}
	nameless := turn{load: &load, address: func() string { return "" }}
	if err := nameless.goLong(); err != nil {
		t.Errorf("a client without an address: %v", err)
	}
	nameless.end()
}
