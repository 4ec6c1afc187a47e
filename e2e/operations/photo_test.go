package operations_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func TestAPhotoThatIsRefusedStopsNoneOfTheOthers(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	on := operator{t, p.GRPC}
	owner := on.createUser("owner")
	created := waybooktest.Must(waybooktest.Connect(t, p.GRPC).Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: numbered(t, owner), Title: "山", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: &typev1.Location{Lat: 25, Lng: 121},
	}))(t)
	album := strconv.FormatInt(created.GetAlbum().GetAlbumId(), 10)
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 800, 600)), nil); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	names := []string{"first.jpg", "page.jpg", "missing.jpg", "last.jpg"}
	for i, content := range [][]byte{picture.Bytes(), []byte("<html>"), nil, picture.Bytes()} {
		names[i] = filepath.Join(folder, names[i])
		if content == nil {
			continue
		}
		if err := os.WriteFile(names[i], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var added struct {
		Photos []struct {
			File    string `json:"file"`
			PhotoID int64  `json:"photo_id"`
			Failure string `json:"failure"`
		} `json:"photos"`
	}
	done := on.run("", append([]string{"photo", "add", "--of-album", album, "-o", "json"}, names...)...)
	if done.status != 4 || !strings.Contains(done.err, "2 of 4 files were not added") {
		t.Errorf("the status is %d: %s", done.status, done.err)
	}
	done.read(&added)
	if len(added.Photos) != 4 {
		t.Fatalf("got %+v", added)
	}
	for i, photo := range added.Photos {
		if isAdded := i == 0 || i == 3; photo.File != names[i] || (photo.PhotoID != 0) != isAdded || (photo.Failure == "") != isAdded {
			t.Errorf("file %d: got %+v", i, photo)
		}
	}
	got := filepath.Join(folder, "got.jpg")
	on.must("photo", "get", "--of-album", album, strconv.FormatInt(added.Photos[3].PhotoID, 10), got)
	if content, err := os.ReadFile(got); err != nil || !bytes.Equal(content, picture.Bytes()) {
		t.Errorf("the original has %d bytes: %v", len(content), err)
	}
	if small := on.must("photo", "get", "--of-album", album, "--size", "thumbnail", strconv.FormatInt(added.Photos[0].PhotoID, 10), "-"); len(small) == 0 {
		t.Error("there is no thumbnail")
	}
}
