package compare

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/progress"
)

var taipei = time.FixedZone("Taipei", 8*60*60)

func newComparer() *comparer { return &comparer{taipei, map[id]int64{}, map[id]int64{}} }

// response returns a reply with some elements.
func response(elements string) string {
	if !strings.Contains(elements, "<status>") {
		elements = "<status>SUCCESS</status>" + elements
	}
	return "<response>" + elements + "</response>"
}

// compared compares two replies, and returns the differences and the rules that were used.
func (c *comparer) compared(t *testing.T, function, old, new string) (differences, rules []string) {
	t.Helper()
	was, err := parseReply([]byte(response(old)))
	if err != nil {
		t.Fatalf("%v in %s", err, old)
	}
	is, err := parseReply([]byte(response(new)))
	if err != nil {
		t.Fatalf("%v in %s", err, new)
	}
	differences, used := c.compare(function, was, is)
	return differences, slices.Sorted(maps.Keys(used))
}

func TestEachRuleAllowsItsDifferencesAndNoOthers(t *testing.T) {
	tried := map[string]bool{}
	for _, test := range []struct {
		rule, function, old, new string
		others                   []string // new replies that differ
	}{
		{"ids", "getAlbum", "<albumID>12</albumID>", "<albumID>890341293580625</albumID>", []string{"<albumID></albumID>", "<albumID>0</albumID>", "<albumID>x</albumID>"}},
		{"times", "getAlbum", "<time>2008/3/5 9:07</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-05 09:08:00</time>", "<time>2008-05-03 09:07:00</time>", "<time>soon</time>"}},
		{"times", "getAlbum", "<time>2008-03-05T01:07:31Z</time>", "<time>2008-03-05 09:07:31</time>", []string{"<time>2008-03-05 01:07:31</time>", "<time></time>"}},
		{"times", "getAlbum", "<time>2008-03-05 09:07:31</time>", "<time>2008-03-05 09:07</time>", nil},
		{"times", "getAlbum", "<time>2008-03-05T09:07:31+0800</time>", "<time>2008-03-05T09:07:31+08:00</time>", []string{"<time>2008-03-05 09:07:32</time>"}},
		{"numbers", "getAlbum", "<lat>25.0330</lat>", "<lat>25.033</lat>", []string{"<lat>25.0331</lat>", "<lat>25,033</lat>", "<lat>NaN</lat>"}},
		{"numbers", "getBlog", "<postDate><month>3</month></postDate>", "<postDate><month>03</month></postDate>", []string{"<postDate>3</postDate>", "<postDate><month>4</month></postDate>"}},
		{"order", "getAlbum", "<score>1</score><name>a</name>", "<name>a</name><score>1</score>", []string{"<name>a</name>", "<name>a</name><score>1</score><score>1</score>"}},
		{"images", "getAlbum", "<ownerIcon>http://img.old.example:81/up/a.jpg?v=1</ownerIcon>", "<ownerIcon>up/a.jpg?v=1</ownerIcon>", []string{"<ownerIcon>up/b.jpg?v=1</ownerIcon>", "<ownerIcon>up/a.jpg?v=2</ownerIcon>", "<ownerIcon></ownerIcon>", "<ownerIcon>upload/album/7/8-thumb.jpg</ownerIcon>"}},
		{"images", "getAlbum", "<thumbnail>up/a.jpg</thumbnail>", "<thumbnail>upload/album/7/8-thumb.jpg</thumbnail>", []string{"<thumbnail>upload/album/7/8.jpg</thumbnail>"}},
		{"images", "getPOI", "<photo>up/a.jpg</photo>", "<photo>https://new.example/upload/poi/7/8-view.jpg</photo>", nil},
		{"additions", "getAlbum", "<comments><comment1><comment>a</comment></comment1></comments>", "<ownerID>7</ownerID><comments><comment1><commentID>5</commentID><comment>a</comment></comment1></comments>", []string{
			"<commentID>5</commentID><comments><comment1><comment>a</comment></comment1></comments>", "<authorID>7</authorID><comments><comment1><comment>a</comment></comment1></comments>",
		}},
		{"additions", "getUserAlbumList", "<albumList/>", "<albumList/><next>7</next>", []string{"<albumList/><previous>7</previous>"}},
		{"additions", "getPOI", "<photos><photo1><photo>a</photo></photo1></photos>", "<photos><photo1><photoPath>a</photoPath><photo>a</photo></photo1></photos>", []string{"<photos><photo1><photoPath>a</photoPath></photo1></photos>", "<photos><photo1><photoPath>b</photoPath><photo>a</photo></photo1></photos>"}},
		{"additions", "getPOI", "<photos><photo1><photoPath>a</photoPath></photo1></photos>", "<photos><photo1><photoPath>a</photoPath><photo>a</photo></photo1></photos>", nil},
		{"optional", "getAlbum", "<comments/>", "", []string{"<comments><comment1/>x</comments>", "<name/>"}},
		{"optional", "getBlog", "", "<zoomLevel>14</zoomLevel><mapType>1</mapType><replyBlogID>0</replyBlogID>", []string{"<zoomLevel>13</zoomLevel>", "<replyBlogID>1</replyBlogID>", "<comments><comment1><comment>a</comment></comment1></comments>"}},
		{"info", "getAlbum", "<status>FAILED</status><info>no album</info>", "<status>FAILED</status><info>ALBUM NOT FOUND</info>", []string{"<status>SUCCESS</status><info>no album</info>", "<status>FAILED</status><info>x</info><score>1</score>"}},
		{"info", "getBlog", "<status>FAILED</status>", "<status>FAILED</status><info>BLOG NOT FOUND</info>", []string{"<status>SUCCESS</status>", "<a>1</a>"}},
		{"space", "getBlog", "<blogContent>\n a&#13;\nb </blogContent>", "<blogContent>a\nb</blogContent>", []string{"<blogContent>a b</blogContent>", "<blogContent>ab</blogContent>"}},
	} {
		tried[test.rule] = true
		if differences, rules := newComparer().compared(t, test.function, test.old, test.new); len(differences) > 0 || !slices.Equal(rules, []string{test.rule}) {
			t.Errorf("%s and %s: %q, allowed by %q, want %s", test.old, test.new, differences, rules, test.rule)
		}
		for _, other := range test.others {
			if differences, _ := newComparer().compared(t, test.function, test.old, other); len(differences) == 0 {
				t.Errorf("%s and %s do not differ", test.old, other)
			}
		}
	}
	for old, new := range map[string]string{
		"<lat>x</lat>": "<lat>y</lat>", "<lat>0</lat>": "<lat>y</lat>", "<lat></lat>": "<lat>0</lat>", "<time>a</time>": "<time>b</time>",
		"<albumID>x</albumID>": "<albumID>y</albumID>", "<albumID>0</albumID>": "<albumID>5</albumID>", "<albumID>a</albumID>": "<albumID>5</albumID>",
		"<ownerIcon>http://a</ownerIcon>": "<ownerIcon>http://b</ownerIcon>", "<ownerIcon>%zz</ownerIcon>": "<ownerIcon>a</ownerIcon>", "<ownerIcon>a</ownerIcon>": "<ownerIcon>%zz</ownerIcon>",
		"<info>x</info>": "", "<albumTitle>a</albumTitle>": "<albumTitle>A</albumTitle>", "<time>2008-03-05 09:07:31</time>": "<time>2008-03-05 09:08</time>",
	} {
		if differences, _ := newComparer().compared(t, "getAlbum", old, new); len(differences) != 1 {
			t.Errorf("%s and %s: %q", old, new, differences)
		}
	}
	guide, err := os.ReadFile("../../docs/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "| rule | allows |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		rule := strings.Trim(strings.Fields(row)[1], "`")
		if !tried[rule] {
			t.Errorf("the rule %s has no case", rule)
		}
		delete(tried, rule)
	}
	if len(tried) > 0 {
		t.Errorf("docs/moving-in.md lacks %v", tried)
	}
}

func TestWhatClientsOfXMLCannotSeeIsTheSame(t *testing.T) {
	old, err := parseReply([]byte("\uFEFF" + `<?xml version="1.0" encoding="big5"?>` + "\r\n<response xmlns='x'>\n<!-- v2 --><status a='1'>SUCCESS</status><a>\xA4\xA4&amp;&nbsp;</a></response>\n"))
	if err != nil {
		t.Fatal(err)
	}
	new, err := parseReply([]byte("<response><status>SUCCESS</status><a><![CDATA[中&]]>\u00A0</a></response>"))
	if err != nil {
		t.Fatal(err)
	}
	if differences, rules := newComparer().compare("getAlbum", old, new); len(differences)+len(rules) > 0 {
		t.Errorf("%q, %v", differences, rules)
	}
}

func TestAnIdentifierStandsForOneOtherInTheWholeRun(t *testing.T) {
	c := newComparer()
	for _, test := range []struct {
		name, old, new string
		differ         bool
	}{
		{"albumID", "1", "101", false},
		{"albumID", "01", "101", false},
		{"albumID", "1", "102", true}, // 1 is 101
		{"albumID", "2", "101", true}, // 101 is 1
		{"albumID", "2</albumID><x>1</x><albumID>3", "102</albumID><x>2</x><albumID>103", true}, // another album, perhaps
		{"albumID", "2", "103", false}, // so that taught nothing
		{"blogID", "1", "102", false},  // another kind
		{"replyBlogID", "1", "103", true},
		{"albumID", "7", "7", false},
		{"albumID", "7", "107", true},
		{"userID", "7", "107", true},
		{"ownerID", "7", "107", true},
	} {
		element := "<" + test.name + ">%s</" + test.name + ">"
		if differences, _ := c.compared(t, "getAlbum", fmt.Sprintf(element, test.old), fmt.Sprintf(element, test.new)); test.differ != (len(differences) > 0) {
			t.Errorf("%+v: %q", test, differences)
		}
	}
	w := walk{comparer: newComparer()}
	for n := range maxPairs + 10 {
		if text := fmt.Sprint(n + 1); !w.isPair('a', text, text) {
			t.Fatalf("%d is no pair", n)
		}
	}
	if len(w.news) != maxPairs || len(w.olds) != maxPairs {
		t.Errorf("%d and %d identifiers are kept", len(w.news), len(w.olds))
	}
}

// server answers each request with a function of its query, and keeps the queries.
type server struct {
	Server
	mu           sync.Mutex
	queries      []string
	inside, most atomic.Int64
}

func serve(t *testing.T, answer func(w http.ResponseWriter, query string)) *server {
	t.Helper()
	s := &server{}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if now := s.inside.Add(1); now > s.most.Load() {
			s.most.Store(now)
		}
		defer s.inside.Add(-1)
		s.mu.Lock()
		s.queries = append(s.queries, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		answer(w, r.URL.RawQuery)
	}))
	t.Cleanup(listening.Close)
	if err := s.UnmarshalText([]byte(listening.URL)); err != nil {
		t.Fatal(err)
	}
	return s
}

// says returns an answer of some elements.
func says(elements string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, _ string) { _, _ = w.Write([]byte(response(elements))) }
}

func play(t *testing.T, old, new *server, timeout time.Duration, file string) (Summary, error) {
	t.Helper()
	options := Options{Old: old.Server, New: new.Server, Timeout: timeout, Zone: taipei}
	return Run(t.Context(), options, "-", strings.NewReader(file), progress.New(io.Discard))
}

func TestOnlyReadsAreSentAndResultsAreInTheOrderOfTheFile(t *testing.T) {
	var file strings.Builder
	for n := range 40 {
		fmt.Fprintf(&file, "# %d\n\nfunc=getAlbum&albumID=%d\r\n", n, n)
	}
	file.WriteString("func=getBlog&blogID=1\nfunc=updateAlbum&albumID=1&delete=true\nfunc=getAlbum&func=updateAlbum\nfunc=getAlbum&FUNC=updateAlbum\n" +
		"func=getAlbum&func%00=x\nfunc=getAlbum;func=updateAlbum\nalbumID=1\nfunc=getPhotoAlbum\n")
	slow := func(elements string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, query string) {
			time.Sleep(time.Duration(len(query)*7%5) * time.Millisecond)
			says(elements+"<a><![CDATA["+query+"]]></a>")(w, query)
		}
	}
	old, new := serve(t, slow("<score>1</score>")), serve(t, slow("<score>2</score>"))
	found, err := play(t, old, new, time.Minute, file.String())
	if err != nil || found.Different != 41 || found.Trouble != 7 || found.Same+found.Allowed != 0 || found.NotShown["getAlbum"] != 30 || found.NotShown["getBlog"] != 0 {
		t.Errorf("%v, %+v", err, found)
	}
	want := Finding{121, "func=getBlog&blogID=1", `score: old "1", new "2"`}
	if isSorted := slices.IsSortedFunc(found.Differences, func(a, b Finding) int { return int(a.Line - b.Line) }); !isSorted || len(found.Differences) != 11 || found.Differences[10] != want {
		t.Errorf("%+v", found.Differences)
	}
	for n, want := range []string{`"updateAlbum" is no read`, "is repeated", "is repeated", "other characters", "not a query", `"" is no read`, `"getPhotoAlbum" is no read`} {
		if !strings.Contains(found.Troubles[n].Text, want) {
			t.Errorf("%+v, want %s", found.Troubles[n], want)
		}
	}
	for _, each := range []*server{old, new} {
		if len(each.queries) != 41 || each.most.Load() > concurrency || each.most.Load() < 2 || slices.ContainsFunc(each.queries, func(q string) bool { return !strings.HasPrefix(q, "GET /API.php?") || strings.Contains(q, "update") }) {
			t.Errorf("%d at a time, %d: %q", each.most.Load(), len(each.queries), each.queries)
		}
	}
}

func TestAReplyThatCannotBeReadIsTrouble(t *testing.T) {
	good := serve(t, says("<score>1</score>"))
	answering := func(status int, header, body string) *server {
		return serve(t, func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", header)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
	for want, bad := range map[string]*server{
		"HTTP 500":     answering(500, "", response("")),
		"HTTP 429":     answering(429, "", response("")),
		"HTTP 302":     answering(302, "http://"+good.Host+"/API.php", response("")),
		"not one":      answering(200, "", "<html><status>SUCCESS</status></html>"),
		"not one resp": answering(200, "", "<response></response>"),
		"unexpected":   serve(t, func(w http.ResponseWriter, _ string) { w.Header().Set("Content-Length", "999"); says("")(w, "") }),
		"and nothing":  answering(200, "", "Warning: x"+response("")),
		"nothing else": answering(200, "", response("")+response("")),
		"no XML":       answering(200, "", ""),
		"neither":      answering(200, "", `<?xml version="1.0" encoding="koi8-r"?>`+response("")),
		"16 MiB":       answering(200, "", strings.Repeat("x", maxReplyBytes+1)),
	} {
		for name, pair := range map[string][2]*server{"old": {bad, good}, "new": {good, bad}} {
			found, err := play(t, pair[0], pair[1], time.Minute, "func=getAlbum\n")
			if err != nil || found.Trouble != 1 || !strings.Contains(found.Troubles[0].Text, name+" server: ") || !strings.Contains(strings.ToLower(found.Troubles[0].Text), strings.ToLower(want)) {
				t.Errorf("%s: %v, %+v", want, err, found)
			}
		}
	}
	never := make(chan struct{})
	silent := serve(t, func(http.ResponseWriter, string) { <-never })
	if found, err := play(t, good, silent, 50*time.Millisecond, "func=getAlbum\n"); err != nil || found.Trouble != 1 || !strings.Contains(found.Troubles[0].Text, "deadline") {
		t.Errorf("%v, %+v", err, found)
	}
	close(never)
	if found, err := play(t, answering(500, "", ""), good, time.Minute, strings.Repeat("func=getAlbum\n", 100)); err == nil || found.Trouble != maxSilence || len(found.Troubles) != maxShown {
		t.Errorf("%v, %+v", err, found)
	}
	if _, err := play(t, good, good, time.Minute, "func=getAlbum\nfunc="+strings.Repeat("x", maxLineBytes)); err == nil || !strings.Contains(err.Error(), "line 2: the line is longer") {
		t.Errorf("%v", err)
	}
	var base Server
	if err := base.UnmarshalText([]byte("https://old.example/legacy/API.php")); err != nil || base.String() != "https://old.example/legacy/API.php" {
		t.Errorf("%v, %s", err, &base)
	}
	for _, address := range []string{"old.example", "ftp://old.example", "http:///API.php", "http://old.example/%zz", "http://ann:secret@old.example", "http://old.example/?", "http://old.example/#a"} {
		if err := new(Server).UnmarshalText([]byte(address)); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func FuzzAReplyDoesNotDifferFromItself(f *testing.F) {
	f.Add("<albumID>7</albumID><comments><comment1><time>2008-03-05 09:07:31</time></comment1></comments>a&#13;\n")
	f.Fuzz(func(t *testing.T, elements string) {
		reply, err := parseReply([]byte(response(elements)))
		if err != nil {
			return
		}
		if differences, rules := newComparer().compare("getAlbum", reply, reply); len(differences)+len(rules) > 0 {
			t.Errorf("%q: %q, %v", elements, differences, rules)
		}
	})
}
