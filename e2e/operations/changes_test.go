package operations_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestChangesContinueAfterTheTokenInAFile(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner := o.createUser("小旅人")
	var created struct {
		Album    json.Number `json:"album_id"`
		Entry    json.Number `json:"blog_id"`
		Landmark json.Number `json:"poi_id"`
	}
	o.mustRead(&created, "album", "create", "台北一日", "--as", owner, "--category", "food", "--lat", "25", "--lng", "121")
	o.run("text", "entry", "create", "標題", "-", "--as", owner, "--type", "travel", "--weather", "clear", "--date", "2026-11-21",
		"--lat", "25", "--lng", "121", "-o", "json").expect(0).read(&created)
	o.mustRead(&created, "landmark", "create", "龍山寺", "--as", owner, "--category", "community", "--lat", "25", "--lng", "121")
	for _, it := range []struct{ noun, id, title, renamed string }{
		{"album", created.Album.String(), "台北一日", "--title"}, {"entry", created.Entry.String(), "標題", "--title"},
		{"landmark", created.Landmark.String(), "龍山寺", "--name"}, {"user", owner, "小旅人", ""},
	} {
		t.Run(it.noun, func(t *testing.T) {
			t.Parallel()
			o := operator{t, o.address}
			file := filepath.Join(t.TempDir(), "token")
			changes := func() (out string) {
				for deadline := time.Now().Add(time.Minute); out == "" && time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) { // a change waits until it is settled
					out = o.run("", it.noun, "changes", "--token-file", file).expect(0).out
				}
				return out
			}
			if out := changes(); !strings.HasPrefix(out, "CHANGED") || !strings.Contains(out, "created  "+it.id+"  content 1  ") || !strings.HasSuffix(out, it.title+"\n") {
				t.Errorf("from nothing:\n%s", out)
			}
			o.run("", it.noun, "changes", "--token-file", file).expect(0, "no changes")
			if it.noun == "user" {
				o.must("user", "rename", it.id, "new")
			} else {
				o.must(it.noun, "update", it.id, it.renamed, "new")
			}
			if out := changes(); !strings.Contains(out, "changed  "+it.id+"  content 2") || !strings.HasSuffix(out, "  new\n") {
				t.Errorf("after a change:\n%s", out)
			}
			if it.noun != "user" {
				o.must(it.noun, "delete", it.id)
				if out := changes(); !strings.Contains(out, "deleted  "+it.id+"\n") {
					t.Errorf("after the deletion:\n%s", out)
				}
				since := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
				if out := o.must(it.noun, "changes", "--since", since(time.Now().Add(-time.Hour))); !strings.Contains(out, "deleted  "+it.id+"\n") {
					t.Errorf("of the last hour:\n%s", out)
				}
				o.run("", it.noun, "changes", "--since", since(time.Now().Add(time.Hour))).expect(0, "no changes")
			}
			if err := os.WriteFile(file, []byte("damaged\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			o.run("", it.noun, "changes", "--token-file", file).expect(4, "page_token")
			if kept, err := os.ReadFile(file); err != nil || string(kept) != "damaged\n" {
				t.Errorf("the file has %q, %v", kept, err)
			}
			o.run("", it.noun, "changes", "--token-file", t.TempDir()).expect(1)
		})
	}
}

func TestWhatIsNewAndNearIsListed(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner := o.createUser("小旅人")
	for _, title := range []string{"一", "二"} {
		o.must("album", "create", title, "--as", owner, "--category", "food", "--lat", "25.0371", "--lng", "121.4998")
		o.run("text", "entry", "create", title, "-", "--as", owner, "--type", "travel", "--weather", "clear", "--date", "2026-11-21",
			"--lat", "25.0371", "--lng", "121.4998").expect(0)
	}
	o.must("album", "create", "三", "--as", owner, "--category", "domestic-travel", "--lat", "26", "--lng", "121.4998")
	for _, test := range []struct {
		args   string
		titles string
	}{
		{"album recent", "三 二 一"},
		{"album recent --category food --limit 1", "二"},
		{"album nearby --lat 25.0371 --lng 121.4998 --radius 10", "一 二"},
		{"album nearby --lat 25.0371 --lng 121.4998 --category domestic-travel", ""},
		{"entry recent --type travel", "二 一"},
		{"entry nearby --lat 25.0371 --lng 121.4998 --type travel --limit 1", "一"},
	} {
		var titles []string
		for _, line := range strings.Split(strings.TrimSpace(o.must(strings.Fields(test.args)...)), "\n")[1:] {
			fields := strings.Fields(line)
			if strings.Contains(test.args, "nearby") && fields[0] != "0" {
				t.Errorf("%s: %s m", test.args, fields[0])
			}
			titles = append(titles, fields[len(fields)-1])
		}
		if got := strings.Join(titles, " "); got != test.titles {
			t.Errorf("%s: %s, want %s", test.args, got, test.titles)
		}
	}
}
