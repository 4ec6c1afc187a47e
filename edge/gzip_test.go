package edge

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestAReplyIsCompressedOnlyOnRequest(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "deflate, gzip;q=0.5": true, "br;q=1.0, *": true,
		"identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=0, *": false, "*, gzip;q=0": false,
		"*;q=0": false, "gzip;q=x": false, "gzip;v=1": false, "gzipped": false, ",,;,": false,
	} {
		if got := AcceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}

func TestOnlyALongReplyIsCompressed(t *testing.T) {
	for _, size := range []int{1, zipAt} {
		title := strings.Repeat("t", size)
		h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: title}}, nil)})
		r := httptest.NewRequest(http.MethodGet, Path+"?func=getAlbum&albumID=1", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := record(h, r)
		if got, want := w.Header().Get("Content-Length"), strconv.Itoa(w.Body.Len()); got != want {
			t.Errorf("%d: Content-Length %s, want %s", size, got, want)
		}
		if zipped := w.Header().Get("Content-Encoding") == "gzip"; zipped != (size >= zipAt) {
			t.Errorf("%d: compressed is %v", size, zipped)
		}
		if body := plainBody(t, w); !strings.Contains(body, "<albumTitle>"+title+"</albumTitle>") {
			t.Errorf("%d: got %s", size, body)
		}
	}
}

// Several lines of the header count as one list, and the last mention of gzip decides. Without
// gzip or * in the header, nothing is compressed.
func FuzzGzipIsForThoseWhoAskForIt(f *testing.F) {
	for _, line := range []string{"", "gzip", "*;q=0, x-gzip ; Q=0.001", "br;q=1.0, *", "gzip;q=0;q=1", ",;=,", "identity;q=1, *;q=0x1p-1"} {
		f.Add(line, "gzip;q=0")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		accepted := AcceptsGzip([]string{first, second})
		if joined := AcceptsGzip([]string{first + "," + second}); joined != accepted {
			t.Errorf("as two lines %v, as one %v", accepted, joined)
		}
		if asked := strings.ToLower(first + "," + second); accepted && !strings.Contains(asked, "gzip") && !strings.Contains(asked, "*") {
			t.Errorf("compressed without gzip or * in the header")
		}
		if !AcceptsGzip([]string{first, second, "gzip"}) || AcceptsGzip([]string{first, second, "gzip;q=0"}) {
			t.Error("the last mention of gzip did not decide")
		}
	})
}
