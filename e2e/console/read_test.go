package console_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestTheReadingViewsShowContentWithAllOfItsParts(t *testing.T) {
	process := start(t)
	user, _ := demoSession(t, process)
	seen := known{}
	for _, list := range []string{"getUserAlbumList", "getUserBlogList"} {
		seen.note(operation{}, ask(t, process, http.MethodGet, "/API.php?func="+list+"&userID="+user, "").Body)
	}
	seen.note(operation{}, ask(t, process, http.MethodGet, "/API.php?func=getCategoryPOIList&category=2", "").Body)
	p := open(t, process, "#/read/user/"+user)
	p.awaitElement(id("album-card"))
	p.awaitElement(id("blog-card"))
	p.shot("read-user")
	for place, parts := range map[string][]string{
		"album/" + seen["albumID"]:  {"photos", "photo", "comments", "comment", "reply", "score", "place"},
		"blog/" + seen["blogID"]:    {"entry-text", "vote", "choice", "score", "place"},
		"landmark/" + seen["POIID"]: {"score", "place"},
	} {
		kind, _, _ := strings.Cut(place, "/")
		p.visit("#/read/" + place)
		for _, part := range parts {
			p.awaitElement(id(part))
		}
		p.shot("read-" + kind)
	}
	p.visit("#/read/album/1")
	p.awaitText(id("failure"), "ALBUM NOT FOUND")
}
