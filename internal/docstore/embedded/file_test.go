package embedded_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

// fill stores as many ballots and returns the collection.
func fill(t testing.TB, engine docstore.Engine, count int64) *docstore.Collection[int64, ballot] {
	t.Helper()
	c, err := docstore.Open[int64, ballot](t.Context(), engine, ballotSpec())
	must(t, err)
	for first := int64(0); first < count; first += 10_000 {
		var batch []ballot
		for id := first; id < min(first+10_000, count); id++ {
			batch = append(batch, someBallot(id))
		}
		must(t, c.Insert(t.Context(), batch...))
	}
	return c
}

func insert(t testing.TB, c *docstore.Collection[int64, ballot], id int64) {
	t.Helper()
	must(t, c.Insert(t.Context(), someBallot(id)))
}

// ways are the ways to open a store.
func ways() map[string]func(context.Context, string) (*embedded.Engine, error) {
	return map[string]func(context.Context, string) (*embedded.Engine, error){"Open": embedded.Open, "OpenReadOnly": embedded.OpenReadOnly}
}

// expectOneLine checks that a file is refused, and how.
func expectOneLine(t *testing.T, name string, open func(context.Context, string) (*embedded.Engine, error), path string, parts ...string) {
	t.Helper()
	_, err := open(t.Context(), path)
	if err == nil {
		t.Fatalf("%s accepts the file", name)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: the error has several lines:\n%v", name, err)
	}
	for _, part := range append(parts, path, "restore a backup") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: no %q in %v", name, part, err)
		}
	}
}

// expectOneLineEach checks that each way to open a file refuses it.
func expectOneLineEach(t *testing.T, path string, parts ...string) {
	t.Helper()
	for name, open := range ways() {
		expectOneLine(t, name, open, path, parts...)
	}
}

func TestATruncatedFileIsOneLineWithBothSizes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	fill(t, engine, 30_000)
	shut(t, engine)
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	must(t, err)
	var says int64
	if err := db.View(func(tx *bolt.Tx) error { says = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	must(t, db.Close())
	for _, size := range []int64{says - 1, says / 2, 1 << 16, 3 * 4096} {
		must(t, os.Truncate(path, size))
		expectOneLineEach(t, path, "truncated", fmt.Sprintf("has %d bytes", size), fmt.Sprintf("says %d", says))
	}
	// Without a whole second page, the first one still says how long the file should be.
	for _, size := range []int64{4097, 4096} {
		must(t, os.Truncate(path, size))
		expectOneLineEach(t, path, "truncated", fmt.Sprintf("has %d bytes", size))
	}
}

func TestAFileWithoutAMetaPageIsOneLine(t *testing.T) {
	for name, contents := range map[string]string{
		"one byte": "x", "a meta page that is cut": strings.Repeat("\x00", 79), "zeros": strings.Repeat("\x00", 1<<20), "text": strings.Repeat("dear diary ", 5000),
	} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, []byte(contents), 0o600))
		expectOneLineEach(t, path, fmt.Sprintf("has %d bytes", len(contents)), "no valid meta page")
	}
}

// A power cut may leave one meta page broken. The other one counts.
func TestOneBrokenMetaPageIsNoDamage(t *testing.T) {
	for page := range int64(2) {
		path := filepath.Join(t.TempDir(), "store.db")
		engine := open(t, path)
		fill(t, engine, 100)
		shut(t, engine)
		overwrite(t, path, page*int64(os.Getpagesize())+20, []byte("garbage"))
		shut(t, open(t, path))
	}
}

func TestABrokenPageIsOneLine(t *testing.T) {
	for name, open := range ways() {
		path := filepath.Join(t.TempDir(), "store.db")
		engine, err := embedded.Open(t.Context(), path)
		must(t, err)
		fill(t, engine, 1000)
		shut(t, engine)
		info, err := os.Stat(path)
		must(t, err)
		pages := int64(os.Getpagesize())
		overwrite(t, path, 2*pages, make([]byte, info.Size()-2*pages))
		expectOneLine(t, name, open, path, "damaged")
	}
}

func overwrite(t *testing.T, path string, offset int64, contents []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	if _, err := file.WriteAt(contents, offset); err != nil {
		t.Fatal(err)
	}
	must(t, file.Close())
}
