package attack

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// What frame says of bytes. A letter stands for a request: r if it needs an answer, o if it may have one, m if it is
// malformed.
func TestBytesAreFramedAsTheStandardFramesThem(t *testing.T) {
	const (
		get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		post = "POST / HTTP/1.1\r\nHost: x\r\n"
	)
	for stream, want := range map[string]string{
		get: "r", get + get: "rr", strings.ReplaceAll(get, "\r", ""): "r", get + "\r\n" + get + get: "roo",
		post + "Content-Length: 3\r\n\r\n" + "abc" + get:                                 "rr",
		post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n" + "abc" + get:            "oo",
		post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n" + "abc" + get:            "m",
		post + "Content-Length: +3\r\n\r\n" + "abc" + get:                                "m",
		post + "Content-Length: 3\r\n\r\n" + "ab":                                        "o",
		post + "Content-Length : 3\r\n\r\n" + "abc" + get:                                "m",
		post + "X: a\r\n Content-Length: 3\r\n\r\n" + get:                                "oo",
		post + "X: a\rContent-Length: 3\r\n\r\n" + get:                                   "m",
		post + "Transfer-Encoding: chunked\r\n\r\n" + "1\r\na\r\n0\r\n\r\n" + get:        "r",
		post + "Transfer-Encoding: chunked\r\n\r\n" + "1\r\nab\r\n0\r\n\r\n" + get:       "o",
		post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + "0\r\n\r\n" + get:            "m",
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + get:                    "o",
		"GET / HTTP/1.0\r\n\r\n" + get:                                                   "r",
		"GET / HTTP/1.1\r\n\r\n" + get:                                                   "m",
		"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + get:                             "m",
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n" + get:                "r",
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: 0 close\r\n\r\n" + get:                 "oo",
		"GET / HTTP/2.0\r\nHost: x\r\n\r\n" + get:                                        "m",
		"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n" + get:                                     "m",
		"GET / HTTP/1.1\r\nHost: x\r\n":                                                  "o",
		"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("x", 40_000) + "\r\n\r\n":    "o",
		strings.Repeat("y", 9_000) + get + get:                                           "oo",
		"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 120) + "\r\n" + get: "oo",
	} {
		got := ""
		for _, m := range frame([]byte(stream)) {
			switch {
			case m.isMalformed:
				got += "m"
			case m.isRequired:
				got += "r"
			default:
				got += "o"
			}
		}
		if got != want {
			t.Errorf("%.200q is %s, want %s", stream, got, want)
		}
	}
}

func TestWrongRepliesAreFound(t *testing.T) {
	reply := func(status, header, body string) string {
		return "HTTP/1.1 " + status + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" + header + "\r\n" + body
	}
	get := "GET /?" + mark(3) + " HTTP/1.1\r\nHost: x\r\n\r\n"
	hidden := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\nx" + mark(1000) + "y"
	for name, c := range map[string]struct{ sent, received, want string }{
		"right":          {get + get, reply("200 OK", "", mark(3)) + reply("308 X", "Location: /"+mark(3)+"\r\n", ""), ""},
		"right, interim": {get, "HTTP/1.1 100 Continue\r\n\r\n" + reply("200 OK", "", ""), ""},
		"right, of chunks": {
			"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nmar\r\n4\r\nk-3-\r\n0\r\n\r\n", reply("200 OK", "", mark(3)), "",
		},
		"one too few":               {get + get, reply("200 OK", "", ""), "need one"},
		"one too many":              {get, reply("200 OK", "", "") + reply("200 OK", "", ""), "2 replies to 1"},
		"of another request":        {get + hidden, reply("200 OK", "", "") + reply("200 OK", "", mark(3)), "not in the request"},
		"of bytes in a body":        {hidden + get, reply("200 OK", "", "") + reply("200 OK", "", mark(1000)), "not in the request"},
		"after the last":            {get + get, reply("200 OK", "Connection: close\r\n", "") + reply("200 OK", "", ""), "closes the connection"},
		"INTERNAL":                  {get, reply("503 X", "X-Waybook-Reason: INTERNAL_ERROR\r\n", ""), "INTERNAL"},
		"a malformed one is served": {"GET / HTTP/1.1\r\n\r\n", reply("200 OK", "", ""), "malformed"},
		"no reply":                  {get, reply("200 OK", "", "") + "junk", "begins with"},
	} {
		err := judge(nil, frame([]byte(c.sent)), []byte(c.received), false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestWrongFramesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		// status has the streams that get a reply, with its status.
		status  map[uint32]string
		repeats bool
		isGone  bool
		want    string
	}{
		"right":           {status: map[uint32]string{1: "0", 3: "5"}},
		"one too few":     {status: map[uint32]string{1: "0"}, want: "need a reply"},
		"twice":           {status: map[uint32]string{1: "0", 3: "5"}, repeats: true, want: "has ended"},
		"not opened":      {status: map[uint32]string{1: "0", 3: "5", 7: "0"}, want: "not opened"},
		"without status":  {status: map[uint32]string{1: "", 3: "5"}, want: "not with a status"},
		"INTERNAL":        {status: map[uint32]string{1: "0", 3: "13"}, want: "INTERNAL"},
		"without a cause": {status: map[uint32]string{1: "0", 3: "5"}, isGone: true, want: "ends a connection"},
	} {
		sent := newFrameWriter(rand.New(rand.NewPCG(1, 2)), albums{1})
		sent.call()
		sent.call()
		replies := newFrameWriter(sent.random, nil)
		for id, status := range c.status {
			replies.status(id, status)
			if c.repeats {
				replies.status(id, status)
			}
		}
		if c.isGone {
			check(replies.frames.WriteGoAway(3, http2.ErrCodeNo, nil))
		}
		err := judgeFrames(sent, replies.out.Bytes(), false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// status writes the end of a reply.
func (w *frameWriter) status(id uint32, status string) {
	w.block.Reset()
	for _, field := range []hpack.HeaderField{{Name: ":status", Value: "200"}, {Name: "grpc-status", Value: status},
		{Name: "grpc-message", Value: "internal error; the cause is in the log of the service"}} {
		check(w.fields.WriteField(field))
	}
	check(w.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: w.block.Bytes(), EndHeaders: true, EndStream: true}))
}
