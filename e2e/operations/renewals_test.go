package operations_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// The programs of the manifests get ten new certificates each, while requests pass them over connections
// that they keep, and callers connect anew for each call.
func TestTenRenewalsOfCertificatesFailNoRequest(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	fleet := launch.NewFleet(t, binaries, launch.StoreEach).StartAll(1)
	edge, album := fleet.Of("edge")[0], fleet.Of("album")[0]
	names := append(launch.Services(), "edge")
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	var requests, calls atomic.Int64
	load := func(count *atomic.Int64, one func() error) {
		busy.Go(func() {
			for ctx.Err() == nil {
				if err := one(); err != nil {
					t.Error(err)
				}
				count.Add(1)
			}
		})
	}
	client := waybooktest.ClientAt(t, edge.Address())
	for range 4 {
		load(&requests, func() error {
			reply, err := client.Try(client.Form(http.MethodGet, "func=getCategoryPOIList&category=1"))
			if err == nil && !reply.Succeeded() {
				err = errors.New(reply.Body)
			}
			return err
		})
	}
	as := launch.ClientWith(t, fleet.Certificates.Files("operator"))
	load(&calls, func() error {
		connection, err := grpc.NewClient(album.Address(), grpc.WithTransportCredentials(as))
		if err != nil {
			return err
		}
		_, err = albumv1.NewAlbumServiceClient(connection).GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1})
		if status.Code(err) == codes.NotFound {
			err = nil
		}
		return errors.Join(err, connection.Close())
	})
	const expiry = "waybook_tls_certificate_expiry_timestamp_seconds"
	for n := range 10 {
		lifetime := time.Duration(n+2) * 24 * time.Hour // tells it from the one before
		atLeast := float64(time.Now().Add(lifetime).Unix())
		before := requests.Load()
		for _, name := range names {
			launch.WriteCertificate(t, fleet.Certificates.Directory(name), name, lifetime, fleet.Certificates.Authority, fleet.Certificates.Authority)
		}
		for _, name := range names {
			for {
				until, _ := launch.Metric(t, fleet.Of(name)[0].Admin, expiry)
				if until >= atLeast && requests.Load() > before {
					break
				}
				if err := pause.For(t.Context(), 50*time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	stop()
	busy.Wait()
	if requests.Load() < 100 || calls.Load() < 10 {
		t.Errorf("only %d requests and %d calls were sent", requests.Load(), calls.Load())
	}
	t.Logf("%d requests, and %d calls over connections of their own", requests.Load(), calls.Load())
}
