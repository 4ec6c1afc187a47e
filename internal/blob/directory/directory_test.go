package directory

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/blobtest"
	"github.com/waybook/waybook/internal/longform"
)

func open(t testing.TB, name string) *Store {
	t.Helper()
	store, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestADirectoryKeepsThePromisesOfTheStore(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store { return open(t, filepath.Join(t.TempDir(), "photos")) })
}

func TestNothingLeadsOutOfTheDirectory(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	key := blob.Key{File: 456, Kind: blob.View}
	if err := os.WriteFile(filepath.Join(outside, "0000000000000456-view"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "456")); err != nil {
		t.Skip("SKIPPED: this system has no symbolic links")
	}
	store := open(t, inside)
	if b, err := store.Open(t.Context(), key); err == nil {
		t.Error("Open follows a link", b.Close())
	}
	if err := store.Put(t.Context(), blob.Key{File: 1456, Kind: blob.View}, strings.NewReader("x")); err == nil {
		t.Error("Put follows a link")
	}
	if err := store.Delete(t.Context(), key); err == nil {
		t.Error("Delete follows a link")
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
		t.Errorf("outside are %v, %v", files, err)
	}
}

func TestOtherFilesInTheDirectoryAreLeftAlone(t *testing.T) {
	name := t.TempDir()
	store := open(t, name)
	key := blob.Key{File: 456, Kind: blob.View}
	if err := store.Put(t.Context(), key, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	others := []string{
		"README", "456/README", "456/0000000000000457-view", "456/456-view", "456/0000000000000456-views",
		"lost+found/0000000000000456-view",
	}
	for _, other := range others {
		path := filepath.Join(name, other)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	none := func(blob.Key) bool { return false }
	if n, err := blob.Sweep(t.Context(), store, -time.Hour, none); n != 1 || err != nil {
		t.Errorf("a sweep deleted %d, %v", n, err)
	}
	for _, other := range others {
		if _, err := os.Stat(filepath.Join(name, other)); err != nil {
			t.Error(err)
		}
	}
}

// killed is the variable with the directory of a process that is killed.
const killed = "WAYBOOK_TEST_KILLED"

const killedBytes = 300_000

// TestMain stores blobs until it is killed, and prints the identifier of each that is acknowledged, if a test has
// started it for that.
func TestMain(m *testing.M) {
	name, isSet := os.LookupEnv(killed)
	if !isSet {
		os.Exit(m.Run())
	}
	store, err := Open(name)
	for id := int64(1); err == nil; id++ {
		key := blob.Key{File: id, Kind: blob.Original}
		content := blobtest.Content(key, killedBytes)
		switch err = store.Put(context.Background(), key, slow{bytes.NewReader(content)}); {
		case err == nil:
			fmt.Println(id)
		case errors.Is(err, blob.ErrExists):
			err = nil
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// slow hides that a reader can write itself at once.
type slow struct{ io.Reader }

func TestAKillLeavesAllThatWasAcknowledgedAndNothingHalf(t *testing.T) {
	name := filepath.Join(t.TempDir(), "photos")
	acknowledged := map[int64]bool{}
	for range longform.Number(10, 50) {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), killed+"="+name)
		output, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		rest := 1 + rand.IntN(20)
		for lines.Scan() {
			id, err := strconv.ParseInt(lines.Text(), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			acknowledged[id] = true
			if rest--; rest == 0 {
				soon := time.Duration(rand.IntN(2000)) * time.Microsecond
				time.AfterFunc(soon, func() { _ = command.Process.Kill() }) // Wait reports it
			}
		}
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatal(err)
		}
	}
	store := open(t, name)
	unfinished := 0
	entries, err := store.List(t.Context(), blob.Key{}, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsUnfinished {
			unfinished++
			continue
		}
		b, err := store.Open(t.Context(), entry.Key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(b)
		if !bytes.Equal(got, blobtest.Content(entry.Key, killedBytes)) || err != nil {
			t.Errorf("%s has %d bytes, %v", entry.Key.Name(), len(got), err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		delete(acknowledged, entry.Key.File)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%v were acknowledged and are not there", acknowledged)
	}
	t.Logf("%d blobs, and %d that are not finished", len(entries)-unfinished, unfinished)
	all := func(blob.Key) bool { return true }
	if n, err := blob.Sweep(t.Context(), store, -time.Hour, all); n != unfinished || err != nil {
		t.Errorf("a sweep deleted %d of %d, %v", n, unfinished, err)
	}
}
