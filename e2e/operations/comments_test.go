package operations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

func TestTheCommentsOfAUserAreListedAndRemovedByOneCommand(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	w, user := newOwner(t, o, 1), o.createUser("Bob")
	firstOf := func(list, id string) int64 {
		t.Helper()
		var found []map[string]any
		o.mustRead(&found, append(strings.Fields(list), "--owner", w.user())...)
		return int64(found[0][id].(float64))
	}
	album, entry, landmark := firstOf("album list", "album_id"), firstOf("entry list", "blog_id"), firstOf("landmark list", "poi_id")
	comments := commentv1.NewCommentServiceClient(launch.Dial(t, o.address))
	add := func(request *commentv1.AddCommentRequest) string {
		t.Helper()
		request.AuthorId = numbered(t, user)
		added, err := comments.AddComment(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(added.GetComment().GetCommentId())
	}
	first := add(&commentv1.AddCommentRequest{Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: "one"})
	add(&commentv1.AddCommentRequest{Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: "two"})
	third := add(&commentv1.AddCommentRequest{Parent: &commentv1.AddCommentRequest_BlogId{BlogId: entry}, Text: "three"})
	add(&commentv1.AddCommentRequest{Parent: &commentv1.AddCommentRequest_PoiId{PoiId: landmark}, Text: "four"})
	type written struct {
		Text string `json:"text"`
		Kind string `json:"parent_kind"`
		ID   int64  `json:"parent_id"`
	}
	texts := func(args ...string) (all []string) {
		var found []written
		o.mustRead(&found, append([]string{"user", "comments", user}, args...)...)
		for _, each := range found {
			all = append(all, fmt.Sprint(each.Text, " ", each.Kind, " ", each.ID))
		}
		return all
	}
	expectTexts := func(got []string, want ...string) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the comments are %v, want %v", got, want)
		}
	}
	onAlbum, onLandmark := fmt.Sprint(" KIND_ALBUM ", album), fmt.Sprint("four KIND_POI ", landmark)
	expectTexts(texts(), "one"+onAlbum, "two"+onAlbum, fmt.Sprint("three KIND_BLOG ", entry), onLandmark)
	expectTexts(texts("--limit", "2"), "one"+onAlbum, "two"+onAlbum)
	expectTexts(texts("--limit", "1"), "one"+onAlbum)
	if shown := o.must("user", "comments", user); !strings.Contains(shown, fmt.Sprintf("%s  entry %d", third, entry)) {
		t.Errorf("the table is\n%s", shown)
	}
	o.run("", "comment", "remove", "entry", fmt.Sprint(entry), third).expect(0, "removed "+third)
	o.run("", "comment", "remove", "album", fmt.Sprint(album), "1").expect(3)
	o.run("", "comment", "remove", "photo", "1", third).expect(2, "album")
	expectTexts(texts(), "one"+onAlbum, "two"+onAlbum, onLandmark)
	o.run("", "comment", "remove", "album", fmt.Sprint(album), first).expect(0)
	for _, line := range []string{"--remove", "--yes", "--remove --yes --limit 1"} {
		o.run("", append([]string{"user", "comments", user}, strings.Fields(line)...)...).expect(2, "--remove")
	}
	expectTexts(texts(), "two"+onAlbum, onLandmark)
	if out := o.must("user", "comments", user, "--remove", "--yes"); out != "removed 2 comments\n" {
		t.Errorf("it printed %q", out)
	}
	o.run("", "user", "comments", user).expect(0, "no comments")
}
