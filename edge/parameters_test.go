package edge

import (
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func TestEveryViolationIsNamedInTheOrderOfTheOperation(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&blogv1.UpdateBlogResponse{}, nil)})
	const (
		album   = "func=addAlbum&albumTitle=t&category=1&lat=1&lng=1&"
		blog    = "func=postBlog&" + blogForm + "&"
		idRange = "1 to 9007199254740991"
	)
	for _, c := range []struct{ name, form, want string }{
		{"all are missing", "func=addAlbum", "MISSING PARAMETER: albumTitle; MISSING PARAMETER: category; MISSING PARAMETER: lat; MISSING PARAMETER: lng"},
		{
			"some are missing and some are wrong", "func=addAlbum&lng=181&lat=x&albumTitle=",
			"INVALID PARAMETER: albumTitle (1 to 200 characters); MISSING PARAMETER: category; " +
				"INVALID PARAMETER: lat (a decimal number, from -90 to 90); INVALID PARAMETER: lng (from -180 to 180)",
		},
		{
			"the service finds every fault", album + "lat=90.1&category=17&albumTitle=" + strings.Repeat("晴", 201),
			"INVALID PARAMETER: albumTitle (1 to 200 characters); INVALID PARAMETER: category (1 to 16); " +
				"INVALID PARAMETER: lat (from -90 to 90)",
		},
		{"a category of zero", album + "category=0", "INVALID PARAMETER: category (1 to 16)"},
		{"a category above an int32", album + "category=99999999999", "INVALID PARAMETER: category (1 to 16)"},
		{"an exponent out of range", album + "lat=9.1e1", "INVALID PARAMETER: lat (from -90 to 90)"},
		{"a number that is not in decimal", album + "lat=0x1", "INVALID PARAMETER: lat (a decimal number, from -90 to 90)"},
		{"an empty title", album + "albumTitle=", "INVALID PARAMETER: albumTitle (1 to 200 characters)"},
		{"an id out of range", "func=updateAlbum&albumID=0&lat=91", "INVALID PARAMETER: albumID (" + idRange + "); INVALID PARAMETER: lat (from -90 to 90)"},
		{"a delete that is neither true nor false", "func=updateAlbum&albumID=0&delete=yes", "INVALID PARAMETER: delete (true, false, 1 or 0); INVALID PARAMETER: albumID (" + idRange + ")"},
		{"an empty delete, which is none", "func=updateBlog&blogID=1&delete=", "MISSING PARAMETER: type; MISSING PARAMETER: lat; MISSING PARAMETER: lng; MISSING PARAMETER: blogTitle; " +
			"MISSING PARAMETER: blogContent; MISSING PARAMETER: year; MISSING PARAMETER: month; MISSING PARAMETER: day; MISSING PARAMETER: weather"},
		{"a delete that folds to ASCII", "func=updateBlog&blogID=1&delete=fal%C5%BFe", "INVALID PARAMETER: delete (true, false, 1 or 0)"},
		{"a delete without an id", "func=updateBlog&delete=true", "MISSING PARAMETER: blogID"},
		{"a list of user zero", "func=getUserAlbumList&userID=0", "INVALID PARAMETER: userID (" + idRange + ")"},
		{"a list of an unknown category", "func=getCategoryPOIList&category=6", "INVALID PARAMETER: category (1 to 5)"},
		{"an id above the maximum", "func=getBlog&blogID=9007199254740992", "INVALID PARAMETER: blogID (" + idRange + ")"},
		{"an id that is no number", "func=getPOI&POIID=+1", "INVALID PARAMETER: POIID (an integer, " + idRange + ")"},
		{"a day that does not exist", blog + "year=2011", "INVALID PARAMETER: day (no such day in that month)"},
		{"a day that does not exist, beside another fault", blog + "day=31&mapType=x", "INVALID PARAMETER: day (no such day in that month); INVALID PARAMETER: mapType (an integer, 1 to 3)"},
		{"a day out of range", blog + "day=32", "INVALID PARAMETER: day (1 to 31)"},
		{"a month and a year out of range", blog + "month=13&year=0", "INVALID PARAMETER: year (1 to 9999); INVALID PARAMETER: month (1 to 12)"},
		{"a map type of zero", blog + "mapType=0", "INVALID PARAMETER: mapType (1 to 3)"},
		{"a zoom level too high", blog + "zoomLevel=22", "INVALID PARAMETER: zoomLevel (0 to 21)"},
		{"a quote that is no number", blog + "replyBlogID=none", "INVALID PARAMETER: replyBlogID (an integer, " + idRange + ", or empty for none)"},
		{
			"an unknown type and weather", blog + "type=0_9&weather=晴",
			"INVALID PARAMETER: type (0_0 to 0_8); INVALID PARAMETER: weather " +
				"(one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹)",
		},
		{"a blog text too long", blog + "blogContent=" + strings.Repeat("x", 100001), "INVALID PARAMETER: blogContent (1 to 100000 characters)"},
		{
			"an update of a blog needs what posting needs", "func=updateBlog&blogID=1",
			"MISSING PARAMETER: type; MISSING PARAMETER: lat; MISSING PARAMETER: lng; MISSING PARAMETER: blogTitle; " +
				"MISSING PARAMETER: blogContent; MISSING PARAMETER: year; MISSING PARAMETER: month; MISSING PARAMETER: day; " +
				"MISSING PARAMETER: weather",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(h, c.form)
			if got := w.Body.String(); got != failed(c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
			wantReason := "INVALID_PARAMETER"
			if strings.HasPrefix(c.want, "MISSING") {
				wantReason = "MISSING_PARAMETER"
			}
			if got := w.Header().Get("X-Waybook-Reason"); got != wantReason {
				t.Errorf("reason %s", got)
			}
		})
	}
}

func TestARequestWithAFaultIsNotSentToTheService(t *testing.T) {
	f := &fakes{answer: always(&albumv1.UpdateAlbumResponse{}, nil)}
	h := newEdge(t, f)
	for _, form := range []string{
		"func=addAlbum", "func=updateAlbum&albumID=1&delete=yes", "func=updateAlbum&albumID=1&delete=2", "func=getAlbum&albumID=x",
	} {
		post(h, form)
	}
	if got := f.called(); len(got) > 0 {
		t.Errorf("the service got %v", got)
	}
}
