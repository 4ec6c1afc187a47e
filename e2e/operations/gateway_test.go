package operations_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/waybookctl/cli"
)

const keyID, secretKey = "waybook-backup", "for-this-test-only"

// gatewayBuilt builds the S3 server once.
var gatewayBuilt = sync.OnceValue(func() error { return launch.BuildOutside(binaries, "../s3gateway") })

// gateway is a running S3 server with the bucket waybook.
type gateway struct{ address, root string }

func startGateway(t *testing.T) gateway {
	t.Helper()
	longform.Outside(t)
	if err := gatewayBuilt(); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "s3", "root")
	if err := os.MkdirAll(filepath.Join(root, "waybook"), 0o700); err != nil {
		t.Fatal(err)
	}
	g := gateway{launch.Address(t), root}
	launch.Begin(t, filepath.Join(binaries, "s3gateway"), nil, "-root", root, "-http", g.address, "-key", keyID, "-secret", secretKey)
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.address+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(request)
		if err == nil {
			http.DefaultClient.CloseIdleConnections()
			if err := reply.Body.Close(); err != nil {
				t.Fatal(err)
			}
			return g
		}
		if err := pause.For(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// kept returns the names of the files below a prefix of the bucket.
func (g gateway) kept(t *testing.T, prefix string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(g.root, "waybook", prefix))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// bucketLine is a command line of waybookctl with variables of the environment.
type bucketLine struct {
	t         *testing.T
	variables map[string]string
}

// newBucketLine returns a line that uses the service at an address, and the server at another.
func newBucketLine(t *testing.T, service, s3 string) bucketLine {
	return bucketLine{t, map[string]string{
		"WAYBOOK_ADDRESS": service, "AWS_ENDPOINT_URL_S3": "http://" + s3, "AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secretKey,
	}}
}

func (l bucketLine) lookup(name string) (value string, isSet bool) {
	value, isSet = l.variables[name]
	return value, isSet
}

// run runs a command and returns the exit status and what it printed.
func (l bucketLine) run(args ...string) (status int, printed string) {
	l.t.Helper()
	var out bytes.Buffer
	status = cli.Run(l.t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, l.lookup)
	return status, out.String()
}

// must runs a command that must succeed.
func (l bucketLine) must(args ...string) string {
	l.t.Helper()
	status, printed := l.run(args...)
	if status != 0 {
		l.t.Fatalf("%v: status %d\n%s", args, status, printed)
	}
	return printed
}

// refused runs a command that must fail for a reason.
func (l bucketLine) refused(reason string, args ...string) {
	l.t.Helper()
	if status, printed := l.run(args...); status == 0 || !strings.Contains(printed, reason) {
		l.t.Errorf("%v: status %d, no %q in\n%s", args, status, reason, printed)
	}
}

// newKeys makes a pair of keys. It returns the public key, and the file with the private one.
func newKeys(t *testing.T) (recipient, file string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(file, []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return identity.Recipient().String(), file
}

// proxy stands in front of the server.
type proxy struct {
	address string
	// changes says that replies with the contents of a file get another first byte.
	changes atomic.Bool
	// cuts is how many bytes of a request are passed on before its connection is cut, unless it is 0.
	cuts atomic.Int64
}

func newProxy(t *testing.T, s3 gateway) *proxy {
	t.Helper()
	p := &proxy{}
	passOn := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s3.address}) // keeps the Host, which is signed
	passOn.ModifyResponse = func(reply *http.Response) error {
		if p.changes.Load() && reply.Request.Method == http.MethodGet && strings.Contains(reply.Request.URL.Path, ".db") {
			reply.Body = &changed{ReadCloser: reply.Body}
		}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limit := p.cuts.Load(); limit > 0 && r.Method == http.MethodPut && r.ContentLength > limit {
			panic(http.ErrAbortHandler) // closes the connection
		}
		passOn.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.address = strings.TrimPrefix(server.URL, "http://")
	return p
}
