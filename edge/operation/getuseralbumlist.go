package operation

import (
	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// getUserAlbumList lists the albums of a user (rules 5.8 to 5.10, 9.2 and 9.4).
func getUserAlbumList(c *Config) Function {
	return Function{
		Name: "getUserAlbumList", Rule: "5.8", Title: form.Title{"List a user’s albums", "列出使用者的相簿"}, Effect: Reads,
		Operations: only(idList(c, func(in *Input) *albumv1.ListAlbumsRequest {
			return &albumv1.ListAlbumsRequest{
				View:         typev1.View_VIEW_SUMMARY,
				OwnerId:      required(in, &paramUserID, "owner_id", form.ID),
				PageSize:     limitAndNext(in),
				AfterAlbumId: form.Or(optional(in, &paramAfter, "after_album_id", form.ID), 0),
			}
		}, c.Album.ListAlbums, (*albumv1.ListAlbumsResponse).GetSummaries,
			summaries("albumList", "album", "albumID", "albumTitle"), summaryID)),
	}
}
