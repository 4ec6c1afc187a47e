package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/format"
)

// The lines of the tests, which need those before.
const (
	user     = `{"kind":"user","id":12,"name":"小旅人","email":"a@old.example","create_time":"2006-03-05 09:07:31"}`
	session  = `{"kind":"session","user_id":12,"idrand":"0123456789abcdef0123456789abcdef","expire_time":"2099-01-31T00:00:00Z"}`
	reward   = `{"kind":"reward","id":900,"user_id":12,"amount":10}`
	album    = `{"kind":"album","id":5,"owner_id":12,"title":"東北角","category":5,"lat":25.0113,"lng":121.9404,"create_time":"2008-03-05 09:07:31"}`
	entry    = `{"kind":"entry","id":8,"author_id":12,"type":"0_8","lat":23.8,"lng":120.9,"title":"日月潭","content":"騎了一整天","post_date":"2008-04-01","weather":"雨過天晴","vote":{"description":"?","choices":[{"description":"a"},{"description":"b"}]},"create_time":"2008-03-31 22:00:00"}`
	landmark = `{"kind":"landmark","id":"poi-3","owner_id":12,"name":"中正紀念堂","category":4,"lat":25.0,"lng":121.5,"create_time":"2007-01-01T00:00:00Z"}`
	photo    = `{"kind":"photo","id":31,"album_id":5,"url":"31.jpg"}`
	comment  = `{"kind":"comment","id":77,"entry_id":8,"author_id":12,"text":"!","create_time":1206979200}`
	ballot   = `{"kind":"ballot","entry_id":8,"user_id":12,"choice":2}`
	praise   = `{"kind":"recommendation","landmark_id":"poi-3","user_id":12}`
	noEnd    = "end  incomplete"
)

// all are lines without a problem.
func all() []string {
	return []string{
		user, session, reward, album, entry, landmark, photo, comment, ballot, praise,
		`{"kind":"end","user":1,"session":1,"reward":1,"album":1,"entry":1,"landmark":1,"photo":1,"comment":1,"ballot":1,"recommendation":1}`,
	}
}

// with returns a line with other values: with(user, "id", "13").
func with(line string, values ...string) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		panic(err)
	}
	for n := 0; n < len(values); n += 2 {
		if fields[values[n]] = json.RawMessage(values[n+1]); values[n+1] == "" {
			delete(fields, values[n])
		}
	}
	changed, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(changed)
}

// write writes lines to a file, and returns its path.
func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.ndjson")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// input returns what reads files, and the list of problems that it gets.
func input(t *testing.T, repair bool, paths ...string) (Input, *strings.Builder) {
	var problems strings.Builder
	return Input{
		Files: paths, Decoder: format.Decoder{Zone: time.UTC, Repair: repair}, Scratch: t.TempDir(), Problems: &problems,
	}, &problems
}

// quiet reports no progress.
func quiet() progress.Reporter { return progress.NewLines(io.Discard, time.Now) }

// lines returns the problems of a list in short, with the line where there is one.
func lines(t *testing.T, problems string) (short []string) {
	t.Helper()
	for line := range strings.Lines(problems) {
		var p Problem
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimRight(fmt.Sprintf("%d %s %s %s %s %s", p.Line, p.Kind, p.ID, p.Class, p.Field, p.Repair), " ")
		short = append(short, strings.TrimPrefix(text, "0 "))
	}
	return short
}

func TestARecordIsComparedWithThoseBefore(t *testing.T) {
	for _, test := range []struct {
		name           string
		lines          []string
		want, repaired []string
	}{
		{"all is well", all(), nil, nil},
		{"users are in Waybook already", all()[1:10], []string{noEnd}, []string{noEnd}},
		{
			"everything twice, in other letters and under other users", slices.Concat(all()[:10], []string{
				user, with(user, "id", "13", "email", `"A@OLD.example"`), with(user, "id", "14", "email", ""), with(session, "user_id", "14"),
				reward, with(reward, "user_id", "14"), album, entry, landmark, photo, with(photo, "album_id", "", "landmark_id", `"poi-3"`),
				comment, with(comment, "entry_id", "", "album_id", "5"), with(ballot, "choice", "1"), with(ballot, "user_id", "14"), praise,
				with(praise, "landmark_id", "", "album_id", "5"), with(landmark, "id", "5"), with(praise, "landmark_id", "5"),
			}),
			[]string{
				"11 user 12 duplicate id", "11 user 12 duplicate email", "12 user 13 duplicate email",
				"14 session 14 duplicate idrand", "15 reward 900 duplicate id", "17 album 5 duplicate id", "18 entry 8 duplicate id", "19 landmark poi-3 duplicate id",
				"20 photo 31 duplicate id", "22 comment 77 duplicate id", "24 ballot 8/12 duplicate user_id", "26 recommendation poi-3/12 duplicate user_id", noEnd,
			},
			[]string{
				"11 user 12 duplicate id", "11 user 12 duplicate email duplicate-email", "12 user 13 duplicate email duplicate-email",
				"14 session 14 duplicate idrand", "15 reward 900 duplicate id", "17 album 5 duplicate id", "18 entry 8 duplicate id", "19 landmark poi-3 duplicate id",
				"20 photo 31 duplicate id", "22 comment 77 duplicate id", "24 ballot 8/12 duplicate user_id", "26 recommendation poi-3/12 duplicate user_id", noEnd,
			},
		},
		{
			"everything below a user who is left out", slices.Concat([]string{with(user, "id", "7", "email", ""), with(user, "name", "{}")}, all()[1:7],
				[]string{with(comment, "author_id", "", "author_name", `"guest"`), ballot, praise}),
			[]string{
				"2 user 12 wrong-type name", "3 session 12 dangling user_id", "4 reward 900 dangling user_id", "5 album 5 dangling owner_id",
				"6 entry 8 dangling author_id", "7 landmark poi-3 dangling owner_id", "8 photo 31 dangling album_id", "9 comment 77 dangling entry_id",
				"10 ballot 8/12 dangling entry_id", "10 ballot 8/12 dangling user_id", "11 recommendation poi-3/12 dangling landmark_id",
				"11 recommendation poi-3/12 dangling user_id", noEnd,
			},
			nil,
		},
		{
			"a missing author, quote and choice", []string{user, with(entry, "quoted_id", "7"), with(comment, "author_id", "99"), with(ballot, "choice", "3")},
			[]string{"2 entry 8 dangling quoted_id", "3 comment 77 dangling entry_id", "3 comment 77 dangling author_id", "4 ballot 8/12 dangling entry_id", noEnd},
			[]string{"2 entry 8 dangling quoted_id missing-quote", "3 comment 77 dangling author_id missing-author", "4 ballot 8/12 dangling choice", noEnd},
		},
		{"children before their parents", []string{user, photo, album}, []string{"2 photo 31 dangling album_id", noEnd}, nil},
		{"users behind content", []string{album, user}, []string{"2 user 12 wrong-order", noEnd}, nil},
		{"a line that is no JSON, and one that is too long", []string{user, "{", `"` + strings.Repeat("x", format.MaxLineBytes) + `"`, session, ""},
			[]string{"2   unreadable", "3   unreadable", noEnd}, nil},
		{"an end record with other numbers", []string{user, session, `{"kind":"end","user":2,"session":1}`}, []string{"3 end  incomplete user"}, nil},
		{"two end records", []string{user, `{"kind":"end","user":1}`, session, `{"kind":"end","session":1}`}, nil, nil},
		{"a kind that the end record does not name", []string{user, session, `{"kind":"end","user":1}`}, []string{"3 end  incomplete session"}, nil},
	} {
		for _, repair := range []bool{false, true} {
			want := test.want
			if repair && test.repaired != nil {
				want = test.repaired
			}
			in, problems := input(t, repair, write(t, test.lines...))
			report, err := Check(t.Context(), in, quiet())
			if err != nil && !errors.Is(err, ErrIncomplete) {
				t.Fatal(err)
			}
			if got := lines(t, problems.String()); !slices.Equal(got, want) {
				t.Errorf("%s, repair %v:\n%s\nwant\n%s", test.name, repair, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if isClean := len(want) == 0; isClean != (report.Unmended() == 0 && err == nil) {
				t.Errorf("%s: %d problems, %v", test.name, report.Unmended(), err)
			}
		}
	}
}
