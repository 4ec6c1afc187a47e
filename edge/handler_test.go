package edge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestEveryReplyCarriesTheSameHeaders(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)})
	// Only for XML does a browser add styles and images of its own.
	policies := map[string]string{
		"text/xml; charset=utf-8":         "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
		"application/json; charset=utf-8": "default-src 'none'; frame-ancestors 'none'",
	}
	for form, contentType := range map[string]string{
		"func=getAlbum&albumID=1":                     "text/xml; charset=utf-8",
		"func=getAlbum":                               "text/xml; charset=utf-8",
		"func=getAlbum&albumID=1&responseFormat=jSoN": "application/json; charset=utf-8",
		"func=nothing&responseFormat=JSON":            "application/json; charset=utf-8",
		"func=getAlbum&albumID=1&responseFormat=xml":  "text/xml; charset=utf-8",
	} {
		header := get(h, form).Header()
		for name, want := range map[string]string{
			"Content-Type": contentType, "Cache-Control": "no-store",
			"Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": policies[contentType],
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", form, name, got, want)
			}
		}
	}
}

func TestAServiceWithoutAnAnswerIsATimeout(t *testing.T) {
	wait := func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		h := newEdge(t, &fakes{answer: wait})
		// A session that cannot be verified in time is not closed.
		write := httptest.NewRequest(http.MethodPost, Path, strings.NewReader("func=updateAlbum&albumID=1&albumTitle=x"))
		write.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		write.Header.Set("Cookie", "id=7; idrand="+lateToken)
		for _, w := range []*httptest.ResponseRecorder{get(h, "func=getAlbum&albumID=1"), record(h, write)} {
			if w.Code != http.StatusServiceUnavailable || w.Body.String() != failed("SERVICE TIMEOUT") || w.Header().Get("Retry-After") == "" {
				t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
			}
		}
	})
}

func TestObserveIsCalledOncePerRequest(t *testing.T) {
	var seen []string
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(c *Config) {
		c.Observe = func(_ *http.Request, a Answer) {
			seen = append(seen, fmt.Sprintf("%s %s %d %d", a.Function, a.Reason, a.Status, a.Bytes))
		}
	})
	for _, query := range []string{"func=getAlbum&albumID=1", "func=getAlbum", "func=whatever%20it%20is"} {
		seen = nil
		w := get(h, query)
		reason := w.Header().Get("X-Waybook-Reason")
		function, _, _ := strings.Cut(strings.TrimPrefix(query, "func="), "&")
		if strings.HasPrefix(function, "what") {
			function = ""
		}
		if want := fmt.Sprintf("%s %s 200 %d", function, reason, w.Body.Len()); len(seen) != 1 || seen[0] != want {
			t.Errorf("got %q, want %q", seen, want)
		}
	}
}

// Exchanges are reused. Data of one request must never appear in the reply to another.
func TestConcurrentRequestsShareNoData(t *testing.T) {
	echo := func(_ context.Context, request proto.Message) (proto.Message, error) {
		id := request.(*albumv1.GetAlbumRequest).GetAlbumId()
		return &albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: strings.Repeat("t", int(id))}}, nil
	}
	h := newEdge(t, &fakes{answer: echo})
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := 1; i <= 100; i++ {
				id := worker*100 + i
				w := get(h, "func=getAlbum&albumID="+strconv.Itoa(id))
				if !strings.Contains(w.Body.String(), "<albumTitle>"+strings.Repeat("t", id)+"</albumTitle>") {
					t.Errorf("%d got %s", id, w.Body)
				}
				if w = get(h, "func=getAlbum"); w.Body.String() != failed("MISSING PARAMETER: albumID") {
					t.Errorf("%d got %s", id, w.Body)
				}
			}
		})
	}
	group.Wait()
}
