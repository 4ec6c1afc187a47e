package moving_test

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/oldserver"
)

// TestTheGuideOfAnEveningWorks runs the commands of docs/moving-in.md as they are. Only addresses are
// others, and mysql is a stand-in with SQLite.
func TestTheGuideOfAnEveningWorks(t *testing.T) {
	t.Parallel()
	examples.Need(t, "bash")
	examples.Need(t, "curl")
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := launch.Build(folder, launch.AsTested, "github.com/waybook/waybook/standalone",
		"github.com/waybook/waybook/waybookctl", "github.com/waybook/waybook/e2e/olddata/mysql"); err != nil {
		t.Fatal(err)
	}
	http := launch.Address(t)
	place := strings.NewReplacer("127.0.0.1:8080", http, "127.0.0.1:8081", launch.Address(t),
		"https://old.example", serve(t, oldserver.New(guideContent())))
	script := "set -eu\ntrap 'kill $(jobs -p)' EXIT\nmysql <" + testFile(t, "old.sql") + "\n"
	count := 0
	for _, block := range blocks {
		if block.Language != "sh" {
			continue
		}
		count++
		if strings.Contains(block.Text, "new.ndjson") && strings.Contains(block.Text, "mysql") {
			script += "mysql <" + testFile(t, "changed.sql") + "\n"
		}
		if strings.Contains(block.Text, "-primary-read-only") && strings.Contains(script, "switched") {
			script += used(http)
		}
		script += "echo \"line " + strconv.Itoa(block.Line) + "\"\n" + place.Replace(block.Text)
	}
	if count < 8 {
		t.Errorf("the guide has %d blocks of commands", count)
	}
	script += "mysql <" + testFile(t, "back.sql") + "\n"
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir, shell.WaitDelay = folder, time.Minute
	shell.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "GORACE=atexit_sleep_ms=0",
		"OLD_DATABASE="+filepath.Join(folder, "old.sqlite"))
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, want := range []string{"東北角兩日遊", "傍晚去最好。", "<idrand>"} {
		if !strings.Contains(string(output), want) {
			t.Errorf("the output has no %s", want)
		}
	}
	// What was changed, made and deleted in Waybook is in the old database.
	_, back, _ := strings.Cut(string(output), "back:\n")
	if want, err := os.ReadFile(testFile(t, "back.txt")); err != nil || string(want) != drawn.ReplaceAllString(back, "…") {
		t.Errorf("the old database has, %v:\n%s", err, back)
	}
	if strings.Contains(string(output), "me too") {
		t.Error("a comment that the old service had deleted is still there")
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("%s", output)
	}
}

// drawn finds identifiers and times of Waybook.
var drawn = regexp.MustCompile(`\d{15}|20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`)

// used is what clients do after the switch: they read what the guide promises, and write.
func used(http string) string {
	script := "curl -fsS 'http://" + http + "/API.php?func=getAlbum&albumID=5'\n" +
		"curl -fsS 'http://" + http + "/API.php?func=getPOI&POIID=3'\n" +
		"curl -fsS -d '" + url.Values{"func": {"login"}, "email": {"traveller@old.example"}, "password": {"password"}}.Encode() + "' http://" + http + "/API.php\n" +
		"waybookctl user delete 11\n"
	place := url.Values{"lat": {"25.5"}, "lng": {"121.5"}}
	for _, form := range []url.Values{
		{"func": {"addAlbum"}, "albumTitle": {"it's \\ new"}, "category": {"3"}},
		{"func": {"updateAlbum"}, "albumID": {"5"}, "albumTitle": {"東北角三日遊"}},
		{"func": {"addComment"}, "albumID": {"5"}, "comment": {"from\nWaybook"}},
		{"func": {"removePhoto"}, "albumID": {"5"}, "photoID": {"32"}},
		{"func": {"updateAlbum"}, "albumID": {"12"}, "delete": {"true"}},
		{
			"func": {"postBlog"}, "type": {"0_3"}, "blogTitle": {"隔年"}, "blogContent": {"x"}, "year": {"2009"}, "month": {"4"}, "day": {"2"},
			"weather": {"有彩虹"}, "replyBlogID": {"7"}, "voteDescription": {"還去嗎?"}, "choice1": {"去"}, "choice2": {"不去"},
		},
		{"func": {"castVote"}, "blogID": {"7"}, "choice": {"1"}},
	} {
		if form.Has("albumTitle") && !form.Has("albumID") || form.Has("blogTitle") {
			maps.Copy(form, place)
		}
		script += "curl -fsS -b 'id=7; idrand=0123456789abcdef0123456789abcdef' -d '" + form.Encode() + "' http://" + http + "/API.php | tee reply\ngrep -q SUCCESS reply\n"
	}
	return script
}

// An export that fails leaves half of a file.
func TestTheGuideStopsWhenAnExportFails(t *testing.T) {
	t.Parallel()
	examples.Need(t, "bash")
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, script := range map[string]string{
		"mysql": "echo '{\"kind\":\"user\",\"id\":7,\"name\":\"Anna\"}'; exit 1", "waybookctl": "touch imported",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	var script strings.Builder
	for _, block := range blocks {
		if block.Language == "sh" && (script.Len() == 0 || strings.Contains(block.Text, "> new.ndjson")) {
			script.WriteString(block.Text)
		}
	}
	shell := exec.CommandContext(t.Context(), "bash")
	shell.Dir, shell.Env, shell.Stdin = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH")), strings.NewReader(script.String())
	output, err := shell.CombinedOutput()
	if _, found := os.Stat(filepath.Join(folder, "imported")); err == nil || found == nil {
		t.Errorf("the guide goes on after an export that failed: %v\n%s", err, output)
	}
}

func testFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// guideContent is what an old server shows of testdata/old.sql.
func guideContent() oldserver.Content {
	at := func(text string) time.Time {
		moment, _ := time.Parse("2006-01-02 15:04:05 -0700", text+" +0800")
		return moment
	}
	traveller, sea := oldserver.Person{Name: "小旅人 & co.", Icon: "icons/7.gif"}, oldserver.Person{Name: "阿海"}
	var many []oldserver.Comment
	for n := 101; n <= 140; n++ {
		many = append(many, oldserver.Comment{At: at("2009-01-02 08:00:00"), By: sea, Text: "comment " + strconv.Itoa(n)})
	}
	return oldserver.Content{
		Albums: map[int64]*oldserver.Place{
			5: {
				Title: "東北角一日遊", Category: 5, Lat: 25.0113, Lng: 121.9404, Owner: traveller, Updated: at("2008-03-09 20:15:00"), Score: 2,
				Photos: []oldserver.Photo{{ID: 31, Address: "upload/5/31.jpg", Description: "陰陽海"}, {ID: 32, Address: "upload/5/32.jpg"}},
				Comments: []oldserver.Comment{
					{At: at("2008-03-06 10:00:00"), By: sea, Text: "好美", RepliedAt: at("2008-03-06 11:00:00"), Reply: "謝謝"},
					{At: at("2008-03-07 10:00:00"), By: oldserver.Person{Name: "路人"}, Text: "me too"},
				},
			},
			12: {Title: "貓 & 狗", Category: 8, Lat: 25.04, Lng: 121.51, Owner: traveller, Updated: at("2009-01-01 08:00:00"), Comments: many},
		},
		Landmarks: map[int64]*oldserver.Place{3: {
			Title: "中正紀念堂", Category: 4, Lat: 25.0346, Lng: 121.5218, Owner: sea, Updated: at("2007-01-01 00:00:00"),
			Photos: []oldserver.Photo{{ID: 4, Address: "http://images.example/poi/4.jpg", Description: "夕陽"}},
		}},
		Entries: map[int64]*oldserver.Entry{
			7: {
				Author: traveller, Type: "0_8", Lat: 23.8571, Lng: 120.9156, Title: "日月潭環湖", Text: "騎了一整天。\r\n好<累>!",
				Year: 2008, Month: 4, Day: 1, Weather: "雨過天晴", Zoom: 14, Map: 1, Question: "下一站去哪裡?",
				Choices:  []oldserver.Choice{{Text: "阿里山"}, {Text: "太魯閣", Votes: 3}},
				Comments: []oldserver.Comment{{At: at("2008-04-02 10:00:00"), By: sea, Text: "我投太魯閣!"}},
			},
			8: {
				Author: sea, Type: "0_2", Lat: 23.9, Lng: 120.9, Title: "隔天", Text: "同上", Year: 2008, Month: 4, Day: 2,
				Weather: "晴空萬里", Quoted: 7, Zoom: 9, Map: 3, Score: 1,
			},
		},
		AlbumsOf: map[int64][]int64{7: {5, 12}, 9: {}, 11: {}}, LandmarksOf: map[int64][]int64{4: {3}}, Own: map[oldserver.Kind]map[int64]int64{},
	}
}
