package programs_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/smallids"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// Writers add and delete albums so fast that their identifiers run ahead of the clock, while the program
// stops or is killed and starts again.
func TestAnIdentifierMeansOneThingThroughStopsAndKills(t *testing.T) { throughKills(t) }

func TestASmallIdentifierMeansOneThingThroughStopsAndKills(t *testing.T) {
	t.Parallel()
	albums := throughKills(t, "-small-ids-from", "5000000", "-ids", "old")
	for each := range albums.added {
		if each < 5_000_000 || each > smallids.Max {
			t.Errorf("%d is no small identifier", each)
		}
	}
}

// throughKills returns what a program with some flags has added.
func throughKills(t *testing.T, flags ...string) *albumLedger {
	t.Helper()
	const writers = 8
	data, albums := t.TempDir(), &albumLedger{added: map[int64]bool{}, deleted: map[int64]bool{}, unknown: map[int64]bool{}}
	for round := range longform.Number(4, 32) {
		p := launch.Start(t, binary, data, append(flags, "-user-writes", "0")...)
		albums.expect(t, p)
		cookie := demoCookie(t, data)
		var writing sync.WaitGroup
		for range writers {
			writing.Go(func() { albums.write(t, p, cookie) })
		}
		time.Sleep(time.Duration(longform.Number(300, 1000)) * time.Millisecond)
		signal := os.Signal(syscall.SIGKILL)
		if round%5 == 0 {
			signal = syscall.SIGTERM
		}
		p.End(signal)
		writing.Wait()
	}
	albums.expect(t, launch.Start(t, binary, data, flags...))
	if len(albums.deleted) == 0 {
		t.Error("nothing was deleted")
	}
	t.Logf("%d albums, %d of them deleted", len(albums.added), len(albums.deleted))
	return albums
}

// The same, in two processes on one MongoDB, of which one after the other ends.
func TestAnIdentifierMeansOneThingInTwoProcesses(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	const writers = 4
	uri := mongotest.StartServer(t, mongowire.Config{}).URI(mongotest.Database())
	data, albums := t.TempDir(), &albumLedger{added: map[int64]bool{}, deleted: map[int64]bool{}, unknown: map[int64]bool{}}
	var writing [2]sync.WaitGroup
	var running [2]*launch.Process
	start := func(i int) {
		p := launch.Start(t, binary, filepath.Join(data, strconv.Itoa(i)), "-mongodb-uri", uri, "-user-writes", "0", "-demo="+strconv.FormatBool(i == 0))
		cookie := demoCookie(t, filepath.Join(data, "0"))
		running[i] = p
		for range writers {
			writing[i].Go(func() { albums.write(t, p, cookie) })
		}
	}
	start(0)
	start(1)
	for round := range 6 {
		time.Sleep(time.Second)
		signal := os.Signal(syscall.SIGKILL)
		if round%4 == 0 {
			signal = syscall.SIGTERM
		}
		i := (round + 1) % len(running)
		running[i].End(signal)
		writing[i].Wait()
		start(i)
	}
	for i, p := range running {
		p.End(syscall.SIGTERM)
		writing[i].Wait()
	}
	albums.expect(t, launch.Start(t, binary, t.TempDir(), "-mongodb-uri", uri, "-demo=false"))
	if len(albums.deleted) == 0 {
		t.Error("nothing was deleted")
	}
	t.Logf("%d albums, %d of them deleted", len(albums.added), len(albums.deleted))
}

// albumLedger is what a program has acknowledged. Its methods may be called concurrently.
type albumLedger struct {
	mu sync.Mutex
	// added has the albums that were added, deleted those of them that were deleted, and unknown those
	// whose deletion got no reply.
	added, deleted, unknown map[int64]bool
}

// write adds albums until the program ends, and deletes three of four.
func (l *albumLedger) write(t *testing.T, p *launch.Process, cookie string) {
	for n := 1; ; n++ {
		body, err := sendForm(t.Context(), p, cookie, "func", "addAlbum", "albumTitle", "short-lived", "category", "3", "lat", "1.5", "lng", "-2.5")
		if err != nil || strings.Contains(body, "SERVICE_") {
			return
		}
		id, err := strconv.ParseInt(parse(t, body).text("albumID"), 10, 64)
		if err != nil {
			t.Errorf("%v in %q", err, body)
			return
		}
		l.note(func() {
			if l.added[id] {
				t.Errorf("album %d was added twice", id)
			}
			l.added[id] = true
		})
		if n%4 == 0 {
			continue
		}
		body, err = sendForm(t.Context(), p, cookie, "func", "updateAlbum", "albumID", strconv.FormatInt(id, 10), "delete", "true")
		isDone := err == nil && strings.Contains(body, "<status>SUCCESS</status>")
		l.note(func() {
			if isDone {
				l.deleted[id] = true
			} else {
				l.unknown[id] = true
			}
		})
		if !isDone {
			return
		}
	}
}

func (l *albumLedger) note(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
}

// expect checks that a program has the albums that were added, and none that was deleted.
func (l *albumLedger) expect(t *testing.T, p *launch.Process) {
	t.Helper()
	const batch = 1000
	albums := albumv1.NewAlbumServiceClient(launch.Dial(t, p.GRPC))
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(l.added)), batch) {
		found, err := albums.BatchGetAlbums(t.Context(), &albumv1.BatchGetAlbumsRequest{AlbumIds: ids})
		if err != nil {
			t.Fatal(err)
		}
		isThere := map[int64]bool{}
		for _, album := range found.GetAlbums() {
			isThere[album.GetAlbumId()] = true
			if number, isSmall := id.Old(album.GetAlbumId()); isSmall {
				isThere[number] = true
			}
		}
		for _, each := range ids {
			if !l.unknown[each] && isThere[each] == l.deleted[each] {
				t.Errorf("album %d is there: %v; it was deleted: %v", each, isThere[each], l.deleted[each])
			}
		}
	}
}
