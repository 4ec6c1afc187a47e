package connlimit

import (
	"bufio"
	"bytes"
	"net/http"
	"testing"
	"testing/iotest"
)

// FuzzNoFieldIsLeftOut compares the count of lines with net/http, which parses the same bytes.
func FuzzNoFieldIsLeftOut(f *testing.F) {
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\na: b\r\n\r\nc: d\r\n\r\n",
		"POST / HTTP/1.0\na:\nb: c\n d\n\te\n\n\n",
		"\r\n\n\r\nGET / HTTP/1.1\r\nHost: x\r\na: \r\r\n\r\n",
	} {
		f.Add([]byte(text), byte(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, step byte) {
		var whole, parts header
		whole.read(text)
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+int(step))
			parts.read(rest[:n])
			rest = rest[n:]
		}
		if whole != parts {
			t.Fatalf("whole %+v, in parts %+v", whole, parts)
		}

		// Like a server, skip up to four CR and LF. Read byte by byte, so that net/http takes no
		// more than the header.
		skipped := 0
		for skipped < min(4, len(text)) && (text[skipped] == '\r' || text[skipped] == '\n') {
			skipped++
		}
		source := bytes.NewReader(text[skipped:])
		reader := bufio.NewReaderSize(iotest.OneByteReader(source), 16)
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		end := len(text) - source.Len() - reader.Buffered()
		var before, at header
		before.read(text[:end-1])
		at.read(text[:end])
		if before.isOver || !at.isOver || at != whole {
			t.Errorf("the header has %d bytes; before %+v, at %+v, after all %+v", end, before, at, whole)
		}
		fields := 0
		for _, values := range request.Header {
			fields += len(values)
		}
		if at.lines < 1+fields {
			t.Errorf("%d lines, and %d fields after the request line", at.lines, fields)
		}
	})
}
