package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// addAlbum makes an album of the user (rules 5.3 and 5.4).
func addAlbum(c *Config) Function {
	return Function{
		Name: "addAlbum", Rule: "5.3", Title: form.Title{"Add an album", "新增相簿"}, Effect: Writes,
		Operations: only(unary(c, func(in *Input) *albumv1.CreateAlbumRequest {
			return &albumv1.CreateAlbumRequest{
				RequestId: newRequestID(),
				OwnerId:   int64(in.User),
				Title:     required(in, &paramAlbumTitle, "title", form.Text),
				Category:  required(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]),
				Location:  requiredLocation(in),
			}
		}, c.Album.CreateAlbum, func(out reply.Writer, response *albumv1.CreateAlbumResponse) {
			out.ID("albumID", response.GetAlbum().GetAlbumId(), "")
		})),
	}
}
