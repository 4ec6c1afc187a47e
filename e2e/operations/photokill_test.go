package operations_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// upload uploads a file with the n-th request id.
func upload(ctx context.Context, to photov1.PhotoServiceClient, owner, album int64, n int, file []byte) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	stream, err := to.Upload(ctx)
	if err != nil {
		return 0, err
	}
	_ = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Start{Start: &photov1.UploadStart{
		RequestId: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), ActorId: owner, Parent: &photov1.UploadStart_AlbumId{AlbumId: album},
	}}}) // the reply says why it failed
	_ = stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: file}})
	reply, err := stream.CloseAndRecv()
	return reply.GetPhoto().GetPhotoId(), err
}

// later is a store of files two days later.
type later struct{ blob.Store }

func (l later) Now(ctx context.Context) (time.Time, error) {
	now, err := l.Store.Now(ctx)
	return now.Add(48 * time.Hour), err
}

func TestAKillDuringUploadsLeavesNoPhotoWithoutFilesAndNoFilesForGood(t *testing.T) {
	t.Parallel()
	const uploaders = 4
	kills := longform.Number(3, 25)
	test := func(t *testing.T, options storekeeping.Options, flags ...string) {
		var picture bytes.Buffer
		if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 1200, 900)), nil); err != nil {
			t.Fatal(err)
		}
		begin := func() (*launch.Process, *waybooktest.Waybook) {
			p := launch.Start(t, filepath.Join(binaries, "standalone"), options.Store.Data, append(flags, "-demo=false")...)
			return p, waybooktest.Connect(t, p.GRPC)
		}
		p, w := begin()
		owner := launch.CreateUser(t, w.Connection, "owner")
		album := launch.CreateAlbumsOf(t, w.Connection, owner, "山", 1)[0]
		var mu sync.Mutex
		next, left := 0, []int{}
		take := func() (n int) {
			mu.Lock()
			defer mu.Unlock()
			if len(left) > 0 {
				n, left = left[0], left[1:]
				return n
			}
			next++
			return next
		}
		for range kills {
			ctx, end := context.WithCancel(t.Context())
			var uploading sync.WaitGroup
			for range uploaders {
				uploading.Go(func() {
					for ctx.Err() == nil {
						n := take()
						if _, err := upload(ctx, w.Photo, owner, album, n, picture.Bytes()); err != nil {
							mu.Lock()
							left = append(left, n)
							mu.Unlock()
							return // until the next start
						}
					}
				})
			}
			time.Sleep(200*time.Millisecond + rand.N(400*time.Millisecond)) // #nosec G404 -- when the kill comes
			p.End(syscall.SIGKILL)
			end()
			uploading.Wait()
			p, w = begin()
		}
		photos := map[int64]bool{}
		for n := 1; n <= next; n++ {
			photo, err := upload(t.Context(), w.Photo, owner, album, n, picture.Bytes())
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Logged())
			}
			photos[photo] = true
		}
		listed := 0
		for request := (&photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_AlbumId{AlbumId: album}, PageSize: 1000}); ; {
			page, err := w.Photo.ListPhotos(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			listed += len(page.GetPhotos())
			if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
				break
			}
		}
		if listed != next || len(photos) != next {
			t.Errorf("%d uploads made %d photos, and repeats of them name %d", next, listed, len(photos))
		}
		p.End(syscall.SIGTERM)
		unnamed := checkPhotos(t, options)
		t.Logf("%d uploads, %d kills, %d files without a photo", next, kills, unnamed)
		sweepLater(t, options)
		if unnamed := checkPhotos(t, options); unnamed != 0 {
			t.Errorf("after a sweep, %d files have no photo", unnamed)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir()}})
	})
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		longform.Only(t)
		uri := mongotest.StartReplicaSet(t)
		test(t, storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir(), MongoDBURI: uri}}, "-mongodb-uri", uri)
	})
}

// checkPhotos checks that the store has no fault, and returns how many files have no photo.
func checkPhotos(t *testing.T, options storekeeping.Options) (unnamed int64) {
	t.Helper()
	report, err := storekeeping.Check(t.Context(), options, integrity.Look)
	if err != nil || len(report.Findings) > 0 {
		t.Fatalf("a check found %+v: %v", report.Findings, err)
	}
	for _, each := range report.Collections {
		unnamed += each.UnnamedFiles
	}
	return unnamed
}

// sweepLater sweeps a store as services do two days later.
func sweepLater(t *testing.T, options storekeeping.Options) {
	t.Helper()
	engine, err := options.Store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ends []func() error
	w := waybooktest.StartOn(t, engine, waybooktest.Deps(func(deps *service.Deps) {
		deps.Files = func(ctx context.Context, name string) (blob.Store, error) {
			files, end, err := options.Store.OpenFiles(ctx, engine, name)
			ends = append(ends, end)
			return later{files}, err
		}
	}))
	w.Sweep()
	w.Clock.Advance(time.Hour)
	w.Sweep()
	w.Stop()
	for _, end := range append(ends, engine.Close) {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}
