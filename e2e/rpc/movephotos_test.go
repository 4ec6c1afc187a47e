package rpc_test

import (
	"bytes"
	"maps"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

func TestAPhotoThatMovedInGetsItsFile(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, options ...waybooktest.Option) {
		w := start(t, append(options, settleFast, waybooktest.Flags("-public-url", publicURL))...)
		a, b := w.newUser("a"), w.newUser("b")
		for n, records := range oldContent(a, b)[:2] { // an album and a landmark
			owner, kind := []int64{a, b}[n], []string{"Album", "Poi"}[n]
			begun := w.moveRecords(records...)
			shown := func() (photos []*photov1.Photo, updated proto.Message) {
				if kind == "Album" {
					album := w.getAlbum(begun[0].GetId())
					return album.GetPhotos(), album.GetAlbum().GetUpdateTime()
				}
				poi := w.getPoi(begun[0].GetId())
				return poi.GetPhotos(), poi.GetPoi().GetUpdateTime()
			}
			feed := w.feeds(t.Context(), owner)[kind]
			_, token := feed.catchUp(t, "", 0)
			before, _ := shown()
			first := begun[1].GetUpload()
			if first.GetActorId() != owner || first.GetPhotoId() != begun[1].GetId() || begun[2].GetUpload() == nil || begun[3].GetUpload() != nil {
				t.Fatalf("photos and a comment get %v", begun)
			}
			// Several uploads at the same time, and one behind them, give it one file.
			var uploads sync.WaitGroup
			replies := make([]*photov1.Photo, 4)
			for i := range replies {
				uploads.Go(func() {
					var err error
					if replies[i], err = w.upload(first, jpegOf(t, 40+i, 30, 1)); err != nil {
						t.Error(err)
					}
				})
			}
			uploads.Wait()
			photos, updated := shown()
			got := photos[0]
			for _, reply := range replies {
				if !proto.Equal(reply, got) {
					t.Errorf("an upload returned %v, and the photo is %v", reply, got)
				}
			}
			if got.GetFile().GetHeight() != 30 || !strings.Contains(got.GetUrl(), "upload/") || got.GetDescription() != "陰陽海" || got.GetEtag() == before[0].GetEtag() {
				t.Errorf("the photo is %v, and was %v", got, before[0])
			}
			if later := must(w.upload(first, jpegOf(t, 400, 30, 1)))(t); !proto.Equal(later, got) {
				t.Errorf("a later upload returns %v, want %v", later, got)
			}
			if !proto.Equal(updated, longAgo(5+n)) || !proto.Equal(photos[1], before[1]) {
				t.Errorf("the %s changed at %v, and has %v", kind, updated, photos)
			}
			if changed, _ := feed.catchUp(t, token, 0); !maps.Equal(changed, changeTypes{begun[0].GetId(): isChanged}) {
				t.Errorf("followers get %v", changed)
			}
			// It is the owner who gives the file, and only to a photo that is there.
			for reason, alter := range map[string]func(*photov1.UploadStart){
				"NOT_OWNER": func(s *photov1.UploadStart) { s.ActorId = a + b - owner }, "PHOTO_NOT_FOUND": func(s *photov1.UploadStart) { s.PhotoId++ },
			} {
				start := proto.CloneOf(begun[2].GetUpload())
				alter(start)
				_, err := w.upload(start, jpegOf(t, 4, 3, 1))
				expectFault(t, err, map[string]codes.Code{"NOT_OWNER": codes.PermissionDenied, "PHOTO_NOT_FOUND": codes.NotFound}[reason], reason)
			}
			expect := func(second bool) {
				t.Helper()
				for _, isDry := range []bool{true, false} {
					again := must(w.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: records, ValidateOnly: isDry}))(t).GetResults()
					if again[1].GetOutcome() != equal || again[1].GetUpload() != nil || proto.Equal(again[2].GetUpload(), begun[2].GetUpload()) != second {
						t.Errorf("repeated: %v", again[1:3])
					}
				}
			}
			expect(true)
			// A photo with another address, by its owner's choice, keeps that.
			change := &photov1.UpdatePhotoRequest{ActorId: owner, PhotoId: begun[2].GetId(), Url: proto.String("elsewhere.jpg")}
			change.Parent = &photov1.UpdatePhotoRequest_AlbumId{AlbumId: begun[0].GetId()}
			if kind != "Album" {
				change.Parent = &photov1.UpdatePhotoRequest_PoiId{PoiId: begun[0].GetId()}
			}
			must(w.Photo.UpdatePhoto(t.Context(), change))(t)
			expect(false)
		}
		dry := must(w.MoveIn.MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: []*moveinv1.Record{record(&moveinv1.Photo{
			Id: "new", Url: "new.jpg", Parent: &moveinv1.Photo_AlbumId{AlbumId: "4711"},
		})}, ValidateOnly: true}))(t).GetResults()
		if dry[0].GetOutcome() != inserted || dry[0].GetUpload() != nil {
			t.Errorf("a photo that is not there gets %v", dry)
		}
		w.Sweep()
		original := inAlbum(4711, must(w.Photo.ListPhotos(t.Context(), &photov1.ListPhotosRequest{
			Parent: &photov1.ListPhotosRequest_AlbumId{AlbumId: 4711},
		}))(t).GetPhotos()[0].GetPhotoId(), photov1.PhotoSize_PHOTO_SIZE_ORIGINAL)
		original.ActorId = a
		if _, content, err := w.download(original); err != nil || !bytes.HasPrefix(content, []byte("\xff\xd8")) {
			t.Errorf("the original has %d bytes: %v", len(content), err)
		}
	}
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t)
	})
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		longform.Only(t)
		test(t, waybooktest.OnMongoDB(mongotest.StartReplicaSet(t)))
	})
}
