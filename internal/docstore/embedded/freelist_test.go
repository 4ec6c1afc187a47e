//go:build linux

package embedded_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// thinOut fills a store with large ballots and deletes them in one commit each. Then it stores one
// small ballot. The file has as many free pages as the large ballots took.
func thinOut(t testing.TB, engine *embedded.Engine, count int) *docstore.Collection[int64, ballot] {
	t.Helper()
	c := fill(t, engine, 0)
	const each = 256 << 10
	for first := 0; first < count; first += 50 {
		var batch []ballot
		for id := first; id < min(first+50, count); id++ {
			large := someBallot(int64(id))
			large.Body = strings.Repeat("x", each)
			batch = append(batch, large)
		}
		must(t, c.Insert(t.Context(), batch...))
	}
	if n, err := c.DeleteAll(t.Context(), docstore.All(docstore.IDIndex).Everywhere()); err != nil || n != int64(count) {
		t.Fatalf("deleted %d: %v", n, err)
	}
	insert(t, c, 0)
	return c
}

// written returns how many bytes this process has written to files so far.
func written(t testing.TB) int64 {
	t.Helper()
	contents, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(contents), "wchar: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(line, 10, 64)
	must(t, err)
	return n
}

func TestASmallCommitStaysSmallAfterAMassDeletion(t *testing.T) {
	engine := openAt(t, filepath.Join(t.TempDir(), "store.db"))
	c := thinOut(t, engine, 400)
	const commits, most = 100, 100 << 10
	before := written(t)
	for id := range int64(commits) {
		insert(t, c, 1+id)
	}
	if each := (written(t) - before) / commits; each > most {
		t.Errorf("a commit writes %d bytes, want at most %d", each, most)
	}
}

// listIsIn reports whether a file that no engine has open holds the list of its free pages.
func listIsIn(t *testing.T, path string) bool {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	must(t, err)
	// A copy of a transaction begins with its meta page, which says where the list is.
	const listAt = 16 + 32
	var copied bytes.Buffer
	err = db.View(func(tx *bolt.Tx) error { _, err := tx.WriteTo(&copied); return err })
	hasList := !bytes.Equal(copied.Bytes()[listAt:listAt+8], bytes.Repeat([]byte{0xFF}, 8))
	must(t, errors.Join(err, db.Close()))
	return hasList
}

// copyFile copies the file of an open store between two commits, as a crash leaves it.
func copyFile(t *testing.T, path string) string {
	t.Helper()
	from, err := os.Open(path)
	must(t, err)
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	to, err := os.Create(crashed)
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, errors.Join(err, from.Close(), to.Close()))
	return crashed
}

func TestTheFreePagesAreKnownAfterACloseAndFoundAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	c := thinOut(t, engine, 200)
	insert(t, c, 1)
	crashed := copyFile(t, path)
	shut(t, engine)
	if listIsIn(t, crashed) {
		t.Fatal("the last commit wrote the list; the test needs more free pages")
	}
	if !listIsIn(t, path) {
		t.Error("Close did not write the list")
	}
	for name, path := range map[string]string{"closed": path, "crashed": crashed} {
		t.Run(name, func(t *testing.T) {
			before, err := os.Stat(path)
			must(t, err)
			again := open(t, path)
			if err := again.Check(t.Context()); err != nil {
				t.Error(err)
			}
			// The free pages serve for new documents.
			c := fill(t, again, 0)
			large := someBallot(2)
			large.Body = strings.Repeat("x", 4<<20)
			if err := c.Insert(t.Context(), large); err != nil {
				t.Error(err)
			}
			shut(t, again)
			if after, err := os.Stat(path); err != nil || after.Size() != before.Size() {
				t.Errorf("the file had %d bytes and has %d (%v)", before.Size(), after.Size(), err)
			}
			reader := openReadOnly(t, path)
			if err := reader.Check(t.Context()); err != nil {
				t.Error(err)
			}
			shut(t, reader)
		})
	}
}
