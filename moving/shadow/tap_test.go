package shadow

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/peer"
)

func TestACopyIsBoundedAndTheClientGetsEverything(t *testing.T) {
	for _, test := range []struct {
		limit, kept int
		isTooLong   bool
	}{{10, 10, false}, {9, 0, true}, {0, 0, true}} {
		client := httptest.NewRecorder()
		tap := &tap{ResponseWriter: client, copied: copied{limit: test.limit}}
		for range 2 {
			if _, err := io.WriteString(tap, "12345"); err != nil {
				t.Fatal(err)
			}
		}
		if client.Body.String() != "1234512345" || tap.length != 10 || tap.status != http.StatusOK || len(tap.bytes) != test.kept || tap.isTooLong != test.isTooLong {
			t.Errorf("%+v: %+v, the client got %q", test, tap, client.Body)
		}
	}
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", maxBody+1)))
	copied := copyBody(request, nil)
	read, err := io.ReadAll(request.Body)
	if text, isTooLong := copied.text(); err != nil || len(read) != maxBody+1 || text != "" || !isTooLong {
		t.Errorf("%d bytes, %v, %d copied", len(read), err, len(text))
	}
}

func TestACompressedReplyIsBounded(t *testing.T) {
	var zipped bytes.Buffer
	zipper := gzip.NewWriter(&zipped)
	_, _ = zipper.Write(make([]byte, maxReply+1))
	_ = zipper.Close()
	if _, err := unzip(zipped.Bytes(), "gzip"); !errors.Is(err, peer.ErrTooLong) {
		t.Errorf("got %v", err)
	}
	for _, encoding := range []string{"br", "gzip, gzip"} {
		if _, err := unzip(zipped.Bytes(), encoding); err == nil {
			t.Errorf("%s is known", encoding)
		}
	}
	if _, err := unzip([]byte("text"), "gzip"); err == nil {
		t.Error("text is compressed")
	}
}
