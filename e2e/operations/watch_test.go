package operations_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/longform"
)

// watchLine is a line that changes --watch prints.
type watchLine struct {
	Kind  string      `json:"kind"`
	ID    json.Number `json:"album_id"`
	Album struct {
		Title string `json:"title"`
	} `json:"album"`
}

// copyOf makes a copy from the lines in a file, as docs/waybookctl.md says.
func copyOf(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	titles := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line watchLine
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue // a kill has cut it, and it comes again
		}
		if line.Kind == "CHANGE_KIND_DELETED" {
			delete(titles, line.ID.String())
		} else {
			titles[line.ID.String()] = line.Album.Title
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return titles
}

// printed returns the size of a file.
func printed(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestAWatchThatIsKilledLeavesNoChangeOut(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	owner := o.createUser("a")
	folder := t.TempDir()
	lines, position := filepath.Join(folder, "lines"), filepath.Join(folder, "position")
	watch := func() (stop func()) {
		out, err := os.OpenFile(lines, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		program := command(t, "album", "changes", "--watch", "--token-file", position, "--address", o.address)
		program.Stdout = out
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := program.Process.Kill(); err != nil {
				t.Error(err)
			}
			if err := program.Wait(); err == nil {
				t.Error("a watch ended by itself")
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	writing, done := context.WithCancel(t.Context())
	written := make(chan map[string]string)
	go func() {
		want := map[string]string{}
		defer func() { written <- want }()
		for n := 0; writing.Err() == nil; n++ {
			time.Sleep(10 * time.Millisecond)
			var created struct {
				ID json.Number `json:"album_id"`
			}
			title := fmt.Sprint("title ", n)
			made := o.run("", "album", "create", title, "--as", owner, "--category", "food", "--lat", "25", "--lng", "121", "-o", "json")
			if made.status != 0 || json.Unmarshal([]byte(made.out), &created) != nil {
				t.Errorf("%+v", made)
				return
			}
			id := created.ID.String()
			switch want[id] = title; n % 3 {
			case 1:
				want[id] = "new " + title
				o.run("", "album", "update", id, "--title", want[id]).expect(0)
			case 2:
				delete(want, id)
				o.run("", "album", "delete", id).expect(0)
			}
		}
	}()
	for range longform.Number(3, 8) {
		before := printed(t, lines)
		stop := watch()
		for deadline := time.Now().Add(time.Minute); printed(t, lines) == before && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(rand.N(600 * time.Millisecond)) // #nosec G404 -- a moment
		stop()
	}
	done()
	want := <-written
	stop := watch()
	defer stop()
	deadline := time.Now().Add(time.Minute)
	for !maps.Equal(copyOf(t, lines), want) {
		if time.Now().After(deadline) {
			t.Fatalf("the copy is %v, want %v", copyOf(t, lines), want)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(want) < 2 {
		t.Errorf("only %d albums were left", len(want))
	}
}

func TestAWatchThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	position := filepath.Join(t.TempDir(), "position")
	if err := os.WriteFile(position, []byte("damaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.run("", "album", "changes", "--watch", "--token-file", position).expect(4, "page_token")
	o.run("", "album", "changes", "--watch", "-o", "yaml").expect(2, "lines of JSON")
}
