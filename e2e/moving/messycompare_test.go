package moving_test

import (
	"database/sql"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// node is an element of a reply. The comparison reads the database and the replies, and uses nothing of
// Waybook to understand either.
type node struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
	Nodes   []node `xml:",any"`
}

// at returns the elements at a path, in which * stands for any name.
func (n node) at(path ...string) (found []node) {
	if len(path) == 0 {
		return []node{n}
	}
	for _, child := range n.Nodes {
		if path[0] == "*" || path[0] == child.XMLName.Local {
			found = append(found, child.at(path[1:]...)...)
		}
	}
	return found
}

// text returns the text of the only element at a path, and "absent" if there is none.
func (n node) text(path ...string) string {
	if found := n.at(path...); len(found) == 1 {
		return found[0].Text
	}
	return "absent"
}

func (n node) texts(path ...string) (all []string) {
	for _, found := range n.at(path...) {
		all = append(all, found.Text)
	}
	return all
}

// ask sends a form as an old client does.
func ask(t *testing.T, waybook *launch.Process, form ...string) (reply node) {
	t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	if err := xml.Unmarshal([]byte(post(t, waybook, "", values)), &reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

// logIn returns the session that a client keeps.
func logIn(t *testing.T, waybook *launch.Process, email, password string) (cookie string) {
	t.Helper()
	client := waybooktest.OnceAt(t, waybook.HTTP)
	client.Post(url.Values{"func": {"login"}, "email": {email}, "password": {password}}.Encode()).MustSucceed(t)
	return client.Cookie()
}

// rows returns the rows of a query as texts; NULL is the empty text.
func (m messyService) rows(query string, args ...any) (all [][]string) {
	m.t.Helper()
	found, err := m.QueryContext(m.t.Context(), query, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() {
		if err := found.Close(); err != nil {
			m.t.Error(err)
		}
	}()
	columns, err := found.Columns()
	if err != nil {
		m.t.Fatal(err)
	}
	for found.Next() {
		values := make([]sql.NullString, len(columns))
		places := make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			m.t.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = value.String
		}
		all = append(all, row)
	}
	if err := found.Err(); err != nil {
		m.t.Fatal(err)
	}
	return all
}

// column returns the first column of a query, as clients see its texts.
func (m messyService) column(query string, args ...any) (all []string) {
	m.t.Helper()
	for _, row := range m.rows(query, args...) {
		all = append(all, shown(row[0]))
	}
	return all
}

// shown returns a text as clients see it: entities are the characters that they meant, and a
// character that XML cannot carry is U+FFFD.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\r\n", r) {
			return '\uFFFD'
		}
		return r
	}, html.UnescapeString(text))
}

// expectIn compares all that clients see of a Waybook with the old database.
func (m messyService) expectIn(waybook *launch.Process, when string) {
	m.t.Helper()
	var seen int
	expect := func(of, what string, want, got any) {
		m.t.Helper()
		if seen++; fmt.Sprint(want) != fmt.Sprint(got) {
			m.t.Errorf("%s: %s: %s is %q, want %q", when, of, what, got, want)
		}
	}
	owner := "coalesce((select m.uid from members m where m.uid = things.uid), 1)"
	for _, uid := range m.column("select uid from members order by uid") {
		for what, call := range map[string][2]string{"ALB": {"getUserAlbumList", "albumID"}, "LOG": {"getUserBlogList", "blogID"}} {
			want := m.column("select tid from things where what = ? and not gone and "+owner+" = cast(? as integer) order by tid", what, uid)
			reply := ask(m.t, waybook, "func", call[0], "userID", uid)
			expect("user "+uid, call[0], want, reply.texts("*", "*", call[1]))
		}
	}
	calls := map[string][2]string{"ALB": {"getAlbum", "albumID"}, "LOG": {"getBlog", "blogID"}, "POI": {"getPOI", "POIID"}}
	names := map[string][3]string{"ALB": {"albumTitle", "ownerName", "thumbnail"}, "LOG": {"blogTitle", "authorName", ""}, "POI": {"name", "ownerName", "photo"}}
	for _, row := range m.rows("select tid, what, head, body, trim(cat), pos, points, (select nick from members where uid = " + owner + "), sky, poll, gone from things") {
		tid, what, call, name := row[0], row[1], calls[row[1]], names[row[1]]
		reply, of := ask(m.t, waybook, "func", call[0], call[1], tid), call[0]+" "+tid
		if row[10] == "1" {
			expect(of, "status", "FAILED", reply.text("status"))
			continue
		}
		expect(of, "title", shown(row[2]), reply.text(name[0]))
		expect(of, "owner", shown(row[7]), reply.text(name[1]))
		lat, lng, isPlace := strings.Cut(row[5], ",")
		for field, want := range map[string]string{"lat": lat, "lng": lng} {
			number, err := strconv.ParseFloat(strings.TrimSpace(want), 64)
			if !isPlace {
				number, err = 0, nil
			}
			got, gotErr := strconv.ParseFloat(reply.text("Location", field), 64)
			expect(of, field, number, got)
			expect(of, field, []error{nil, nil}, []error{err, gotErr})
		}
		if what == "LOG" {
			expect(of, "text", strings.ReplaceAll(shown(row[3]), "\r\n", "\n"), strings.ReplaceAll(reply.text("blogContent"), "\r\n", "\n"))
			if row[8] != "foggy" {
				expect(of, "weather", row[8], reply.text("weather"))
			}
			m.expectVotes(reply, tid, row[9], func(field string, want, got any) { m.t.Helper(); expect(of, field, want, got) })
		} else {
			if row[4] != "99" && row[4] != "" {
				expect(of, "category", row[4], reply.text("category"))
			}
			expect(of, "photos", m.column("select file from media where tid = ? order by mid", tid), reply.texts("photos", "*", name[2]))
			expect(of, "notes", m.column("select note from media where tid = ? order by mid", tid), reply.texts("photos", "*", "description"))
		}
		points, err := strconv.Atoi(row[6])
		if err != nil {
			points = 0 // NULL
		}
		likes := m.rows("select 1 from likes where tid = ?", tid)
		expect(of, "score", max(points, len(likes)), reply.text("score"))
		expect(of, "comments", m.column("select words from remarks where tid = ? order by rid", tid), reply.texts("comments", "*", "comment"))
		expect(of, "commenters", m.column("select coalesce((select nick from members where members.uid = remarks.uid), nick) from remarks where tid = ? order by rid", tid),
			reply.texts("comments", "*", "commenterName"))
		expect(of, "replies", m.column("select answer from remarks where tid = ? and answer is not null order by rid", tid), reply.texts("comments", "*", "authorReply", "reply"))
	}
	m.t.Logf("%s: %d values compared", when, seen)
}

// expectVotes compares the choices of an entry. Ballots of members count also where the old number was lower.
func (m messyService) expectVotes(reply node, tid, poll string, expect func(field string, want, got any)) {
	m.t.Helper()
	if poll == "" {
		expect("vote", 0, len(reply.at("vote")))
		return
	}
	var texts, votes []string
	for n, choice := range m.rows("select json_extract(c.value, '$[0]'), json_extract(c.value, '$[1]') from json_each(?, '$.c') c order by c.key", poll) {
		ballots := m.rows("select 1 from picks join members using (uid) where tid = ? and n = ?", tid, n+1)
		counted, err := strconv.Atoi(choice[1])
		if err != nil {
			m.t.Fatal(err)
		}
		texts, votes = append(texts, choice[0]), append(votes, strconv.Itoa(max(counted, len(ballots))))
	}
	if len(texts) < 2 {
		return // what becomes of a vote with one choice is Waybook's to say
	}
	expect("choices", texts, reply.texts("vote", "choices", "*", "description"))
	expect("votes", slices.Clone(votes), reply.texts("vote", "choices", "*", "votes"))
}
