package service_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func wholeAlbum() *albumv1.GetAlbumResponse {
	return &albumv1.GetAlbumResponse{
		Album:  &albumv1.Album{AlbumId: 1, Title: "x", Location: &typev1.Location{Lat: 1, Lng: 2}, Owner: &typev1.Profile{UserId: 3, Name: "y"}},
		Photos: []*photov1.Photo{{PhotoId: 4}}, NextPhotosToken: "z",
		Comments: []*commentv1.Comment{{CommentId: 5}},
	}
}

func TestAReadMaskKeepsExactlyWhatItNames(t *testing.T) {
	whole := wholeAlbum()
	for name, test := range map[string]struct {
		paths []string
		want  *albumv1.GetAlbumResponse
	}{
		"nothing":          {nil, whole},
		"a star":           {[]string{"*"}, whole},
		"a list":           {[]string{"photos"}, &albumv1.GetAlbumResponse{Photos: whole.GetPhotos()}},
		"a field":          {[]string{"album.title"}, &albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: "x"}}},
		"a part of a part": {[]string{"album.location.lng"}, &albumv1.GetAlbumResponse{Album: &albumv1.Album{Location: &typev1.Location{Lng: 2}}}},
		"a whole and its part": {[]string{"album", "album.title", "next_photos_token"},
			&albumv1.GetAlbumResponse{Album: whole.GetAlbum(), NextPhotosToken: "z"}},
	} {
		mask, err := service.ReadMaskOf(&fieldmaskpb.FieldMask{Paths: test.paths}, whole)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := wholeAlbum()
		mask.Keep(got)
		if diff := cmp.Diff(test.want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestAReadMaskOfOtherFieldsIsRefused(t *testing.T) {
	for name, paths := range map[string][]string{
		"a field of another message": {"photos", "blog"}, "a part of a list": {"photos.photo_id"}, "empty": {""}, "a star and a field": {"*", "photos"}, "too many": slices.Repeat([]string{"album"}, 101),
	} {
		var refused *apierror.Error
		_, err := service.ReadMaskOf(&fieldmaskpb.FieldMask{Paths: paths}, wholeAlbum())
		if !errors.As(err, &refused) || len(refused.Violations) != 1 || refused.Violations[0].Field != "read_mask" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
