package follow

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // reads the copies

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

const (
	followersFolder = "../../examples/followers"
	// copyPhases is how often a program is killed, and changesPerPhase how many changes are between.
	copyPhases, changesPerPhase = 18, 60
	// soon is how long a program may run after a line of its output before it is killed.
	soon = 300 * time.Millisecond
	// buildTime bounds the commands that generate code and install libraries.
	buildTime = 3 * time.Minute
)

// programs are the followers of the folder, with what a machine needs for them.
var programs = []struct {
	language  string
	needs     []string
	libraries string
}{
	{"python", []string{"bash", "protoc", "grpc_python_plugin", "python3"}, "python3 -c 'import grpc, google.protobuf, sqlite3'"},
	{"node", []string{"bash", "node", "npm"}, "true"},
}

// row is an album of a copy.
type row struct {
	OwnerID          int64
	OwnerName, Title string
	Score            int64
}

func TestTheCopiesOfTheFollowersInOtherLanguagesEqualTheStore(t *testing.T) {
	longform.Only(t)
	for _, each := range programs {
		t.Run(each.language, func(t *testing.T) {
			for _, needed := range each.needs {
				examples.Need(t, needed)
			}
			folder := t.TempDir()
			files, install, follow := commandsOf(t, each.language)
			if output, err := shell(t, folder, each.libraries).CombinedOutput(); err != nil {
				t.Skipf("SKIPPED: a library is missing: %s", output)
			}
			root := waybooktest.Must(filepath.Abs("../.."))(t)
			if output, err := shell(t, root, strings.ReplaceAll(files, "followed", folder)).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if output, err := shell(t, folder, install).CombinedOutput(); err != nil {
				if each.language == "node" {
					t.Skipf("SKIPPED: a library is missing: %s", output)
				}
				t.Fatalf("%v\n%s", err, output)
			}
			copiesAll(t, folder, follow)
		})
	}
}

// commandsOf returns the commands of the page for a language: those that make a folder with the files, that
// install what the program needs, and that run it.
func commandsOf(t *testing.T, language string) (files, install, follow string) {
	t.Helper()
	for _, block := range waybooktest.Must(examples.Blocks(filepath.Join(followersFolder, "README.md")))(t) {
		switch block.Language {
		case "sh files":
			files = block.Text
		case "sh " + language + " libraries":
			install = block.Text
		case "sh " + language:
			follow = block.Text
		}
	}
	if files == "" || install == "" || follow == "" {
		t.Fatalf("the page lacks commands for %s", language)
	}
	return files, install, follow
}

// shell is a command that runs a script in a folder. Libraries of Debian are those of its own programs.
func shell(t *testing.T, folder, script string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-ec", script)
	command.Dir, command.WaitDelay = folder, buildTime
	command.Env = append(os.Environ(), "PATH=/usr/bin:"+os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	return command
}

// copiesAll kills a follower while owners write, get other names and leave, and deletions are forgotten,
// and compares its copy with the store.
func copiesAll(t *testing.T, folder, follow string) {
	clock := &stepping{}
	engine := waybooktest.Must(embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), clock.now))(t)
	closeLater(t, engine)
	served := startReplica(t, engine)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(follow, "127.0.0.1:9090", served.GRPC)), "\n")
	lines[len(lines)-1] = "exec " + lines[len(lines)-1] // the kill is for the program
	w, running := startWorld(t, math.MaxInt, clock.step, func() *exec.Cmd { return shell(t, folder, strings.Join(lines, "\n")) }, served)
	early, err := served.Album.ListAlbumChanges(t.Context(), &albumv1.ListAlbumChangesRequest{})
	beginning := waybooktest.Must(early, err)(t).GetNextPageToken()
	c := &copying{world: w, accounts: served.Account, file: waybooktest.Must(sql.Open("sqlite", filepath.Join(folder, "copy.db")))(t), names: map[int64]string{}}
	t.Cleanup(func() {
		if err := c.file.Close(); err != nil {
			t.Error(err)
		}
	})
	for phase := range copyPhases {
		c.printed = w.restart()
		for n := range changesPerPhase {
			w.tickets <- phase*changesPerPhase + n
		}
		c.renameOwners()
		if isForgetful := phase%3 == 2; !isForgetful {
			c.scan()
			time.Sleep(rand.N(soon))
			w.kill()
			continue
		}
		album, guest := c.catchUp()
		w.kill()
		c.delete(album, guest)
		clock.pass()
		w.must(served.TrySweep)
		w.expectForgotten(beginning)
	}
	close(w.tickets)
	running.Wait()
	c.printed = w.restart()
	c.catchUp()
	w.kill()
	want := map[int64]row{}
	for id, each := range w.stored() {
		found, err := served.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: id})
		owner := waybooktest.Must(found, err)(t).GetAlbum().GetOwner().GetUserId()
		want[id] = row{OwnerID: owner, OwnerName: c.names[owner], Title: each.Title, Score: each.Score}
	}
	albums, names := waybooktest.Must(albumsIn(c.file))(t), waybooktest.Must(namesIn(c.file))(t)
	if diff := cmp.Diff(want, albums); diff != "" {
		t.Errorf("the copy of the albums differs (-store +copy):\n%s", diff)
	}
	if diff := cmp.Diff(c.names, names); diff != "" {
		t.Errorf("the copy of the users differs (-store +copy):\n%s", diff)
	}
	if c.anew < 2 {
		t.Errorf("%d times a table started anew", c.anew)
	}
	c.expectOneTransaction("UPDATE ON tokens WHEN NEW.feed = 'albums'")
	c.expectOneTransaction("INSERT ON albums")
	c.expectOneFollower()
	t.Logf("%d albums of %d users; %d times a table started anew", len(albums), len(names), c.anew)
}

// copying is a world with a follower that copies it into a file.
type copying struct {
	*world
	accounts accountv1.AccountServiceClient
	file     *sql.DB
	// names are those of the users who exist.
	names map[int64]string
	// printed is what the follower prints, and anew counts the tables that it emptied.
	printed *bufio.Scanner
	anew    int
}

// scan waits for the next line of the follower.
func (c *copying) scan() {
	c.t.Helper()
	if !c.printed.Scan() {
		c.t.Fatalf("the follower ended: %v", c.printed.Err())
	}
	if strings.HasSuffix(c.printed.Text(), "anew") {
		c.anew++
	}
}

// renameOwners gives every owner another name.
func (c *copying) renameOwners() {
	c.t.Helper()
	for _, owner := range c.owners {
		name := fmt.Sprint("owner ", rand.Int64())
		if _, err := c.accounts.UpdateUser(c.t.Context(), &accountv1.UpdateUserRequest{UserId: owner, Name: &name}); err != nil {
			c.t.Fatal(err)
		}
		c.names[owner] = name
	}
}

// catchUp waits until the copy has what is stored now. It returns an album and a user that are created for
// that.
func (c *copying) catchUp() (album, guest int64) {
	c.t.Helper()
	marker := fmt.Sprint("marker ", rand.Int64())
	if album = c.create(0, marker); album == 0 {
		c.t.Fatal("no album can be created")
	}
	created, err := c.accounts.CreateUser(c.t.Context(), &accountv1.CreateUserRequest{Name: marker})
	guest = waybooktest.Must(created, err)(c.t).GetUser().GetUserId()
	c.names[guest] = marker
	for albums, users := 0, 0; albums == 0 || users == 0; {
		c.scan()
		err := c.file.QueryRowContext(c.t.Context(),
			"SELECT (SELECT count(*) FROM albums WHERE title = ?), (SELECT count(*) FROM users WHERE name = ?)", marker, marker).Scan(&albums, &users)
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return album, guest
}

// delete deletes what catchUp returned.
func (c *copying) delete(album, guest int64) {
	c.t.Helper()
	isDisabled := true
	_, albumErr := c.processes[0].Album.DeleteAlbum(c.t.Context(), &albumv1.DeleteAlbumRequest{ActorId: c.owners[0], AlbumId: album})
	_, disabledErr := c.accounts.UpdateUser(c.t.Context(), &accountv1.UpdateUserRequest{UserId: guest, Disabled: &isDisabled})
	_, userErr := c.accounts.DeleteUser(c.t.Context(), &accountv1.DeleteUserRequest{UserId: guest})
	if err := errors.Join(albumErr, disabledErr, userErr); err != nil {
		c.t.Fatal(err)
	}
	delete(c.names, guest)
}

// expectOneTransaction makes the file refuse a part of what a batch writes. Then the file must keep neither the albums of the
// batch nor its token, whichever comes first.
func (c *copying) expectOneTransaction(refused string) {
	c.t.Helper()
	ctx := c.t.Context()
	state := func() (albums int, token string) {
		row := c.file.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM albums), (SELECT token FROM tokens WHERE feed = 'albums')")
		if err := row.Scan(&albums, &token); err != nil {
			c.t.Fatal(err)
		}
		return albums, token
	}
	albums, token := state()
	c.create(0, "refused")
	for isSettled := false; !isSettled; time.Sleep(soon / 10) { // so the first batch has it
		batch, err := c.processes[0].Album.ListAlbumChanges(ctx, &albumv1.ListAlbumChangesRequest{PageToken: token})
		isSettled = len(waybooktest.Must(batch, err)(c.t).GetChanges()) > 0
	}
	if _, err := c.file.ExecContext(ctx, "CREATE TRIGGER refusing BEFORE "+refused+" BEGIN SELECT RAISE(ABORT, 'refused'); END"); err != nil {
		c.t.Fatal(err)
	}
	output, err := c.command().CombinedOutput()
	if err == nil || !strings.Contains(string(output), "refused") {
		c.t.Errorf("a follower whose file refuses %s ends with %v: %s", refused, err, output)
	}
	if albumsNow, tokenNow := state(); albumsNow != albums || tokenNow != token {
		c.t.Errorf("a file that refuses %s has %d albums more, and another token: %v", refused, albumsNow-albums, tokenNow != token)
	}
	if _, err := c.file.ExecContext(ctx, "DROP TRIGGER refusing"); err != nil {
		c.t.Fatal(err)
	}
}

// expectOneFollower expects that of two followers on one file one ends as albums are created.
func (c *copying) expectOneFollower() {
	c.t.Helper()
	followers, printed, ended := [2]*exec.Cmd{c.command(), c.command()}, [2]bytes.Buffer{}, make(chan int, 2)
	var running sync.WaitGroup
	for i, each := range followers {
		each.Stderr = &printed[i]
		if err := each.Start(); err != nil {
			c.t.Fatal(err)
		}
		running.Go(func() {
			_ = each.Wait() // it ends with an error, or is killed
			ended <- i
		})
	}
	first := -1
	for first < 0 {
		select {
		case first = <-ended:
		case <-time.After(soon):
			c.create(0, "for both")
		}
	}
	if isRefused := strings.Contains(printed[first].String(), "another follower writes to this file"); !isRefused || followers[first].ProcessState.Success() {
		c.t.Errorf("of two followers on one file, one ended with %v: %s", followers[first].ProcessState, printed[first].String())
	}
	_ = followers[1-first].Process.Kill() // fails if it has ended
	running.Wait()
}

// albumsIn returns the albums of a copy.
func albumsIn(file *sql.DB) (map[int64]row, error) {
	albums := map[int64]row{}
	return albums, each(file, "SELECT id, owner_id, owner_name, title, score FROM owned", func(found *sql.Rows) error {
		var id int64
		var album row
		err := found.Scan(&id, &album.OwnerID, &album.OwnerName, &album.Title, &album.Score)
		albums[id] = album
		return err
	})
}

// namesIn returns the names of the users of a copy.
func namesIn(file *sql.DB) (map[int64]string, error) {
	names := map[int64]string{}
	return names, each(file, "SELECT id, name FROM users", func(found *sql.Rows) error {
		var id int64
		var name string
		err := found.Scan(&id, &name)
		names[id] = name
		return err
	})
}

// each calls take with each row of a query.
func each(file *sql.DB, query string, take func(*sql.Rows) error) error {
	found, err := file.Query(query)
	if err != nil {
		return err
	}
	for err == nil && found.Next() {
		err = take(found)
	}
	return errors.Join(err, found.Err(), found.Close())
}
