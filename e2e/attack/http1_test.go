package attack

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// albums are the identifiers of albums whose titles are marks.
type albums []int64

// mark is in the title of an album, so it says for which request a reply is.
func mark(n int) string { return fmt.Sprintf("mark-%d-", n) }

// request is a request that needs a reply. album is the one that it asks for.
type request struct {
	method string
	album  int64
}

// writer writes the bytes of one connection.
type writer struct {
	random *rand.Rand
	albums albums
	// sent are the requests that need a reply, each with its own. isWild says that requests are malformed in ways that servers
	// disagree about: any number of replies is right.
	sent   []request
	isWild bool
}

// pick returns one of some values. The first is the most frequent, so that most requests are wrong in few ways.
func (w *writer) pick(values ...string) string {
	if w.random.IntN(4) > 0 {
		return values[0]
	}
	return values[w.random.IntN(len(values))]
}

func (w *writer) oneIn(n int) bool { return w.random.IntN(n) == 0 }

// stream returns the requests of a connection. In half of the connections they are well-formed.
func (w *writer) stream() []byte {
	w.isWild = w.oneIn(2)
	var b strings.Builder
	for count := 1 + w.random.IntN(6); count > 0; count-- {
		if w.isWild {
			b.WriteString(w.wild())
		} else {
			b.WriteString(w.plain(count == 1))
		}
	}
	stream := []byte(b.String())
	if w.isWild && w.oneIn(2) {
		for range 1 + w.random.IntN(3) {
			stream = w.mutated(stream)
		}
	}
	return stream
}

// plain returns a well-formed request. A body may hold another one, for an album that no request asks for.
func (w *writer) plain(isLast bool) string {
	number := len(w.sent)
	asks := request{[]string{"GET", "POST", "HEAD", "PUT", "OPTIONS"}[w.random.IntN(5)], w.albums[number]}
	w.sent = append(w.sent, asks)
	form := fmt.Sprintf("func=getAlbum&albumID=%d", asks.album)
	head := asks.method + " " + w.pick("/API.php", "/api.php", "/", "/healthz", "/x") + "?" + form + " HTTP/1.1\r\nHost: localhost\r\n"
	hidden := fmt.Sprintf("GET /API.php?func=getAlbum&albumID=%d HTTP/1.1\r\nHost: localhost\r\n\r\n", w.albums[len(w.albums)-1])
	switch body := w.pick(form, hidden, form+"&y="+strings.Repeat("y", w.random.IntN(100_000))); {
	case asks.method != "POST" && asks.method != "PUT":
		return head + "\r\n"
	case isLast && w.oneIn(2): // a chunked request ends its connection
		return head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body) + hidden
	default:
		return head + fmt.Sprintf("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
}

// mutated returns the stream with a byte or a part of it changed.
func (w *writer) mutated(stream []byte) []byte {
	if len(stream) == 0 {
		return stream
	}
	at := w.random.IntN(len(stream))
	to := min(len(stream), at+1+w.random.IntN(30))
	const telling = "\r\n :\t;,\x00+-0x9\x7f\x80%\v"
	insert := telling[w.random.IntN(len(telling))]
	switch w.random.IntN(6) {
	case 0:
		stream[at] ^= 1 << w.random.IntN(8)
		return stream
	case 1:
		return append(stream[:at:at], append([]byte{insert}, stream[at:]...)...)
	case 2:
		stream[at] = insert
		return stream
	case 3:
		return append(stream[:at:at], stream[at+1:]...)
	case 4:
		return append(stream[:to:to], stream[at:]...) // a part twice
	default:
		return append(stream[:at:at], stream[to:]...)
	}
}

// wild returns a request that is well-formed, or malformed in a way that servers disagree about.
func (w *writer) wild() string {
	method := w.pick("GET", "POST", "POST", "OPTIONS", "PUT", "get", "CONNECT", "M-SEARCH", "G T", "")
	form := fmt.Sprintf("func=getAlbum&albumID=%d", w.albums[w.random.IntN(len(w.albums))])
	target := w.pick("/API.php?"+form, "/api.php?"+form, "/x", "/", "/API.php", "/healthz", "/readyz", "/metrics",
		"*", "http://x/API.php?"+form, "/%zz", "/\x01", "//x", "/API.php?"+strings.Repeat("x", 9000), "")
	lines := []string{"Host: " + w.pick("localhost", "", "a b", "x\r\nHost: y", "[::1]:80", "127.0.0.1"), "X-Filler: x"}
	if w.oneIn(20) {
		lines = lines[1:]
	}
	if w.oneIn(3) {
		lines = append(lines, w.pick("Connection: keep-alive", "Connection: close", "Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA",
			"Expect: 100-continue", "Expect: 200-maybe", "Accept-Encoding: gzip", "Cookie: id=1; idrand="+strings.Repeat("0", 32),
			"Range: bytes=0-0", "X-Folded: a\r\n b", "X-Folded: a\r\n Content-Length: 3", "X-Bare: a\rContent-Length: 3", "X-NUL: \x00",
			"X Y: z", "X-Y : z", ": empty", "no colon", strings.Repeat("A: b\r\n", 120)+"B: c", "Long: "+strings.Repeat("x", 40_000),
			"X-High: \xe5\xff", "Trailer: X-Filler", "If-None-Match: *"))
	}
	body := ""
	if method != "GET" && !w.oneIn(4) || w.oneIn(8) {
		framing := ""
		framing, body = w.body(form)
		lines = append(lines, framing, "Content-Type: "+w.pick("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"))
		if w.oneIn(2) {
			target = "/API.php"
		}
	}
	if w.oneIn(20) {
		method, target = "OPTIONS", "*" // which net/http would answer itself
	}
	w.random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	version := w.pick("HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.0\r\nConnection: keep-alive", "HTTP/1.2", "HTTP/0.9", "HTTP/2.0", "http/1.1", "")
	end := w.pick("\r\n", "\r\n", "\r\n", "\n")
	return method + " " + target + " " + version + end + strings.Join(lines, end) + end + end + body
}

// body returns a body and the fields that say how long it is.
func (w *writer) body(form string) (framing, body string) {
	body = form
	switch w.random.IntN(6) {
	case 0:
		body = "GET /API.php?" + form + " HTTP/1.1\r\nHost: localhost\r\n\r\n"
	case 1:
		body = ""
	case 2:
		body = form + "&y=" + strings.Repeat("y", w.random.IntN(300_000)>>w.random.IntN(12))
	}
	if w.oneIn(2) {
		length := w.pick(fmt.Sprint(len(body)), "+"+fmt.Sprint(len(body)), "00"+fmt.Sprint(len(body)), fmt.Sprint(len(body)+1),
			fmt.Sprint(len(body)/2), "0", "-1", "0x10", "", "18446744073709551616", "9223372036854775807", "5, 5",
			fmt.Sprintf("%d\r\nContent-Length: %d", len(body), len(body)), fmt.Sprintf("0\r\nContent-Length: %d", len(body)))
		return w.pick("Content-Length: ", "content-length:", "Content-Length:\t", "Content-Length : ", "Content-Length:\r\n ") + length, body
	}
	framing = w.pick("Transfer-Encoding: chunked", "transfer-encoding:\tChunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
		"Content-Length: "+fmt.Sprint(len(body))+"\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
		"Transfer-Encoding: xchunked", "Transfer-Encoding:\vchunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked, identity", "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: chunked;q=1", "Transfer-Encoding:")
	return framing, w.chunked(body)
}

// chunked returns a body in chunks.
func (w *writer) chunked(body string) string {
	var b strings.Builder
	for body != "" {
		size := min(len(body), 1+w.random.IntN(1+len(body)))
		fmt.Fprintf(&b, w.pick("%x", "%X", "0%x", "0x%x", "-%x", "%x ", " %x", "%x;"), size)
		b.WriteString(w.pick("\r\n", ";a=b\r\n", ";a=\"\r\n\"\r\n", ";"+strings.Repeat("x", 5000)+"\r\n", "\n", "\r", "zz\r\n"))
		b.WriteString(body[:size])
		b.WriteString(w.pick("\r\n", "\n", "", "x\r\n", "\r\r\n"))
		body = body[size:]
	}
	b.WriteString("0" + w.pick("\r\n", ";a=b\r\n", "\n"))
	b.WriteString(w.pick("", "X-Trailer: y\r\n", "Content-Length: 7\r\n", "Host: y\r\n", "bad\r\n"))
	b.WriteString(w.pick("\r\n", "\n", ""))
	return b.String()
}
