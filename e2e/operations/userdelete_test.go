package operations_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// names returns the names of listed users.
func names(users []printedUser) string {
	var all []string
	for _, u := range users {
		all = append(all, u.Name)
	}
	return strings.Join(all, " ")
}

func TestUsersAreListed(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	old := &moveinv1.User{Id: 7, Name: "Old", Email: "old@example.com", PasswordHash: "8743b52063cd84097a65d1633f5c74f5"}
	_, err := moveinv1.NewMoveInServiceClient(launch.Dial(t, o.address)).
		MoveIn(t.Context(), &moveinv1.MoveInRequest{Records: []*moveinv1.Record{{Record: &moveinv1.Record_User{User: old}}}})
	if err != nil {
		t.Fatal(err)
	}
	o.createUser("Ann")
	o.must("user", "create", "annabel", "--email", "Zed@example.com", "--generate-password")
	for line, want := range map[string]string{
		"user list":             "Old Ann annabel",
		"user list --limit 2":   "Old Ann",
		"user list ANN":         "Ann annabel",
		"user list zed@":        "annabel",
		"user list zed --email": "annabel",
		"user list zed":         "",
	} {
		var users []printedUser
		o.mustRead(&users, strings.Fields(line)...)
		if got := names(users); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if !o.logsIn("old@example.com", "hashcat") {
		t.Error("the old password does not log in")
	}
	if shown := o.must("user", "show", "7"); !strings.Contains(shown, "HASH          argon2id\n") {
		t.Errorf("after the login the user is\n%s", shown)
	}
}

// owner is a user with content.
type owner struct {
	operator
	id    int64
	album albumv1.AlbumServiceClient
	blog  blogv1.BlogServiceClient
	poi   poiv1.PoiServiceClient
}

// newOwner creates a user with a number of albums, an entry and a landmark.
func newOwner(t *testing.T, o operator, albums int) *owner {
	t.Helper()
	connection := launch.Dial(t, o.address)
	created, err := accountv1.NewAccountServiceClient(connection).
		CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "Ann", Email: "ann@example.com", Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	w := &owner{o, created.GetUser().GetUserId(), albumv1.NewAlbumServiceClient(connection), blogv1.NewBlogServiceClient(connection), poiv1.NewPoiServiceClient(connection)}
	place := &typev1.Location{Lat: 25, Lng: 121}
	for i := range albums {
		_, err := w.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
			OwnerId: w.id, Title: fmt.Sprint(i), Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: place,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.blog.CreateBlog(t.Context(), &blogv1.CreateBlogRequest{
		AuthorId: w.id, Title: "an entry", Content: "x", Type: blogv1.BlogType_BLOG_TYPE_MOOD, Weather: blogv1.Weather_WEATHER_CLEAR, Location: place, PostDate: &typev1.Date{Year: 2099, Month: 1, Day: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.poi.CreatePoi(t.Context(), &poiv1.CreatePoiRequest{OwnerId: w.id, Name: "a landmark", Category: poiv1.PoiCategory_POI_CATEGORY_TENDER, Location: place})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *owner) user() string { return fmt.Sprint(w.id) }

// counts returns how many albums, entries and landmarks there are of the user.
func (w *owner) counts() string {
	w.t.Helper()
	var albums, entries []any
	for into, line := range map[*[]any]string{&albums: "album list --owner " + w.user(), &entries: "entry list --owner " + w.user()} {
		if done := w.run("", append(strings.Fields(line), "-o", "json")...); done.status != 3 {
			done.expect(0).read(into)
		}
	}
	exported := w.run("", "landmark", "export", "-", "--format", "ndjson", "--owner", w.user())
	if exported.status != 3 {
		exported.expect(0)
	}
	return fmt.Sprintf("%d %d %d", len(albums), len(entries), strings.Count(exported.out, "\n"))
}

func TestAUserIsDeletedWithTheContentAsTheOperatorSays(t *testing.T) {
	t.Parallel()
	for content, c := range map[string]struct {
		status int
		counts string
	}{
		"refuse": {4, "3 1 1"},
		"keep":   {0, "3 1 1"},
		"delete": {0, "0 0 0"},
	} {
		t.Run(content, func(t *testing.T) {
			o := operator{t, startEmpty(t).GRPC}
			w := newOwner(t, o, 3)
			_, session := o.openSession(w.user())
			isOpen := func() bool {
				return strings.Contains(o.run("", "session", "list", "--owner", w.user()).out, session)
			}
			done := o.run("", "user", "delete", w.user(), "--content", content).expect(c.status)
			if got := w.counts(); got != c.counts {
				t.Errorf("left: %s, want %s", got, c.counts)
			}
			if content == "refuse" {
				if !strings.Contains(done.err, "3 albums, 1 entries, 1 landmarks") {
					t.Errorf("the refusal says %s", done.err)
				}
				if !isOpen() {
					t.Error("the session is closed")
				}
				return
			}
			if isOpen() {
				t.Error("the session is open")
			}
			o.run("", "user", "show", w.user()).expect(3)
			o.must("user", "create", "Bea", "--email", "ANN@example.com", "--no-password")
			// Again: nothing is left to do.
			o.must("user", "delete", w.user(), "--content", content)
		})
	}
}

func TestAUserWithoutContentIsDeletedByDefault(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	user := o.createUser("Ann")
	if out := o.must("user", "delete", user); !strings.Contains(out, "deleted user "+user) {
		t.Errorf("printed %s", out)
	}
	o.run("", "user", "show", user).expect(3)
}

// TestAKilledDeletionLeavesADisabledUserAndIsFinishedByTheNext kills the command when it has
// deleted some albums.
func TestAKilledDeletionLeavesADisabledUserAndIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	w := newOwner(t, o, 400)
	program := command(t, "user", "delete", w.user(), "--content", "delete")
	program.Env = append(program.Env, "WAYBOOK_ADDRESS="+o.address)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		page, err := w.album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: w.id, PageSize: 1000})
		if err != nil || len(page.GetAlbums()) == 0 {
			t.Fatalf("all albums are gone before the test has seen it, %v", err)
		}
		if len(page.GetAlbums()) < 400 {
			break
		}
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err == nil {
		t.Fatal("the command ended before it was killed")
	}
	var user struct{ Disabled bool }
	o.mustRead(&user, "user", "show", w.user())
	if !user.Disabled || o.logsIn("ann@example.com", "correct horse") {
		t.Errorf("after the kill the user is %+v", user)
	}
	o.must("user", "delete", w.user(), "--content", "delete")
	if got := w.counts(); got != "0 0 0" {
		t.Errorf("left: %s", got)
	}
	o.run("", "user", "show", w.user()).expect(3)
}

func TestADisabledUserIsEnabledAgain(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	o.must("user", "create", "Ann", "--email", "ann@example.com", "--generate-password")
	var users []printedUser
	o.mustRead(&users, "user", "list", "ann")
	id := users[0].ID.String()
	o.run("battery staple", "user", "set-password", id, "--password-stdin").expect(0)
	o.must("user", "disable", id)
	if o.logsIn("ann@example.com", "battery staple") {
		t.Error("a disabled user logs in")
	}
	o.must("user", "enable", id)
	if !o.logsIn("ann@example.com", "battery staple") {
		t.Error("an enabled user cannot log in")
	}
}
