package operations_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/platform/tracing/tracingtest"
	"github.com/waybook/waybook/internal/waybooktest"
)

// getAlbumTrees are the spans of a getAlbum when no user name is cached.
var getAlbumTrees = map[string]string{
	"one process": `
waybook-standalone server getAlbum
  waybook-standalone server waybook.album.v1.AlbumService/GetAlbum
    waybook-standalone client get albums
    waybook-standalone server waybook.account.v1.AccountService/ListHiddenUsers
      waybook-standalone client scan users
    waybook-standalone server waybook.account.v1.AccountService/BatchGetUsers
      waybook-standalone client get users
`,
	"separate processes": `
waybook-edge server getAlbum
  waybook-edge client waybook.album.v1.AlbumService/GetAlbum
    waybook-album server waybook.album.v1.AlbumService/GetAlbum
      waybook-album client get albums
      waybook-album client waybook.account.v1.AccountService/ListHiddenUsers
        waybook-account server waybook.account.v1.AccountService/ListHiddenUsers
          waybook-account client scan users
      waybook-album client waybook.account.v1.AccountService/BatchGetUsers
        waybook-account server waybook.account.v1.AccountService/BatchGetUsers
          waybook-account client get users
`,
}

func TestOneTraceOfAGetAlbumReachesTheStores(t *testing.T) {
	t.Parallel()
	for name, start := range deployments {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			first := start(t, data)
			album := newAlbum(t, first)
			first.end(t) // also ends the cache of names

			collector := tracingtest.Start(t)
			second := start(t, data, "-otlp-endpoint", collector.URL, "-log-format=json", "-log-level=debug")
			reply := waybooktest.OnceAt(t, second.http).Get(fmt.Sprintf("func=getAlbum&albumID=%d", album)).MustSucceed(t)
			second.end(t)
			if got := "\n" + collector.Tree("getAlbum"); got != getAlbumTrees[name] {
				t.Errorf("the trace is%s\nof %d spans", got, len(collector.Spans()))
			}
			checkAccessLog(t, second, reply.Header.Get("X-Request-Id"), collector)
		})
	}
}

// newAlbum creates an album with an owner.
func newAlbum(t *testing.T, s site) int64 {
	t.Helper()
	accounts := launch.Dial(t, s.account)
	if s.account == s.album {
		return launch.CreateAlbums(t, accounts, "相簿", 1)[0]
	}
	return launch.CreateAlbumsOf(t, launch.Dial(t, s.album), launch.CreateUser(t, accounts, "小旅人"), "相簿", 1)[0]
}

// checkAccessLog checks that the log line of the request has the request id of the reply and the
// trace id of the collector.
func checkAccessLog(t *testing.T, s site, requestID string, collector *tracingtest.Collector) {
	t.Helper()
	edge := s.processes["edge"]
	if edge == nil {
		edge = s.processes["standalone"]
	}
	var trace string
	for _, span := range collector.Spans() {
		if span.GetName() == "getAlbum" {
			trace = hex.EncodeToString(span.GetTraceId())
		}
	}
	for text := range strings.Lines(edge.Logged()) {
		var line struct {
			Msg       string
			Func      string
			RequestID string `json:"request_id"`
			TraceID   string `json:"trace_id"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if line.Msg == "request" && line.Func == "getAlbum" {
			if line.RequestID != requestID || line.TraceID != trace || trace == "" || requestID == "" {
				t.Errorf("the reply has request id %q, the trace id is %q, and the log line is %s", requestID, trace, text)
			}
			return
		}
	}
	t.Errorf("no line of the request in\n%s", edge.Logged())
}
