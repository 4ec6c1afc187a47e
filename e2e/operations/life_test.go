package operations_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// call calls an operation of the edge with a cookie.
func call(t *testing.T, edge, cookie string, form url.Values) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+edge+"/API.php", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", cookie)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheEdgeAcceptsASessionsCookieUntilItIsClosed(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	o := operator{t, p.GRPC}
	user := o.createUser("小旅人")
	line := o.must("session", "open", user)
	cookie, ok := strings.CutSuffix(line, "\n")
	if !ok || strings.Count(line, "\n") != 1 || !strings.HasPrefix(cookie, "id="+user+"; idrand=") {
		t.Fatalf("the cookie is %q", line)
	}
	album := url.Values{"func": {"addAlbum"}, "albumTitle": {"a"}, "category": {"5"}, "lat": {"25"}, "lng": {"121"}}
	if reply := call(t, p.HTTP, cookie, album); !strings.Contains(reply, "SUCCESS") {
		t.Errorf("the edge replies %s", reply)
	}
	if shown := o.run(line, "session", "verify").expect(0).out; !strings.Contains(shown, user) || strings.Contains(shown, "idrand") {
		t.Errorf("verify prints %q", shown)
	}
	if shown := o.run("", "session", "list", user).expect(0).out; !strings.Contains(shown, user) || strings.Contains(shown, strings.TrimSpace(line)) {
		t.Errorf("the sessions are %s", shown)
	}
	o.run(line, "session", "close").expect(0, "closed")
	o.run(line, "session", "verify").expect(4, "not open")
	if reply := call(t, p.HTTP, cookie, album); !strings.Contains(reply, "LOGIN REQUIRED") {
		t.Errorf("the edge replies %s to a closed session", reply)
	}
	var opened struct {
		Token, Cookie string
		ID            string `json:"session_id"`
	}
	o.mustRead(&opened, "session", "open", user)
	o.run("", "session", "close", user).expect(2, "want a user and a session")
	o.run("", "session", "close", user, opened.ID).expect(0, "closed")
	o.run(opened.Cookie, "session", "verify").expect(4, "not open")
	o.run("", "session", "close", user, opened.ID).expect(3, "has no session "+opened.ID)
	for range 2 {
		o.mustRead(&opened, "session", "open", user)
	}
	if opened.Token == "" || opened.Cookie != "id="+user+"; idrand="+opened.Token {
		t.Errorf("as JSON: %+v", opened)
	}
	var closed struct {
		Count int `json:"closed_count"`
	}
	o.mustRead(&closed, "session", "close-all", user)
	if closed.Count != 2 {
		t.Errorf("%d sessions closed", closed.Count)
	}
}

// thing is an album, an entry or a landmark.
type thing struct {
	noun, id string
}

func TestTheLifeCycleOfAnAlbum(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner, friend := o.createUser("小旅人"), o.createUser("阿海")
	var album struct {
		ID    json.Number `json:"album_id"`
		Title string
	}
	o.mustRead(&album, "album", "create", "台北一日", "--as", owner, "--category", "domestic-travel", "--lat", "-25.034", "--lng", "121.5645")
	id := album.ID.String()
	o.mustRead(&album, "album", "update", id, "--title", "台北兩日")
	if album.Title != "台北兩日" {
		t.Errorf("the title is %q", album.Title)
	}
	live(o, thing{"album", id}, owner, friend)
	picture(o, thing{"album", id}, friend)

	out := o.must("album", "list", "--owner", owner)
	if lines := strings.Split(out, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "ALBUM") ||
		!strings.HasPrefix(lines[1], id+"  domestic-travel  -25.034,121.5645  ") || !strings.HasSuffix(lines[1], "小旅人 ("+owner+")  台北兩日") {
		t.Errorf("the table is\n%s", out)
	}
	end(o, thing{"album", id}, friend, "album", "list", "--owner", owner)
}

func TestTheLifeCycleOfALandmark(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner, friend := o.createUser("地主"), o.createUser("阿海")
	var landmark struct {
		ID json.Number `json:"poi_id"`
	}
	o.mustRead(&landmark, "landmark", "create", "龍山寺", "--as", owner, "--category", "community", "--lat", "25.0372", "--lng", "121.4999")
	id := landmark.ID.String()
	o.must("landmark", "update", id, "--lat", "25.0371", "--lng", "121.4998")
	live(o, thing{"landmark", id}, owner, friend)
	picture(o, thing{"landmark", id}, friend)
	near := o.must("landmark", "nearby", "--lat", "25.0371", "--lng", "121.4998", "--radius", "10")
	if !strings.Contains(near, "\n0       "+id) {
		t.Errorf("nearby is\n%s", near)
	}
	end(o, thing{"landmark", id}, friend, "landmark", "list", "--category", "4")
}

func TestTheLifeCycleOfAnEntry(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	author, friend := o.createUser("作者"), o.createUser("阿海")
	var entry struct {
		ID      json.Number `json:"blog_id"`
		Content string
	}
	o.run("第一行\n第二行\n", "entry", "create", "標題", "-", "--as", author, "--type", "travel", "--weather", "rainbow",
		"--date", "2026-11-21", "--lat", "25", "--lng", "121", "--vote", "去哪裡?", "--choice", "山, 谷", "--choice", "海", "-o", "json").expect(0).read(&entry)
	if entry.Content != "第一行\n第二行\n" {
		t.Errorf("the text is %q", entry.Content)
	}
	id := entry.ID.String()
	if cast := o.must("entry", "vote", id, "2", "--as", friend); cast != "description 去哪裡?\nVOTES  CHOICE\n0      山, 谷\n1      海\n" {
		t.Errorf("the vote is\n%s", cast)
	}
	o.run("", "entry", "vote", id, "1", "--as", friend).expect(4)
	o.must("entry", "update", id, "--title", "新標題", "--weather", "snow")
	live(o, thing{"entry", id}, author, friend)
	shown := o.must("entry", "show", id)
	for _, part := range []string{"\n第一行\n第二行\n", "去哪裡?\n", "0      山, 谷\n", "2026-11-21", "謝謝", "snow", "新標題"} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not in\n%s", part, shown)
		}
	}
	if listed := o.must("entry", "list", "--author", author); !strings.Contains(listed, "標題") || strings.Contains(listed, "第一行") {
		t.Errorf("the list is\n%s", listed)
	}
	end(o, thing{"entry", id}, friend, "entry", "list", "--author", author)
}

// live adds a comment, a reply and a recommendation, and shows them in all formats.
func live(o operator, it thing, owner, friend string) {
	o.t.Helper()
	var comment struct {
		ID    json.Number `json:"comment_id"`
		Reply struct{ Text string }
	}
	o.mustRead(&comment, it.noun, "comment", "add", it.id, "好美", "--as", friend)
	o.mustRead(&comment, it.noun, "comment", "reply", it.id, comment.ID.String(), "謝謝")
	if comment.Reply.Text != "謝謝" {
		o.t.Errorf("the reply is %q", comment.Reply.Text)
	}
	o.run("", it.noun, "comment", "reply", it.id, comment.ID.String(), "no", "--as", friend).expect(4, "without --as")
	if score := o.must(it.noun, "recommend", it.id, "--as", friend); score != "score 1\n" {
		o.t.Errorf("recommend prints %q", score)
	}
	if score := o.must(it.noun, "withdraw", it.id, "--as", friend); score != "score 0\n" {
		o.t.Errorf("withdraw prints %q", score)
	}

	type page struct {
		Comments []struct {
			ID     json.Number `json:"comment_id" yaml:"comment_id"`
			Text   string
			Author struct{ Name string }
		}
	}
	var asJSON, asYAML page
	o.mustRead(&asJSON, it.noun, "show", it.id)
	if err := yaml.Unmarshal([]byte(o.must(it.noun, "show", it.id, "-o", "yaml")), &asYAML); err != nil {
		o.t.Fatal(err)
	}
	for format, got := range map[string]page{"json": asJSON, "yaml": asYAML} {
		if len(got.Comments) != 1 || got.Comments[0].ID != comment.ID || got.Comments[0].Text != "好美" || got.Comments[0].Author.Name != "阿海" {
			o.t.Errorf("%s in %s shows %+v", it.noun, format, got)
		}
	}
	if shown := o.must(it.noun, "show", it.id); !strings.Contains(shown, "好美  謝謝") {
		o.t.Errorf("the table is\n%s", shown)
	}
	o.must(it.noun, "comment", "add", it.id, "again", "--as", owner)
	var first []any
	o.mustRead(&first, it.noun, "comment", "list", it.id, "--limit", "1")
	if len(first) != 1 {
		o.t.Errorf("--limit 1 gives %d comments", len(first))
	}
}

// picture adds a photo and removes it.
func picture(o operator, it thing, friend string) {
	o.t.Helper()
	var photo struct {
		ID json.Number `json:"photo_id"`
	}
	o.run("", it.noun, "photo", "add", it.id, "a.jpg", "--as", friend).expect(4)
	o.mustRead(&photo, it.noun, "photo", "add", it.id, "upload/a.jpg", "--description", "日落")
	if listed := o.must(it.noun, "photo", "list", it.id); !strings.Contains(listed, photo.ID.String()+"  upload/a.jpg  日落\n") {
		o.t.Errorf("the photos are\n%s", listed)
	}
	o.run("", it.noun, "photo", "remove", it.id, photo.ID.String()).expect(0, "removed")
	o.run("", it.noun, "photo", "list", it.id).expect(0, "no photos")
}

// end removes a comment and deletes the thing, which only the owner can do.
func end(o operator, it thing, friend string, list ...string) {
	o.t.Helper()
	var comments []struct {
		ID json.Number `json:"comment_id"`
	}
	o.mustRead(&comments, it.noun, "comment", "list", it.id)
	o.run("", it.noun, "comment", "remove", it.id, comments[0].ID.String()).expect(0, "removed")
	o.run("", it.noun, "comment", "remove", it.id, comments[0].ID.String()).expect(3)
	o.run("", it.noun, "delete", it.id, "--as", friend).expect(4)
	o.run("", it.noun, "delete", it.id).expect(0, "deleted "+it.id)
	o.run("", it.noun, "delete", it.id).expect(3, it.id)
	o.run("", it.noun, "show", it.id).expect(3, it.id)
	for format, want := range map[string]string{"json": "[]\n", "yaml": "[]\n", "table": ""} {
		if got := o.run("", append(list, "-o", format)...).expect(0, "no "); got.out != want {
			o.t.Errorf("the empty list in %s is %q", format, got.out)
		}
	}
}
