package programs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// Filling a store with demo content begins with the password and ends with the cookie.
const (
	beginFile = "demo-password"
	endFile   = "demo-cookie"
)

func TestAKilledFillingIsCompletedWithoutDuplicates(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	want := content(t, launch.Start(t, binary, t.TempDir()))
	data := t.TempDir()
	kills := 0
	for isFilling := true; isFilling; kills++ {
		p := launch.Begin(t, binary, nil, launch.FreePorts(data)...)
		isFilling = awaitWrites(t, p, 1+kills)
		p.End(syscall.SIGKILL)
	}
	t.Logf("killed %d times while it was filling", kills-1)
	p := launch.Start(t, binary, data)
	if got := content(t, p); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if files := launch.List(t, data); !slices.Equal(files, []string{endFile, beginFile, "waybook.db"}) {
		t.Errorf("files %v", files)
	}
	pasteAll(t, p)
	// The password belongs to the user that the first filling created.
	post(t, p, "", "func", "login", "email", "demo@waybook.example", "password", demoPassword(t, data)).MustSucceed(t)
}

// awaitWrites waits until a process that fills its store has written to it count more times. It
// reports whether the process is still filling.
func awaitWrites(t *testing.T, p *launch.Process, count int) bool {
	t.Helper()
	awaitFilling(t, p)
	var last time.Time
	for range poll(t) {
		if _, err := os.Stat(filepath.Join(p.Data, endFile)); err == nil {
			return false
		}
		info, err := os.Stat(filepath.Join(p.Data, "waybook.db"))
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().Equal(last) {
			last = info.ModTime()
			if count--; count < 0 {
				return true
			}
		}
	}
	return false
}

// awaitFilling waits until a process starts to fill its store, or is ready.
func awaitFilling(t *testing.T, p *launch.Process) {
	t.Helper()
	for range poll(t) {
		_, err := os.Stat(filepath.Join(p.Data, beginFile))
		if err == nil || strings.Contains(p.Out(), "ready") {
			return
		}
		if !p.Alive() {
			t.Fatalf("the process ended:\n%s", p.Printed())
		}
	}
}

// poll yields repeatedly, for at most a minute.
func poll(t *testing.T) func(func() bool) {
	return func(yield func() bool) {
		ticker := time.NewTicker(100 * time.Microsecond)
		defer ticker.Stop()
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-ticker.C {
			if !yield() {
				return
			}
		}
		t.Error("waited too long")
	}
}

// content returns all demo content, without its identifiers and times, and sorted: a program that
// starts right after a kill may draw an identifier below those of the program before.
func content(t *testing.T, p *launch.Process) string {
	t.Helper()
	var all []string
	add := func(pairs ...string) waybooktest.Reply {
		r := post(t, p, "", pairs...).MustSucceed(t)
		all = append(all, description(r.XML(), pairs[1]))
		return r
	}
	user := demoUser(demoCookie(t, p.Data))
	for _, album := range add("func", "getUserAlbumList", "userID", user).XML().Find("albumList", "*") {
		add("func", "getAlbum", "albumID", album.At("albumID"))
	}
	for category := range 5 {
		list := post(t, p, "", "func", "getCategoryPOIList", "category", strconv.Itoa(category+1)).MustSucceed(t)
		for _, landmark := range list.XML().Find("POIList", "*") {
			add("func", "getPOI", "POIID", landmark.At("POIID"))
			landmark.XMLName.Local = "POI" // without its number
			all = append(all, description(landmark, fmt.Sprint("category ", category+1)))
		}
	}
	author, err := strconv.ParseInt(user, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := blogv1.NewBlogServiceClient(launch.Dial(t, p.GRPC)).
		ListBlogs(t.Context(), &blogv1.ListBlogsRequest{AuthorId: author})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries.GetBlogs() {
		add("func", "getBlog", "blogID", strconv.FormatInt(entry.GetBlogId(), 10))
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// description returns the leaves of a reply that are equal in every filling.
func description(r waybooktest.Element, path string) string {
	var text strings.Builder
	describe(&text, r, path)
	return text.String()
}

// describe writes the leaves of a reply that are equal in every filling.
func describe(into *strings.Builder, r waybooktest.Element, path string) {
	name := r.XMLName.Local
	if strings.HasSuffix(name, "ID") || name == "time" || name == "updateDate" {
		return
	}
	if len(r.Children) == 0 {
		fmt.Fprintf(into, "%s/%s=%s\n", path, name, r.Text)
	}
	for _, child := range r.Children {
		describe(into, child, path+"/"+name)
	}
}
