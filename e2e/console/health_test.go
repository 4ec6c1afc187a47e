package console_test

import (
	"net/http"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

func TestTheHealthViewShowsWhatTheProcessReports(t *testing.T) {
	longform.Only(t)
	process := start(t)
	for range 3 {
		ask(t, process, http.MethodGet, "/API.php?func=getAlbum&albumID=1", "")
	}
	p := open(t, process, "#/health")
	p.awaitElement(id("ready"))
	p.awaitText(id("health-getAlbum"), "ALBUM_NOT_FOUND")
	p.awaitText(id("store"), "embedded")
	p.awaitElement(id("check-readyz"))
	// The view reads again by itself.
	for range 4 {
		ask(t, process, http.MethodGet, "/API.php?func=getPOI&POIID=1", "")
	}
	p.awaitText(id("health-getPOI"), "POI_NOT_FOUND")
	p.shot("health")
}
