package operations_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// legacyClient is a client of a process with an edge, behind a proxy that reports its address.
type legacyClient struct {
	t      *testing.T
	edge   *launch.Process
	user   int64
	cookie string
}

// fail sends a form that fails, and returns the request id of the reply.
func (c legacyClient) fail(address, form string) (id string) {
	c.t.Helper()
	client := waybooktest.OnceAt(c.t, c.edge.HTTP).WithCookie(c.cookie)
	client.Header.Set("X-Forwarded-For", "198.51.100.1, "+address)
	reply := client.Post(form)
	if reply.Text("status") != "FAILED" {
		c.t.Fatalf("%s: %s", form, reply.Body)
	}
	return reply.Header.Get("X-Request-Id")
}

// expect waits for the one line of a failure: the fields between its message and its request id.
func (c legacyClient) expect(level, id, fields string) {
	c.t.Helper()
	c.edge.AwaitLog("request_id=" + id)
	want := regexp.MustCompile(`(?m)^time=\S+ level=` + level + ` msg="request failed" program=\S+ ` + fields + ` request_id=` + id + "$")
	if logged := c.edge.Logged(); len(want.FindAllString(logged, -1)) != 1 || strings.Count(logged, id) != 1 {
		c.t.Errorf("no line, or not only one, is %v in\n%s", want, logged)
	}
}

func TestAFailingClientIsFoundInTheLog(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T, args ...string) map[string]*launch.Process{
		"one process": func(t *testing.T, args ...string) map[string]*launch.Process {
			p := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), append(args, "-demo=false")...)
			return map[string]*launch.Process{"edge": p, "account": p}
		},
		"separate processes": func(t *testing.T, args ...string) map[string]*launch.Process {
			started := launch.StartServices(t, binaries, t.TempDir())
			started["edge"] = launch.StartEdge(t, binaries, started, nil, append(args, "-access-log=false")...)
			return started
		},
	} {
		t.Run(name, func(t *testing.T) {
			programs := start(t, "-trusted-proxies=1")
			accounts := launch.Dial(t, programs["account"].GRPC)
			c := legacyClient{t: t, edge: programs["edge"], user: launch.CreateUser(t, accounts, "小旅人")}
			opened, err := accountv1.NewAccountServiceClient(accounts).OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: c.user})
			if err != nil {
				t.Fatal(err)
			}
			c.cookie = cookieOf(c.user, opened.GetToken())
			of := func(address string) string { return fmt.Sprintf(" user_id=%d client_address=%s", c.user, address) }
			last := c.fail("192.0.2.7", "func=addAlbum&category=1&lat=25&lng=121")
			c.expect("INFO", last, "func=addAlbum status=200 reason=MISSING_PARAMETER"+of("192.0.2.7"))
			c.expect("INFO", c.fail("2001:db8:1:2:3::4", "func=addComment&albumID=1&comment=secret"),
				"func=addComment service=waybook.comment.v1.CommentService method=AddComment code=NotFound status=200 reason=ALBUM_NOT_FOUND"+of("2001:db8:1:2::/64"))
			c.findByTheGuide(last)
			stranger := c
			stranger.cookie = cookieOf(c.user, wrongToken)
			stranger.expect("INFO", stranger.fail("192.0.2.7", "func=addAlbum"),
				"func=addAlbum service=waybook.account.v1.AccountService method=VerifySession code=Unauthenticated status=200 reason=LOGIN_REQUIRED"+of("192.0.2.7"))
			c.flood()
			if album := programs["album"]; album != nil {
				album.End(syscall.SIGTERM)
				programs["poi"].End(syscall.SIGTERM)
				const from = "192.0.2.10"
				c.expect("WARN", c.fail(from, "func=addAlbum&category=1&lat=25&lng=121&albumTitle=secret"),
					"func=addAlbum service=waybook.album.v1.AlbumService method=CreateAlbum code=Unavailable status=503 reason=SERVICE_UNAVAILABLE"+
						of(from)+` error=".*connection refused.*"`)
				c.expect("WARN", c.fail(from, "func=getCategoryPOIList&category=1"),
					"func=getCategoryPOIList service=waybook.poi.v1.PoiService method=ListPois code=Unavailable status=503 "+
						"reason=SERVICE_UNAVAILABLE client_address="+from+` error=".*connection refused.*"`)
			}
			if strings.Contains(c.edge.Logged(), "secret") || strings.Contains(c.edge.Logged(), wrongToken) {
				t.Errorf("the log has a text of a field, or a token:\n%s", c.edge.Logged())
			}
		})
	}
}

// flood fails often. An address has a few lines, and the next line of another one counts the rest, as a metric does.
func (c legacyClient) flood() {
	c.t.Helper()
	const failures, most = 40, 10
	for range failures {
		c.fail("192.0.2.8", "func=getAlbum&albumID=1")
	}
	next := c.fail("192.0.2.9", "func=getAlbum&albumID=1")
	c.edge.AwaitLog("request_id=" + next)
	lines := strings.Count(c.edge.Logged(), "client_address=192.0.2.8 ")
	if lines == 0 || lines > most {
		c.t.Errorf("%d lines about one address", lines)
	}
	c.expect("INFO", next, fmt.Sprintf("func=getAlbum service=waybook.album.v1.AlbumService method=GetAlbum code=NotFound status=200 "+
		"reason=ALBUM_NOT_FOUND client_address=192.0.2.9 left_out=%d", failures-lines))
	if counted, _ := launch.Metric(c.t, c.edge.Admin, "waybook_edge_failures_left_out_total"); counted != float64(failures-lines) {
		c.t.Errorf("the metric has %v failures, and %d of %d have lines", counted, lines, failures)
	}
}

// findByTheGuide runs the searches of docs/operations.md in the log. Each finds the failure with the id.
func (c legacyClient) findByTheGuide(id string) {
	c.t.Helper()
	folder := c.t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "log"), []byte(c.edge.Logged()), 0o600); err != nil {
		c.t.Fatal(err)
	}
	here := strings.NewReplacer("4503599627370496", fmt.Sprint(c.user), "6f0c19a3b5d24e7f8a91c2d3e4f50617", id)
	searches := commandLines(c.t, "grep")
	if len(searches) != 3 {
		c.t.Errorf("the guide has %d searches", len(searches))
	}
	for _, each := range searches {
		search := exec.CommandContext(c.t.Context(), "sh", "-c", here.Replace(each))
		search.Dir = folder
		found, err := search.CombinedOutput()
		if err != nil || !strings.Contains(string(found), "reason=MISSING_PARAMETER") || !strings.Contains(string(found), id) {
			c.t.Errorf("%s: %v, %s", each, err, found)
		}
	}
}
