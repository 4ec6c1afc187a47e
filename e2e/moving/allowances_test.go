package moving_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatOldServicesHaveMovesInUnderItsAllowance has content of shapes that old services have. Without its
// allowance, something is left out.
func TestWhatOldServicesHaveMovesInUnderItsAllowance(t *testing.T) {
	t.Parallel()
	const entry = `{"kind":"entry","id":1,"author_id":7,"type":"0_8","lat":1,"lng":2,"title":"one","content":"text","post_date":"2008-03-05","weather":"有彩虹","create_time":1204679251}`
	vote := strings.Replace(entry, `"create_time"`, `"vote":{"description":"q","choices":[{"description":"a"}]},"create_time"`, 1)
	read := url.Values{"func": {"getBlog"}, "blogID": {"1"}}
	of := url.Values{"func": {"getAlbum"}, "albumID": {"1"}}
	for name, test := range map[string]struct {
		allow string
		lines []string
		from  url.Values
		shown []string
	}{
		"a category":   {"odd-values", []string{strings.Replace(first, `"category":1`, `"category":null`, 1)}, of, []string{"<category>16<"}},
		"coordinates":  {"odd-values", []string{strings.Replace(first, `"lat":1,"lng":2`, `"lat":" 25.5","lng":"nan"`, 1)}, of, []string{"<lat>25.5</lat><lng>0<"}},
		"a score":      {"odd-values", []string{strings.Replace(first, `"lat"`, `"score":-5,"lat"`, 1)}, of, []string{"<score>0<"}},
		"a date":       {"bad-times", []string{strings.Replace(first, `1204679251`, `"0000-00-00 00:00:00"`, 1)}, of, []string{"<year>1970<"}},
		"a photo":      {"bad-parts", []string{first, picture, `{"kind":"photo","id":4,"album_id":1,"url":"b.jpg","size":3}`}, of, []string{"a.jpg"}},
		"a comment":    {"bad-parts", []string{first, `{"kind":"comment","id":4,"album_id":1,"author_id":7,"text":"hi","create_time":1,"mood":1}`}, of, []string{">first<"}},
		"an old reply": {"odd-values", []string{first, `{"kind":"comment","id":4,"album_id":1,"author_id":7,"text":"hi","create_time":1,"reply":"","reply_time":2}`}, of, []string{">hi<"}},
		"a session":    {"bad-parts", []string{first, `{"kind":"session","user_id":7,"idrand":"short"}`}, of, []string{">first<"}},
		"a password":   {"other-passwords", []string{first}, of, []string{">first<"}},
		"an entry": {
			"odd-values", []string{strings.NewReplacer(`"0_8"`, `"x"`, "有彩虹", "?", `"create_time"`, `"zoom_level":99,"map_type":0,"create_time"`).Replace(entry)}, read,
			[]string{"<type>0_2<", "晴空萬里", "<zoomLevel>14<", "<mapType>1<"},
		},
		"a day":  {"bad-times", []string{strings.Replace(entry, "2008-03-05", "0000-00-00", 1)}, read, []string{"<year>2008</year><month>03<"}},
		"a vote": {"odd-values,dangling", []string{vote, `{"kind":"ballot","entry_id":1,"user_id":7,"choice":2}`}, read, []string{">one<"}},
	} {
		t.Run(name, func(t *testing.T) {
			user := anna
			if name == "a password" {
				user = strings.Replace(anna, `"Anna"`, `"Anna","email":"anna@old.example","password_hash":"sha1:0123"`, 1)
			}
			waybook := startOn(t, t.TempDir())
			file := small(t, ended(append([]string{user}, test.lines...))...)
			if done := run(t, "move", "check", file); done.status != 4 || !strings.Contains(done.out, strings.Split(test.allow, ",")[0]) {
				t.Errorf("check: status %d\n%s%s", done.status, done.out, done.notes)
			}
			if done := imported(t, waybook, file, "--allow", test.allow); done.status != 0 {
				t.Errorf("status %d\n%s%s", done.status, done.out, done.notes)
			}
			reply := post(t, waybook, "", test.from)
			for _, want := range test.shown {
				if !strings.Contains(reply, want) {
					t.Errorf("the reply has no %s:\n%s", want, reply)
				}
			}
			if strings.Contains(reply, "<vote>") || strings.Contains(reply, "b.jpg") {
				t.Error(reply)
			}
		})
	}
}

// TestARepairTakesAllThatCanBeMended has one of each fault that a repair mends, and content without an owner.
func TestARepairTakesAllThatCanBeMended(t *testing.T) {
	t.Parallel()
	lines := ended([]string{
		anna, first,
		`{"kind":"album","id":2,"owner_id":99,"title":"two","category":77,"lat":null,"lng":"x","score":-1,"create_time":"0000-00-00"}`,
		`{"kind":"album","id":3,"owner_id":null,"title":"thr\u0001ee","category":1,"lat":1,"lng":2,"create_time":1}`,
		`{"kind":"entry","id":4,"author_id":98,"type":"?","lat":1,"lng":2,"title":"four","content":"text","weather":"?","quoted_id":77,"zoom_level":99,"create_time":1}`,
		`{"kind":"landmark","id":5,"owner_id":97,"name":"five","category":9,"lat":1,"lng":2,"create_time":1}`,
		`{"kind":"photo","id":4,"album_id":2,"url":"b.jpg","size":3}`,
	})
	waybook := startOn(t, t.TempDir())
	file, list := small(t, lines...), filepath.Join(t.TempDir(), "problems.ndjson")
	if done := run(t, "move", "check", "--repair", file); done.status != 4 || !strings.Contains(done.out, "--new-owner") {
		t.Errorf("check without an owner: status %d\n%s%s", done.status, done.out, done.notes)
	}
	if done := run(t, "move", "check", "--new-owner", "-1", file); done.status != 2 {
		t.Errorf("check with an owner that is none: status %d\n%s%s", done.status, done.out, done.notes)
	}
	how := []string{"--repair", "--new-owner", "7"}
	if done := imported(t, waybook, file, append(how, "--problems", list)...); done.status != 0 {
		t.Fatalf("status %d\n%s%s", done.status, done.out, done.notes)
	}
	problems, err := os.ReadFile(list)
	if count := strings.Count(string(problems), `"given to the new owner"`); err != nil || count != 4 {
		t.Errorf("%d given to the new owner: %v\n%s", count, err, problems)
	}
	for _, test := range []struct {
		from  url.Values
		shown string
	}{
		{url.Values{"func": {"getAlbum"}, "albumID": {"2"}}, ">Anna<"},
		{url.Values{"func": {"getAlbum"}, "albumID": {"3"}}, ">Anna<"},
		{url.Values{"func": {"getBlog"}, "blogID": {"4"}}, ">Anna<"},
		{url.Values{"func": {"getPOI"}, "POIID": {"5"}}, ">five<"},
	} {
		if reply := post(t, waybook, "", test.from); !strings.Contains(reply, test.shown) {
			t.Errorf("%v has no %s:\n%s", test.from, test.shown, reply)
		}
	}
}
