//go:build linux

package rolling

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/waybooktest"
)

const day = 24 * time.Hour

// call calls a method that the edge may call, over a new connection, and returns the status code.
// An authorized caller gets InvalidArgument, because the request is empty.
func call(t *testing.T, service *launch.Pod, shown credentials.TransportCredentials) codes.Code {
	t.Helper()
	method := map[string]string{
		"account": "/waybook.account.v1.AccountService/VerifySession", "album": "/waybook.album.v1.AlbumService/GetAlbum",
		"blog": "/waybook.blog.v1.BlogService/GetBlog", "poi": "/waybook.poi.v1.PoiService/GetPoi",
	}[service.Name]
	connection, err := grpc.NewClient(service.Address(), grpc.WithTransportCredentials(shown))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return status.Code(connection.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{}))
}

func TestEachServiceRefusesEachWrongCertificate(t *testing.T) {
	fleet := launch.NewFleet(t, binaries, launch.StoreEach).StartAll(1)
	ours, other := fleet.Certificates.Authority, launch.NewAuthority(t)
	show := func(name string, lifetime time.Duration, by *devca.Authority) credentials.TransportCredentials {
		return launch.ClientWith(t, launch.WriteCertificate(t, t.TempDir(), name, lifetime, by, ours))
	}
	for what, c := range map[string]struct {
		shown credentials.TransportCredentials
		want  codes.Code
	}{
		"the right certificate":              {show("edge", day, ours), codes.InvalidArgument},
		"an expired certificate":             {show("edge", -time.Minute, ours), codes.Unavailable},
		"a certificate of another authority": {show("edge", day, other), codes.Unavailable},
		"the certificate of another service": {show("poi", day, ours), codes.PermissionDenied},
		"a name of no contract":              {show("stranger", day, ours), codes.PermissionDenied},
		"no certificate":                     {credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}), codes.Unavailable}, // without verifying the server
		"plain text":                         {insecure.NewCredentials(), codes.Unavailable},
	} {
		for _, name := range launch.Services() {
			if got := call(t, fleet.Of(name)[0], c.shown); got != c.want {
				t.Errorf("%s, presented with %s: %v, want %v", name, what, got, c.want)
			}
		}
	}
}

// The log of the edge says why it failed.
func TestTheEdgeRefusesAServiceWithAWrongCertificate(t *testing.T) {
	const service = "waybook.album.v1.AlbumService"
	fleet := launch.NewFleet(t, binaries, launch.StoreEach).StartAll(1)
	ours, other := fleet.Certificates.Authority, launch.NewAuthority(t)
	album, edge := fleet.Of("album")[0], fleet.Of("edge")[0]
	for _, c := range []struct {
		what     string
		lifetime time.Duration
		by       *devca.Authority
		reason   string
	}{
		{"the right certificate", day, ours, "ALBUM_NOT_FOUND"},
		{"an expired certificate", -time.Minute, ours, "SERVICE_UNAVAILABLE"},
		{"a certificate of another authority", day, other, "SERVICE_UNAVAILABLE"},
	} {
		album.End(syscall.SIGTERM)
		launch.WriteCertificate(t, fleet.Certificates.Directory("album"), "album", c.lifetime, c.by, ours)
		album.Start()
		ask := func() waybooktest.Reply {
			reply := waybooktest.OnceAt(t, edge.Address()).Get("func=getAlbum&albumID=1")
			if got := reply.Reason(); got != c.reason {
				t.Errorf("album presents %s: %s, want %s", c.what, got, c.reason)
			}
			return reply
		}
		reply := ask()
		if c.reason != "SERVICE_UNAVAILABLE" {
			continue
		}
		// Until the edge connects again, the cause is that of the time without a service.
		await(t, func() bool {
			line := awaitFailure(t, edge, reply.Header.Get("X-Request-Id"))
			if line.Service != service || line.Method != "GetAlbum" || line.Code != "Unavailable" {
				t.Errorf("album presents %s: the log has %+v", c.what, line)
			}
			reply = ask()
			return strings.Contains(line.Error, "certificate")
		})
	}
}

// failureLine is the line of the edge's log about a request that failed.
type failureLine struct {
	Message                      string `json:"msg"`
	ID                           string `json:"request_id"`
	Service, Method, Code, Error string
}

// awaitFailure waits until the log of the edge has the failure of a request.
func awaitFailure(t *testing.T, edge *launch.Pod, id string) (line failureLine) {
	t.Helper()
	await(t, func() bool {
		return slices.ContainsFunc(strings.Split(edge.Printed(), "\n"), func(text string) bool {
			err := json.Unmarshal([]byte(text), &line)
			return err == nil && line.Message == "request failed" && line.ID == id
		})
	})
	return line
}

// The steps are those of docs/operations.md.
func TestCertificatesAndTheirAuthorityAreReplacedUnderLoad(t *testing.T) {
	longform.Only(t)
	stores, requests := seed(t)
	c := startCluster(t, delay, stores)
	clients := startCrowd(t, c.registry, requests, shortRate)
	clients.awaitService(t)
	old, young := c.fleet.Certificates.Authority, launch.NewAuthority(t)
	for n, step := range []struct {
		by      *devca.Authority
		trusted []*devca.Authority
	}{
		{old, []*devca.Authority{old, young}},
		{young, []*devca.Authority{old, young}},
		{young, []*devca.Authority{young}},
	} {
		lifetime := time.Duration(n+2) * day // distinguishes it from the previous certificate
		atLeast := float64(time.Now().Add(lifetime).Unix())
		for _, name := range programs() {
			launch.WriteCertificate(t, c.fleet.Certificates.Directory(name), name, lifetime, step.by, step.trusted...)
		}
		for _, name := range programs() {
			for _, m := range c.running[name] {
				awaitMetric(t, m.Pod, expiry, func(until float64) bool { return until >= atLeast })
			}
		}
	}
	// Existing connections keep their certificates, so replace the pods to open new ones.
	for _, name := range launch.Services() {
		c.drain(name)
	}
	c.awaitEnds()
	clients.awaitService(t)
	if seen := clients.lap(); len(seen.failures) > 0 {
		t.Errorf("%d of %d requests failed", len(seen.failures), seen.sent)
		report(t, seen.failures)
	}
	stale := launch.ClientWith(t, launch.WriteCertificate(t, t.TempDir(), "edge", day, old, young))
	for _, name := range launch.Services() {
		if got := call(t, c.running[name][0].Pod, stale); got != codes.Unavailable {
			t.Errorf("%s accepts a certificate of the removed authority: %v", name, got)
		}
	}
}
