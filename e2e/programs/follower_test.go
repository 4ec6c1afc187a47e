package programs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// changesVariable is how many changes the writers make, instead of few in a test of seconds. Then the program is
// restarted and the primary fails, too.
const changesVariable = "WAYBOOK_FOLLOW"

const followedWriters = 16

// debianPython has Debian's libraries; another Python may come first in PATH.
const debianPython = "/usr/bin/python3"

func TestTheCopyOfAFollowerThatIsKilledEqualsTheStore(t *testing.T) {
	t.Parallel()
	gen := generateForPython(t)
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		(&followed{t: t, gen: gen, fail: func() {}}).run()
	})
	if os.Getenv(changesVariable) == "" {
		return
	}
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 2})
		fail := func() {
			if err := server.FailOver(); err != nil {
				t.Error(err)
			}
		}
		(&followed{t: t, gen: gen, fail: fail, flags: []string{"-mongodb-uri", server.URI(mongotest.Database())}}).run()
	})
}

// generateForPython generates the code of the contracts that the follower calls, as docs/grpc.md says.
func generateForPython(t *testing.T) (folder string) {
	t.Helper()
	if err := exec.Command(debianPython, "-c", "import grpc, google.protobuf").Run(); err != nil {
		t.Skip("SKIPPED: python3-grpcio and python3-protobuf are not installed")
	}
	plugin, err := exec.LookPath("grpc_python_plugin")
	if err != nil {
		t.Skip("SKIPPED: protobuf-compiler-grpc is not installed")
	}
	folder = t.TempDir()
	args := []string{
		"--descriptor_set_in=../../proto/descriptors/waybook.protoset.binpb", "--python_out=" + folder, "--grpc_python_out=" + folder,
		"--plugin=protoc-gen-grpc_python=" + plugin, "buf/validate/validate.proto",
	}
	found := waybooktest.Must(filepath.Glob("../../proto/waybook/*/v1/*.proto"))(t)
	for _, path := range found {
		args = append(args, strings.TrimPrefix(path, "../../proto/"))
	}
	if output, err := exec.Command("protoc", args...).CombinedOutput(); err != nil {
		t.Fatalf("protoc: %v\n%s", err, output)
	}
	return folder
}

// followed is a program with writers and a follower.
type followed struct {
	t   *testing.T
	gen string
	// fail fails the primary of the store.
	fail func()
	// flags are those of the store.
	flags []string

	args    []string
	program *launch.Process
	clients clients.Clients
	owners  []int64
	file    string
}

func (f *followed) run() {
	f.file = filepath.Join(f.t.TempDir(), "copy.db")
	data := f.t.TempDir()
	f.program = launch.Start(f.t, binary, data, f.flags...)
	address := f.program.GRPC
	f.args = append(launch.FreePorts(data), append(f.flags, "-grpc", address)...)
	connection := launch.Dial(f.t, address)
	f.clients = clients.Of(connection, connection, connection, connection)
	for i := range followedWriters {
		f.owners = append(f.owners, launch.CreateUser(f.t, connection, fmt.Sprint("writer ", i)))
	}
	changes, kills, restarts := 400, 5, 0
	if n, err := strconv.Atoi(os.Getenv(changesVariable)); err == nil {
		changes, kills, restarts = n, 50, 10
	}
	tickets := make(chan int)
	var writing sync.WaitGroup
	for i := range f.owners {
		writing.Go(func() { f.write(i, tickets) })
	}
	began := time.Now()
	for kill := range kills {
		follower := f.follow(address)
		for n := range changes / kills {
			tickets <- n
		}
		time.Sleep(rand.N(time.Second))
		if restarts > 0 && kill%(kills/restarts) == 1 {
			f.program.End([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[kill%2])
			f.program = launch.Begin(f.t, binary, nil, f.args...).Ready()
		}
		if restarts > 0 && kill%(kills/3) == 2 {
			f.fail()
		}
		if !follower.Alive() {
			f.t.Fatalf("the follower has ended:\n%s", follower.Printed())
		}
		follower.End(syscall.SIGKILL)
	}
	close(tickets)
	writing.Wait()
	f.t.Logf("%d changes, %d kills of the follower and %d restarts took %v", changes, kills, restarts, time.Since(began).Round(time.Second))
	follower := f.follow(address)
	want := f.stored()
	var got map[string]any
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(time.Second) {
		if got = f.copied(); reflect.DeepEqual(got, want) {
			f.t.Logf("the copy has %d albums", len(want))
			return
		}
	}
	for id := range want {
		if !reflect.DeepEqual(got[id], want[id]) {
			f.t.Errorf("album %s is copied as %v, and stored as %v", id, got[id], want[id])
		}
	}
	for id := range got {
		if want[id] == nil {
			f.t.Errorf("the copy has the album %s, which is deleted", id)
		}
	}
	f.t.Log(follower.Printed())
}

// follow starts a follower.
func (f *followed) follow(address string) *launch.Process {
	return launch.Begin(f.t, debianPython, []string{"PYTHONPATH=" + f.gen, "PYTHONDONTWRITEBYTECODE=1"}, "../../examples/follower.py", address, f.file)
}

// write makes changes to the albums of an owner. One that fails may be made or not.
func (f *followed) write(owner int, tickets <-chan int) {
	ctx, me := f.t.Context(), f.owners[owner]
	var albums, photos, comments []int64
	for n := range tickets {
		text := fmt.Sprint(owner, ".", n)
		if len(albums) == 0 || len(albums) < 6 && rand.IntN(5) == 0 {
			created, err := f.clients.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
				OwnerId: me, Title: text, Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121},
			})
			if f.check(err); err == nil {
				albums, photos, comments = append(albums, created.GetAlbum().GetAlbumId()), append(photos, 0), append(comments, 0)
			}
			continue
		}
		at := rand.IntN(len(albums))
		f.check(f.change(ctx, me, albums[at], &photos[at], &comments[at], text))
		if rand.IntN(15) == 0 {
			_, err := f.clients.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: me, AlbumId: albums[at]})
			if f.check(err); err == nil {
				albums[at], photos[at], comments[at] = albums[len(albums)-1], photos[len(albums)-1], comments[len(albums)-1]
				albums, photos, comments = albums[:len(albums)-1], photos[:len(albums)-1], comments[:len(albums)-1]
			}
		}
	}
}

// change changes an album, its photo or its comment.
func (f *followed) change(ctx context.Context, me, album int64, photo, comment *int64, text string) (err error) {
	inAlbum := &photov1.AddPhotoRequest_AlbumId{AlbumId: album}
	switch kind := rand.IntN(8); {
	case kind < 2:
		_, err = f.clients.Album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: me, AlbumId: album, Title: &text})
	case kind == 2:
		user := f.owners[rand.IntN(len(f.owners))]
		_, err = f.clients.Recommendation.Recommend(ctx, &recommendationv1.RecommendRequest{
			UserId: user, Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: album},
		})
	case kind < 5 && *photo == 0:
		var added *photov1.AddPhotoResponse
		added, err = f.clients.Photo.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: me, Parent: inAlbum, Url: "x", Description: text})
		*photo = added.GetPhoto().GetPhotoId()
	case kind == 3:
		_, err = f.clients.Photo.UpdatePhoto(ctx, &photov1.UpdatePhotoRequest{
			ActorId: me, Parent: &photov1.UpdatePhotoRequest_AlbumId{AlbumId: album}, PhotoId: *photo, Description: &text,
		})
	case kind == 4:
		_, err = f.clients.Photo.RemovePhoto(ctx, &photov1.RemovePhotoRequest{
			ActorId: me, Parent: &photov1.RemovePhotoRequest_AlbumId{AlbumId: album}, PhotoId: *photo,
		})
		*photo = 0
	case *comment == 0:
		var added *commentv1.AddCommentResponse
		added, err = f.clients.Comment.AddComment(ctx, &commentv1.AddCommentRequest{
			AuthorId: me, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: text,
		})
		*comment = added.GetComment().GetCommentId()
	case kind < 7:
		_, err = f.clients.Comment.ReplyToComment(ctx, &commentv1.ReplyToCommentRequest{
			ActorId: me, Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: album}, CommentId: *comment, Text: text,
		})
	default:
		_, err = f.clients.Comment.RemoveComment(ctx, &commentv1.RemoveCommentRequest{
			ActorId: me, Parent: &commentv1.RemoveCommentRequest_AlbumId{AlbumId: album}, CommentId: *comment,
		})
		*comment = 0
	}
	return err
}

// check reports an error other than that the program or the store stops, or that an earlier change was made all the same.
func (f *followed) check(err error) {
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded, codes.NotFound, codes.ResourceExhausted:
		time.Sleep(10 * time.Millisecond)
	case codes.OK:
	default:
		f.t.Error(err)
	}
}

// stored returns the albums of the store as copied does.
func (f *followed) stored() map[string]any {
	ctx, all := f.t.Context(), map[string]any{}
	for _, owner := range f.owners {
		page := waybooktest.Must(f.clients.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: owner, PageSize: 1000}))(f.t)
		for _, each := range page.GetAlbums() {
			album := waybooktest.Must(f.clients.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: each.GetAlbumId()}))(f.t)
			photos, comments := []any{}, []any{}
			for _, p := range album.GetPhotos() {
				photos = append(photos, []any{float64(p.GetPhotoId()), p.GetDescription()})
			}
			for _, c := range album.GetComments() {
				comments = append(comments, []any{float64(c.GetCommentId()), c.GetText(), c.GetReply().GetText()})
			}
			all[fmt.Sprint(each.GetAlbumId())] = []any{album.GetAlbum().GetTitle(), float64(album.GetAlbum().GetScore()), photos, comments}
		}
	}
	return all
}

// copied returns the copy of the follower.
func (f *followed) copied() (all map[string]any) {
	const script = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
of = lambda q, i: [list(row) for row in db.execute(q, (i,))]
print(json.dumps({a: [title, score, of("SELECT photo_id, description FROM photos WHERE album_id = ? ORDER BY photo_id", a),
    of("SELECT comment_id, text, reply FROM comments WHERE album_id = ? ORDER BY comment_id", a)]
    for a, title, score in db.execute("SELECT * FROM albums").fetchall() if title.split(".")[0].isdigit()}))`
	output, err := exec.CommandContext(f.t.Context(), debianPython, "-c", script, f.file).Output()
	if err != nil {
		f.t.Logf("the copy cannot be read now: %v", err)
	} else if err := json.Unmarshal(output, &all); err != nil {
		f.t.Error(err)
	}
	return all
}
