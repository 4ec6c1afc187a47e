package service_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Stored documents hold digests, so another encoding would refuse honest repeats.
func TestDigestsStayTheSame(t *testing.T) {
	for _, test := range []struct {
		request proto.Message
		want    int64
	}{
		{&commentv1.AddCommentRequest{RequestId: "r", AuthorId: 1, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: 2}, Text: "見"}, 9057350930069540405},
		{&blogv1.CreateBlogRequest{
			RequestId: "r", AuthorId: 1 << 52, Type: 1, Location: &typev1.Location{Lat: -25.5, Lng: 121}, Title: "a", Content: "b",
			PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: 1, ReplyBlogId: 3, ZoomLevel: proto.Int32(0), MapType: 1,
			Vote: &blogv1.NewVote{Description: "c", Choices: []string{"d", "e"}},
		}, -3740633620360239285},
	} {
		if got := service.Digest(test.request); got != test.want {
			t.Errorf("%T: got %d, want %d", test.request, got, test.want)
		}
	}
}
