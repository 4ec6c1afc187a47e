//go:build linux

package programs_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/pause"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// fleet is the five programs with certificates, and writers. What happens in all other places is in e2e/world.
type fleet struct {
	*launch.Fleet
	t       *testing.T
	clients clients.Clients
	users   []fleetUser
	// album has the comments of all users.
	album int64
	done  atomic.Int64
}

// fleetUser is a user who writes, with what was sent and acknowledged.
type fleetUser struct {
	id     int64
	cookie string
	// sent are titles of albums, and added the identifiers of those that were acknowledged. comments has the
	// identifiers of requests by the texts of comments.
	sent     []string
	added    map[string]string
	comments map[string]string
}

func startFleet(t *testing.T, mongoDB string) *fleet {
	t.Helper()
	f := &fleet{Fleet: launch.NewFleet(t, binaries, mongoDB), t: t}
	f.Flags = map[string][]string{"edge": {"-user-writes=0"}, "album": {"-comments-per-minute=0"}}
	f.StartAll(1)
	f.connect()
	for n := range 4 {
		made := waybooktest.Must(f.clients.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: fmt.Sprint("writer ", n)}))(t)
		id := made.GetUser().GetUserId()
		opened := waybooktest.Must(f.clients.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: id}))(t)
		f.users = append(f.users, fleetUser{
			id: id, cookie: fmt.Sprintf("id=%d; idrand=%s", id, opened.GetToken()), added: map[string]string{}, comments: map[string]string{},
		})
	}
	album := waybooktest.Must(f.clients.Album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: f.users[0].id, Title: "of all", Category: 1, Location: &typev1.Location{Lat: 25, Lng: 121},
	}))(t)
	f.album = album.GetAlbum().GetAlbumId()
	return f
}

// connect connects to the services as the operator.
func (f *fleet) connect() {
	f.t.Helper()
	as := launch.ClientWith(f.t, f.Certificates.Files("operator"))
	dial := func(name string) *grpc.ClientConn {
		connection := waybooktest.Must(grpc.NewClient(f.Of(name)[0].Address(), grpc.WithTransportCredentials(as)))(f.t)
		f.t.Cleanup(func() { _ = connection.Close() })
		return connection
	}
	f.clients = clients.Of(dial("account"), dial("album"), dial("blog"), dial("poi"))
}

// write adds albums at the edge and comments by gRPC until ctx ends.
func (f *fleet) write(ctx context.Context, u *fleetUser) {
	client := waybooktest.ClientAt(f.t, f.Of("edge")[0].Address()).WithCookie(u.cookie)
	for n := 0; ctx.Err() == nil; n++ {
		title := fmt.Sprint(u.id, "-", n)
		u.sent = append(u.sent, title)
		reply, err := client.Try(client.Form(http.MethodPost, "func=addAlbum&category=1&lat=25&lng=121&albumTitle="+title))
		switch {
		case err != nil: // the edge is gone
		case reply.Succeeded():
			u.added[title] = reply.Text("albumID")
			f.done.Add(1)
		case !slices.Contains([]string{"SERVICE_UNAVAILABLE", "SERVICE_TIMEOUT"}, reply.Reason()):
			f.t.Errorf("%s: %d %s", title, reply.Code, reply.Body)
		}
		u.comments["comment "+title] = uuid.NewString()
		if f.comment(ctx, u, "comment "+title) != nil {
			_ = pause.For(ctx, 20*time.Millisecond)
		}
	}
}

func (f *fleet) comment(ctx context.Context, u *fleetUser, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := f.clients.Comment.AddComment(ctx, &commentv1.AddCommentRequest{
		AuthorId: u.id, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: f.album}, Text: text, RequestId: u.comments[text],
	})
	return err
}

// under writes while the fleet fails in some ways, and then checks what is there.
func (f *fleet) under(fail func(more func())) {
	ctx, stop := context.WithCancel(f.t.Context())
	var writing sync.WaitGroup
	for i := range f.users {
		writing.Go(func() { f.write(ctx, &f.users[i]) })
	}
	more := func() {
		for goal, end := f.done.Load()+20, time.Now().Add(time.Minute); f.done.Load() < goal && !f.t.Failed(); {
			if time.Now().After(end) {
				f.t.Error("no album is added any more")
			}
			_ = pause.For(ctx, 5*time.Millisecond)
		}
	}
	more()
	fail(more)
	stop()
	writing.Wait()
	f.check()
}

// check repeats each request for a comment, restarts all programs, and reads everything.
func (f *fleet) check() {
	t := f.t
	for i := range f.users {
		u := &f.users[i]
		for text := range u.comments {
			var err error
			for range 20 {
				if err = f.comment(t.Context(), u, text); err == nil {
					break
				}
			}
			waybooktest.OK(t, err)
		}
	}
	for _, name := range append(launch.Services(), "edge") {
		f.kill(name)
	}
	shown := map[string][]string{}
	for i := range f.users {
		u := &f.users[i]
		for token := ""; ; {
			page := waybooktest.Must(f.clients.Album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{OwnerId: u.id, PageSize: 1000, PageToken: token},
				grpc.WaitForReady(true)))(t)
			for _, album := range page.GetAlbums() {
				shown[album.GetTitle()] = append(shown[album.GetTitle()], fmt.Sprint(album.GetAlbumId()))
			}
			if token = page.GetNextPageToken(); token == "" {
				break
			}
		}
		for _, title := range u.sent {
			if id, isAdded := u.added[title]; isAdded && !slices.Equal(shown[title], []string{id}) || len(shown[title]) > 1 {
				t.Errorf("album %s was added as %q, and is there as %v", title, id, shown[title])
			}
		}
	}
	count := map[string]int{}
	for token := ""; ; {
		page := waybooktest.Must(f.clients.Comment.ListComments(t.Context(), &commentv1.ListCommentsRequest{
			Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: f.album}, PageSize: 1000, PageToken: token,
		}))(t)
		for _, comment := range page.GetComments() {
			count[comment.GetText()]++
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	for _, u := range f.users {
		for text := range u.comments {
			if count[text] != 1 {
				t.Errorf("%q is there %d times", text, count[text])
			}
		}
		t.Logf("%d of %d albums were acknowledged", len(u.added), len(u.sent))
	}
}

// kill kills a program and starts it again.
func (f *fleet) kill(name string) {
	f.Of(name)[0].End(syscall.SIGKILL)
	f.Of(name)[0].Start()
}

func TestKilledProgramsLoseNothingAndDoNothingTwice(t *testing.T) {
	t.Parallel()
	f := startFleet(t, launch.StoreEach)
	f.under(func(more func()) {
		for _, name := range append(launch.Services(), "edge") {
			f.kill(name)
			more()
		}
	})
}

// A primary steps down, and is killed if mongotest.RealServerKill has a command for that.
func TestNothingIsLostOrDoneTwiceWhenAPrimaryFailsOnARealServer(t *testing.T) {
	t.Parallel()
	uri := mongotest.OnRealServer(t)
	f := startFleet(t, uri)
	f.under(func(more func()) {
		waybooktest.OK(t, mongotest.StepDown(t.Context(), uri))
		more()
		if command := os.Getenv(mongotest.RealServerKill); command != "" {
			primary := waybooktest.Must(mongotest.Primary(t.Context(), uri))(t)
			if output, err := exec.CommandContext(t.Context(), "sh", "-c", command+` "$0"`, primary).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
			more()
		}
		f.kill("album")
		more()
	})
}

// Clients keep their connections, repeat nothing, and learn of an end when a pod is told to end. Callers have a list of the
// addresses of each service.
func TestPodsThatEndOneAfterTheOtherFailNoRequest(t *testing.T) {
	t.Parallel()
	f := launch.NewFleet(t, binaries, launch.StoreEach)
	f.ShutdownDelay, f.Flags = 300*time.Millisecond, map[string][]string{"edge": {"-client-misses=0"}}
	f.StartAll(2)
	var entrance atomic.Pointer[string]
	enter := func(edge *launch.Pod) { entrance.Store(new(edge.Address())) }
	enter(f.Of("edge")[0])
	ctx, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	var sent atomic.Int64
	for _, form := range []string{"func=getAlbum&albumID=1", "func=getBlog&blogID=1", "func=getCategoryPOIList&category=1", "func=updateAlbum&albumID=1"} {
		sending.Go(func() {
			transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, *entrance.Load())
			}}
			defer transport.CloseIdleConnections()
			client := waybooktest.ClientOver(t, "http://waybook.example", transport).WithCookie("id=1; idrand=" + strings.Repeat("0", 32))
			for ctx.Err() == nil {
				reply, err := client.Try(client.Form(http.MethodPost, form))
				if err == nil && !reply.Succeeded() && !strings.HasSuffix(reply.Reason(), "_NOT_FOUND") && reply.Reason() != "LOGIN_REQUIRED" {
					err = errors.New(reply.Body)
				}
				if err != nil {
					t.Errorf("%s: %v", form, err)
					return
				}
				sent.Add(1)
				_ = pause.For(ctx, time.Millisecond)
			}
		})
	}
	for replica := range 2 {
		for _, name := range append(launch.Services(), "edge") {
			if name == "edge" {
				enter(f.Of("edge")[1-replica])
			}
			pod, before := f.Of(name)[replica], sent.Load()
			if status := pod.End(syscall.SIGTERM); status != 0 {
				t.Errorf("%s ended with %d:\n%s", name, status, pod.Printed())
			}
			pod.Start()
			for sent.Load() < before+200 && !t.Failed() {
				_ = pause.For(ctx, 5*time.Millisecond)
			}
			if name != "edge" {
				awaitCallers(t, pod, f.Of(name)[1-replica])
			}
		}
	}
	stop()
	sending.Wait()
}

// awaitCallers waits until as many callers are connected to a pod that has started as to its twin.
func awaitCallers(t *testing.T, started, twin *launch.Pod) {
	t.Helper()
	connected := func(p *launch.Pod) float64 {
		open, _ := launch.Metric(t, p.Admin, `waybook_connections_open{port="grpc"}`)
		return open
	}
	for end := time.Now().Add(patience); connected(started) < connected(twin); {
		if time.Now().After(end) {
			t.Fatalf("callers do not connect to %s again", started.Name)
		}
		_ = pause.For(t.Context(), 20*time.Millisecond)
	}
}
