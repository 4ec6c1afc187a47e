package follow

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	writers = 16
	// kills is how often a follower is killed at least, and changesPerKill how many changes are between
	// two kills at most. After every third, deletions are forgotten.
	kills          = 20
	changesPerKill = 1000
	// disturbances is how many changes are between two disturbances of the store.
	disturbances = 97
	// election is how long a cluster has no primary.
	election = 50 * time.Millisecond
	// idle is after how long a follower is killed that has nothing to store.
	idle = 2 * time.Second
	// few is how many albums a writer has at a time where the server answers queries with scans.
	few = 6
)

// changes returns how many changes the writers make, from WAYBOOK_FOLLOW.
func changes(t *testing.T) int {
	t.Helper()
	text := os.Getenv("WAYBOOK_FOLLOW")
	if text == "" {
		return 800
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("WAYBOOK_FOLLOW: %v", err)
	}
	return n
}

func TestTheCopyOfAFollowerThatIsKilledEqualsAStoreOfTwoProcesses(t *testing.T) {
	longform.Only(t)
	clock := &stepping{}
	server := mongotest.StartServer(t, mongowire.Config{Role: mongowire.Router, Shards: 2})
	server.SetClock(clock.now)
	followsAll(t, changes(t), few, clock, func() {
		clock.step()
		elect := server.StepDown()
		server.CutConnections()
		time.Sleep(election)
		elect()
	}, startTwo(t, server.URI(mongotest.Database()))...)
}

// Its clock is not ours, so no deletion is forgotten.
func TestTheCopyOfAFollowerThatIsKilledIsEqualOnARealServer(t *testing.T) {
	uri := mongotest.OnRealServer(t)
	followsAll(t, changes(t), math.MaxInt, nil, func() {
		if err := mongotest.StepDown(t.Context(), uri); err != nil {
			t.Error(err)
		}
	}, startTwo(t, uri)...)
}

// startTwo starts two processes on a database.
func startTwo(t *testing.T, uri string) (processes []*waybooktest.Waybook) {
	t.Helper()
	for range 2 {
		engine := waybooktest.Must(mongo.Open(t.Context(), uri, ""))(t)
		closeLater(t, engine)
		processes = append(processes, startReplica(t, engine))
	}
	return processes
}

func closeLater(t *testing.T, engine docstore.Engine) {
	t.Helper()
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
}

// startWorld has writers with at most so many albums each make changes while something disturbs the store,
// for followers that a command starts. Its tickets end the writers, and running is done then.
func startWorld(t *testing.T, most int, disturb func(), command func() *exec.Cmd, processes ...*waybooktest.Waybook) (w *world, running *sync.WaitGroup) {
	w = &world{t: t, processes: processes, most: most, disturb: disturb, command: command, tickets: make(chan int)}
	running = &sync.WaitGroup{}
	w.owners = make([]int64, writers)
	for i := range writers {
		reply, err := processes[0].Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: fmt.Sprint("writer ", i)})
		w.owners[i] = waybooktest.Must(reply, err)(t).GetUser().GetUserId()
	}
	for i := range writers {
		running.Go(func() { w.write(i) })
	}
	return w, running
}

// followsAll kills a follower while writers make changes, and compares. Deletions are forgotten if there
// is a clock to advance.
func followsAll(t *testing.T, changes, most int, clock *stepping, disturb func(), processes ...*waybooktest.Waybook) {
	journal := filepath.Join(t.TempDir(), "journal")
	addresses := make([]string, len(processes))
	for i, each := range processes {
		addresses[i] = each.GRPC
	}
	w, running := startWorld(t, most, disturb, func() *exec.Cmd {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), followVariable+"="+strings.Join(addresses, ","), journalVariable+"="+journal)
		return command
	}, processes...)
	early, err := processes[0].Album.ListAlbumChanges(t.Context(), &albumv1.ListAlbumChangesRequest{})
	beginning := waybooktest.Must(early, err)(t).GetNextPageToken()
	titles := w.restart()
	phases := max(kills, changes/changesPerKill)
	for phase := range phases {
		for n := range changes / phases {
			w.tickets <- phase*changes/phases + n
		}
		late := time.AfterFunc(idle, func() { _ = w.running.Process.Kill() }) // fails if it has ended
		for n := rand.IntN(changes / phases / 4); n > 0 && titles.Scan(); n-- {
			continue
		}
		late.Stop()
		isForgetful := phase%3 == 2 && clock != nil
		if isForgetful {
			w.catchUp(titles) // what changes later, it has to learn
		}
		w.kill()
		if isForgetful {
			clock.pass()
			w.must(processes[0].TrySweep)
			w.expectForgotten(beginning)
		}
		titles = w.restart()
	}
	close(w.tickets)
	running.Wait()
	w.catchUp(titles)
	w.kill()
	albums, _, err := replay(journal)
	if err != nil {
		t.Fatal(err)
	}
	stored := w.stored()
	for id, want := range stored {
		got := albums[id]
		if want.PhotosAt, want.CommentsAt = got.PhotosAt, got.CommentsAt; !reflect.DeepEqual(got, want) {
			t.Errorf("album %d is copied as %+v, and stored as %+v", id, got, want)
		}
	}
	for id := range albums {
		if _, isThere := stored[id]; !isThere {
			t.Errorf("the copy has the album %d, which is deleted", id)
		}
	}
	t.Logf("%d changes left %d albums", changes, len(stored))
}

type world struct {
	t         *testing.T
	processes []*waybooktest.Waybook
	// most is how many albums a writer has at a time.
	most    int
	disturb func()
	// command is that of a follower.
	command func() *exec.Cmd
	owners  []int64
	// tickets are for the changes that writers may make now.
	tickets chan int

	running *exec.Cmd
	input   io.Closer
}

// restart starts a follower and returns the lines that it prints.
func (w *world) restart() *bufio.Scanner {
	w.t.Helper()
	w.running = w.command()
	w.running.Stderr = os.Stderr
	w.input = waybooktest.Must(w.running.StdinPipe())(w.t)
	output := waybooktest.Must(w.running.StdoutPipe())(w.t)
	if err := w.running.Start(); err != nil {
		w.t.Fatal(err)
	}
	return bufio.NewScanner(output)
}

// catchUp waits until the follower has what is stored now, with its token.
func (w *world) catchUp(titles *bufio.Scanner) {
	marker := fmt.Sprint("marker ", rand.Int64())
	if w.create(0, marker) == 0 {
		w.t.Fatal("no album can be created")
	}
	for _, awaited := range []string{marker, tokenStored} {
		for titles.Scan() && titles.Text() != awaited {
			continue
		}
	}
}

// kill kills the follower with SIGKILL.
func (w *world) kill() {
	if err := w.running.Process.Kill(); err != nil {
		w.t.Error(err)
	}
	_ = w.running.Wait() // it was killed
}

// any returns one of the processes.
func (w *world) any() *waybooktest.Waybook { return w.processes[rand.IntN(len(w.processes))] }

// create returns the id of a new album. It tries again while the store is disturbed.
func (w *world) create(owner int, title string) int64 {
	request := &albumv1.CreateAlbumRequest{
		OwnerId: w.owners[owner], RequestId: uuid.NewString(), Title: title, Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121},
	}
	for {
		reply, err := w.any().Album.CreateAlbum(w.t.Context(), request)
		if w.check(err); status.Code(err) != codes.Unavailable {
			return reply.GetAlbum().GetAlbumId()
		}
	}
}

// check reports an error other than that something is not there, or the store has no primary.
func (w *world) check(err error) {
	if code := status.Code(err); code != codes.OK && code != codes.NotFound && code != codes.Unavailable {
		w.t.Error(err)
	}
}

// must calls something again while the store has no primary.
func (w *world) must(call func(context.Context) error) {
	err := call(w.t.Context())
	for errors.Is(err, docstore.ErrUnavailable) {
		err = call(w.t.Context())
	}
	if err != nil {
		w.t.Error(err)
	}
}

// expectForgotten expects that some deletion after a token is forgotten.
func (w *world) expectForgotten(token string) {
	w.must(func(ctx context.Context) error {
		_, err := w.any().Album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageToken: token})
		switch status.Code(err) {
		case codes.FailedPrecondition:
			return nil
		case codes.Unavailable:
			return docstore.ErrUnavailable
		}
		return fmt.Errorf("after a sweep, a page from the beginning ends with %w", err)
	})
}

// write makes changes to the albums of one owner, and to those of the next.
func (w *world) write(owner int) {
	ctx, me := w.t.Context(), w.owners[owner]
	var albums, photos []int64
	comments := map[int64]int64{}
	for n := range w.tickets {
		if n%disturbances == 0 {
			w.disturb()
		}
		text, client := fmt.Sprint(owner, ".", n), w.any()
		if len(albums) == 0 || len(albums) < w.most && rand.IntN(5) == 0 {
			albums, photos = append(albums, w.create(owner, text)), append(photos, 0)
			continue
		}
		at := rand.IntN(len(albums))
		id, err := albums[at], error(nil)
		switch rand.IntN(9) {
		case 0, 1:
			_, err = client.Album.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{ActorId: me, AlbumId: id, Title: &text})
		case 2:
			var added *photov1.AddPhotoResponse
			added, err = client.Photo.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: me, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: id}, Url: "x", Description: text})
			photos[at] = added.GetPhoto().GetPhotoId()
		case 3:
			if photos[at] != 0 {
				_, err = client.Photo.UpdatePhoto(ctx, &photov1.UpdatePhotoRequest{ActorId: me, Parent: &photov1.UpdatePhotoRequest_AlbumId{AlbumId: id}, PhotoId: photos[at], Description: &text})
			}
		case 4:
			var added *commentv1.AddCommentResponse
			added, err = client.Comment.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: w.owners[(owner+1)%writers], Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, Text: text})
			comments[id] = added.GetComment().GetCommentId()
		case 5:
			if comments[id] != 0 {
				_, err = client.Comment.ReplyToComment(ctx, &commentv1.ReplyToCommentRequest{ActorId: me, Parent: &commentv1.ReplyToCommentRequest_AlbumId{AlbumId: id}, CommentId: comments[id], Text: text})
			}
		case 6:
			if comments[id] != 0 {
				_, err = client.Comment.RemoveComment(ctx, &commentv1.RemoveCommentRequest{ActorId: me, Parent: &commentv1.RemoveCommentRequest_AlbumId{AlbumId: id}, CommentId: comments[id]})
				delete(comments, id)
			}
		case 7:
			_, err = client.Recommendation.Recommend(ctx, &recommendationv1.RecommendRequest{UserId: w.owners[rand.IntN(writers)], Parent: &recommendationv1.RecommendRequest_AlbumId{AlbumId: id}})
		default:
			_, err = client.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: me, AlbumId: id})
			if status.Code(err) != codes.Unavailable { // otherwise it tries again later
				albums, photos = slices.Delete(albums, at, at+1), slices.Delete(photos, at, at+1)
			}
		}
		w.check(err)
	}
}

// stored returns all albums of the store.
func (w *world) stored() map[int64]copied {
	w.t.Helper()
	all := map[int64]copied{}
	for _, owner := range w.owners {
		for token, isFirst := "", true; isFirst || token != ""; isFirst = false {
			page, err := w.any().Album.ListAlbums(w.t.Context(), &albumv1.ListAlbumsRequest{OwnerId: owner, PageToken: token, PageSize: 1000})
			maps.Copy(all, w.whole(waybooktest.Must(page, err)(w.t).GetAlbums()))
			token = page.GetNextPageToken()
		}
	}
	return all
}

func (w *world) whole(albums []*albumv1.Album) map[int64]copied {
	all := map[int64]copied{}
	for _, each := range albums {
		found, err := w.any().Album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: each.GetAlbumId()})
		album := waybooktest.Must(found, err)(w.t).GetAlbum()
		photos, comments := childrenOf(found)
		all[album.GetAlbumId()] = copied{Title: album.GetTitle(), Score: album.GetScore(), Photos: photos, Comments: comments}
	}
	return all
}
