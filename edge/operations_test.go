package edge

import (
	"context"
	"slices"
	"strings"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// operationForms are requests of the legacy operations and of a list of entries. The golden cases
// have the replies.
var operationForms = []string{
	addAlbumForm,
	"func=updateAlbum&albumID=12&lat=-0.5&delete=FALSE",
	"func=updateAlbum&delete=True&albumID=12&lat=north",
	"func=getAlbum&albumID=12",
	"func=getUserAlbumList&userID=7",
	"func=getCategoryPOIList&category=5",
	"func=getPOI&POIID=3",
	"func=postBlog&replyBlogID=&" + blogForm,
	"func=updateBlog&blogID=4&replyBlogID=&zoomLevel=0&mapType=3&" + blogForm,
	"func=updateBlog&delete=true&blogID=4",
	"func=getBlog&blogID=4",
	"func=getUserBlogList&userID=7&limit=1",
}

const (
	addAlbumForm = "func=addAlbum&albumTitle=%E5%8F%B0%E5%8C%97+101&category=5&lat=25.0339639&lng=121.5644722"
	blogForm     = "type=0_8&lat=25.0339639&lng=121.5644722&blogTitle=t&blogContent=a%0D%0Ab&year=2012&month=02&day=29&weather=有彩虹"
)

func twoAlbums(context.Context, *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
	return &albumv1.ListAlbumsResponse{Summaries: []*typev1.Summary{{Id: 1, Title: "a"}, {Id: 2, Title: "b"}}}, nil
}

func noPois(context.Context, *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
	return &poiv1.ListPoisResponse{}, nil
}

// unknownFunc returns the info of an unknown func. It lists the table except the functions in
// without. The golden case func has the exact list.
func unknownFunc(without ...string) string {
	var names []string
	for _, each := range Operations() {
		if !slices.Contains(names, each.Func) && !slices.Contains(without, each.Func) {
			names = append(names, each.Func)
		}
	}
	return "INVALID PARAMETER: func (one of " + strings.Join(names, ", ") + ")"
}
