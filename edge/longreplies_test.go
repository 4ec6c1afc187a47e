package edge

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestOneAddressSendsOnlySoManyLongReplies(t *testing.T) {
	more := make(chan struct{})
	server := serve(t, &fakes{pois: pausing(4, more)}, func(c *Config) {
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

func TestAReplyOfOneLongTextIsALongReply(t *testing.T) {
	album := &albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: strings.Repeat("t", 2*sendAt)}}
	load := newLoad(&Flags{MaxLongReplies: 1})
	h := newEdge(t, &fakes{answer: always(album, nil)}, func(c *Config) { c.Load = load })
	for _, each := range []struct {
		taken int64
		want  int
	}{{0, 200}, {listBytes - 3*sendAt, 200}, {listBytes - 2*sendAt, 503}} {
		if !load.LongReplyBytes.TryEnter(each.taken) {
			t.Fatal("the reply before has not left")
		}
		w := get(h, readAlbum)
		if w.Code != each.want || each.want == 200 && !strings.HasSuffix(w.Body.String(), "</response>") {
			t.Errorf("beside %d bytes: %d %.200s", each.taken, w.Code, w.Body)
		}
		load.LongReplyBytes.Leave(each.taken)
	}
	if got := load.LongReplyBytes.Stats(); got.Inside != 0 {
		t.Errorf("%+v", got)
	}
}

// oneConnection is a listener with one connection, whose other end is client.
type oneConnection struct {
	connections chan net.Conn
	client      net.Conn
}

func listenOnce() oneConnection {
	client, server := net.Pipe()
	l := oneConnection{make(chan net.Conn, 1), client}
	l.connections <- server
	return l
}

func (l oneConnection) Accept() (net.Conn, error) {
	if c, ok := <-l.connections; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l oneConnection) Close() error   { close(l.connections); return nil }
func (l oneConnection) Addr() net.Addr { return l.client.RemoteAddr() }

func TestEachPieceOfAWholeReplyHasADeadlineOfItsOwn(t *testing.T) {
	album := &albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: strings.Repeat("t", 5*sendAt)}}
	for pause, isWhole := range map[time.Duration]bool{DefaultWriteTimeout - time.Second: true, DefaultWriteTimeout + time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			l := listenOnce()
			server := http.Server{Handler: newEdge(t, &fakes{answer: always(album, nil)})}
			go func() { _ = server.Serve(l) }()
			defer func() { _ = server.Close() }()
			if _, err := io.WriteString(l.client, "GET "+Path+"?"+readAlbum+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			got, piece := "", make([]byte, sendAt)
			for {
				n, err := io.ReadFull(l.client, piece)
				got += string(piece[:n])
				if err != nil {
					break
				}
				time.Sleep(pause)
			}
			if strings.HasSuffix(got, "</response>") != isWhole {
				t.Errorf("a client that pauses for %v got %d bytes", pause, len(got))
			}
		})
	}
}

func TestARefusalByAllLongRepliesReturnsThePlaceOfTheClient(t *testing.T) {
	load := newLoad(&Flags{MaxLongReplies: 1, ClientLongReplies: 1})
	other := turn{load: &load, address: func() string { return "192.0.2.1" }}
	if err := other.goLong(listBytes); err != nil {
		t.Fatal(err)
	}
	own := turn{load: &load, address: func() string { return "192.0.2.2" }}
	if err := own.goLong(listBytes); err == nil {
		t.Fatal("a second long reply was accepted")
	}
	own.end()
	other.end()
	for range 2 {
		if err := own.goLong(listBytes); err != nil {
			t.Errorf("with free slots: %v", err)
		}
		own.end()
	}
	nameless := turn{load: &load, address: func() string { return "" }}
	if err := nameless.goLong(listBytes); err != nil {
		t.Errorf("a client without an address: %v", err)
	}
	nameless.end()
}
