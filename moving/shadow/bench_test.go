package shadow

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// BenchmarkCompare measures one comparison with all that belongs to it: the request to an old server
// on loopback, whose own work is in the figure, too, and the reading of both replies.
func BenchmarkCompare(b *testing.B) {
	for _, count := range []int{0, 10} {
		var comments strings.Builder
		for i := range count {
			fmt.Fprintf(&comments, "<comment%d><time>2008-03-05 09:07:31</time><commenterName>小明</commenterName><comment>%s</comment></comment%d>", i+1, strings.Repeat("好", 50), i+1)
		}
		reply := "<response><status>SUCCESS</status><albumTitle>a</albumTitle><comments>" + comments.String() + "</comments></response>"
		b.Run(fmt.Sprintf("comments=%d", count), func(b *testing.B) {
			old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(reply)) }))
			defer old.Close()
			config := Config{Zone: time.UTC, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}
			if err := config.Flags.Shadow.Set(old.URL); err != nil {
				b.Fatal(err)
			}
			s := New(config)
			compared := job{request: request{method: http.MethodGet, query: "func=getAlbum&albumID=1"}, status: http.StatusOK, body: []byte(reply)}
			b.ReportAllocs()
			for b.Loop() {
				s.compare(b.Context(), compared)
			}
		})
	}
}
