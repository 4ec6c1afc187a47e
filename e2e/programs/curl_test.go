package programs_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// curl sends one request. carry selects how the form is sent.
func curl(t *testing.T, p *launch.Process, carry carrier, cookie string, pairs ...string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("SKIPPED: curl is not installed")
	}
	address, args := "http://"+p.HTTP+"/API.php", []string{"-sS", "--noproxy", "*"}
	switch carry {
	case getWithQuery:
		address += "?" + form(pairs...)
	case getWithBody:
		args = append(args, "-X", "GET", "-d", form(pairs...))
	case postWithBody:
		args = append(args, "-d", form(pairs...))
	}
	if cookie != "" {
		args = append(args, "-b", cookie)
	}
	out, err := exec.CommandContext(t.Context(), "curl", append(args, address)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

type carrier string

const (
	getWithQuery carrier = "GET with query"
	getWithBody  carrier = "GET with body"
	postWithBody carrier = "POST with body"
)

func TestCurlCanCallEveryOperation(t *testing.T) {
	t.Parallel()
	p := launch.Start(t, binary, t.TempDir())
	cookie := demoCookie(t, p.Data)
	place := []string{"lat", "25.034", "lng", "121.5645"}
	entry := append([]string{
		"type", "0_0", "blogTitle", "標題", "blogContent", "一\r\n二", "year", "2026", "month", "12", "day", "31", "weather", "有彩虹",
	}, place...)

	// write posts the form, after it has checked that GET is refused in both ways.
	write := func(pairs ...string) waybooktest.Reply {
		t.Helper()
		for _, carry := range []carrier{getWithQuery, getWithBody} {
			refused := waybooktest.Reply{Body: curl(t, p, carry, cookie, pairs...)}
			if refused.Text("status") != "FAILED" || refused.Text("info") != "POST REQUIRED" {
				t.Errorf("%s by %s: %+v", pairs[1], carry, refused)
			}
		}
		return waybooktest.Reply{Body: curl(t, p, postWithBody, cookie, pairs...)}.MustSucceed(t)
	}
	// read sends the form in all three ways and checks that the replies are equal.
	read := func(pairs ...string) waybooktest.Reply {
		t.Helper()
		first := curl(t, p, getWithQuery, "", pairs...)
		for _, carry := range []carrier{getWithBody, postWithBody} {
			if other := curl(t, p, carry, "", pairs...); other != first {
				t.Errorf("%s by %s: %q, want %q", pairs[1], carry, other, first)
			}
		}
		return waybooktest.Reply{Body: first}
	}

	album := write(append(place, "func", "addAlbum", "albumTitle", "相簿", "category", "16")...).Text("albumID")
	write("func", "updateAlbum", "albumID", album, "albumTitle", "相簿二")
	if title := read("func", "getAlbum", "albumID", album).MustSucceed(t).Text("albumTitle"); title != "相簿二" {
		t.Errorf("the album has the title %q", title)
	}
	if list := read("func", "getUserAlbumList", "userID", demoUser(cookie)).MustSucceed(t); len(list.XML().Find("albumList", "*")) != 2 {
		t.Errorf("albums %+v", list)
	}
	write("func", "updateAlbum", "albumID", album, "delete", "true")
	if gone := read("func", "getAlbum", "albumID", album); gone.Text("info") != "ALBUM NOT FOUND" {
		t.Errorf("the deleted album: %+v", gone)
	}

	list := read("func", "getCategoryPOIList", "category", "4").MustSucceed(t)
	landmark := list.XML().Find("POIList", "POI1")[0]
	if got := read("func", "getPOI", "POIID", landmark.At("POIID")).MustSucceed(t); got.Text("name") != landmark.At("name") {
		t.Errorf("the landmark has the names %q and %q", got.Text("name"), landmark.At("name"))
	}

	posted := write(append(entry, "func", "postBlog")...)
	blog := posted.Text("blogID")
	if posted.Text("reward") != "10" {
		t.Errorf("reward %q", posted.Text("reward"))
	}
	write(append(entry, "func", "updateBlog", "blogID", blog, "blogContent", "一\r\n二\r\n三")...)
	if content := read("func", "getBlog", "blogID", blog).MustSucceed(t).Text("blogContent"); content != "一\r\n二\r\n三" {
		t.Errorf("the entry has the content %q", content)
	}
	write("func", "updateBlog", "blogID", blog, "delete", "TRUE")
	if gone := read("func", "getBlog", "blogID", blog); !strings.Contains(gone.Text("info"), "NOT FOUND") {
		t.Errorf("the deleted entry: %+v", gone)
	}
}
