package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
)

func TestOpenMakesAPrivateDirectoryAndFile(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(directory, "store.db")
	shut(t, open(t, path))
	for name, want := range map[string]os.FileMode{directory: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
}

func TestASecondOpenOfTheSameFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	openAt(t, path)
	_, err := embedded.Open(t.Context(), path)
	if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Fatalf("got error %v", err)
	}
}

func TestAReadOnlyEngineReadsAndDoesNotChangeTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	c := fill(t, engine, 0)
	must(t, c.Insert(t.Context(), ballotOf(1, 1)))
	shut(t, engine)
	before, err := os.ReadFile(path)
	must(t, err)
	first, second := openReadOnly(t, path), openReadOnly(t, path)
	if _, err := embedded.Open(t.Context(), path); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("opening for writing while others read: got error %v, want ErrLocked", err)
	}
	c, err = docstore.Open[int64, ballot](t.Context(), second, ballotSpec())
	must(t, err)
	if got, err := c.Get(t.Context(), int64(1)); err != nil || got != ballotOf(1, 1) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := c.Delete(t.Context(), int64(1)); err == nil || errors.Is(err, docstore.ErrUnavailable) {
		t.Errorf("a write: got error %v, want a plain one", err)
	}
	if err := first.Check(t.Context()); err != nil {
		t.Error(err)
	}
	shut(t, first)
	shut(t, second)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file changed: %v", err)
	}
}

func TestAReadOnlyEngineNeedsAnExistingFileThatNoOtherEngineWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "store.db")
	if _, err := embedded.OpenReadOnly(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
	openAt(t, path)
	if _, err := embedded.OpenReadOnly(t.Context(), path); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("got error %v", err)
	}
}

func openReadOnly(t *testing.T, path string) *embedded.Engine {
	t.Helper()
	engine, err := embedded.OpenReadOnly(context.WithoutCancel(t.Context()), path)
	must(t, err)
	return engine
}

func TestAFileOfAnotherProgramIsRefusedAndNotChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	err = db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
	must(t, errors.Join(err, db.Close()))
	before, err := os.ReadFile(path)
	must(t, err)
	if _, err := embedded.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("got error %v", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Fatal("the file changed")
	}
}

func TestAFileThatIsNotADatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	must(t, os.WriteFile(path, []byte(strings.Repeat("dear diary ", 5000)), 0o600))
	if _, err := embedded.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("got error %v", err)
	}
}

// The damage is behind more documents than a check reads between two looks at its context.
func TestCheckFindsDamage(t *testing.T) {
	withoutLast := func(collection, part string) func(tx *bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			data, _, last := spoil.Part(tx, collection, part)
			return data.Delete(last)
		}
	}
	// The keys of a part begin with two bytes.
	for name, damage := range map[string]func(tx *bolt.Tx) error{
		"a document without an entry":             withoutLast("ballots", "code"),
		"a document without an entry in the feed": withoutLast("followed", "feed"),
		"an entry without a document":             withoutLast("ballots", "documents"),
		"an entry of the feed without a document": withoutLast("followed", "documents"),
		"an entry of another document": func(tx *bolt.Tx) error {
			data, _, last := spoil.Part(tx, "ballots", "code")
			return data.Put(slices.Concat(last[:2], []byte("x"), last[2:]), nil)
		},
		"an entry of a document that lacks the field": func(tx *bolt.Tx) error {
			data, _, last := spoil.Part(tx, "ballots", "draft")
			return data.Put(append(last[:len(last)-1:len(last)-1], last[len(last)-1]+1), nil)
		},
		"a document under the wrong id": func(tx *bolt.Tx) error {
			data, _, last := spoil.Part(tx, "ballots", "documents")
			return data.Put(slices.Concat(last[:2], []byte{0xFF}, last[3:]), bytes.Clone(data.Get(last)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			engine := open(t, path)
			ballots := fill(t, engine, 0)
			var some []ballot
			var others []article
			for id := int64(1000); id < 2100; id++ { // texts sort like these
				some = append(some, ballotOf(id, 1+id%2))
				others = append(others, article{ID: id})
			}
			others[len(others)-1].Body = strings.Repeat("long", 10_000)
			must(t, ballots.Insert(t.Context(), some...))
			must(t, followedArticles(t, engine).Insert(t.Context(), others...))
			if err := engine.Check(t.Context()); err != nil {
				t.Fatalf("before the damage: %v", err)
			}
			shut(t, engine)
			db, err := bolt.Open(path, 0o600, nil)
			must(t, err)
			must(t, errors.Join(db.Update(damage), db.Close()))
			engine = open(t, path)
			defer shut(t, engine)
			if err := engine.Check(t.Context()); err == nil {
				t.Fatal("Check found no damage")
			}
		})
	}
}

// damageIndex removes an index entry of a document.
func damageIndex(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	err = db.Update(func(tx *bolt.Tx) error { return spoil.RemoveFirst(tx, "ballots", "code") })
	must(t, errors.Join(err, db.Close()))
}

// setFormat changes the format that a closed store says it has.
func setFormat(t *testing.T, path, format string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("catalog")).Put([]byte("format"), []byte(format)) }))
	must(t, db.Close())
}

func TestAFileOfAnotherFormatIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	shut(t, open(t, path))
	for format, want := range map[string]string{
		"7":    `the file has format "7" of a version that was never released, and this program reads 8: start with an empty store`,
		"9":    `the file has format "9", and this program reads 8: start the version that wrote it`,
		"next": `the file has format "next", and this program reads 8: start the version that wrote it`,
	} {
		setFormat(t, path, format)
		before, err := os.ReadFile(path)
		must(t, err)
		for _, open := range []func(context.Context, string) (*embedded.Engine, error){embedded.Open, embedded.OpenReadOnly} {
			if _, err := open(t.Context(), path); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("the file of format %s has changed (%v)", format, err)
		}
	}
}

// openAt opens a store. At the end of every test the store is closed and its file is
// checked.
func openAt(t *testing.T, path string) *embedded.Engine {
	t.Helper()
	engine := open(t, path)
	t.Cleanup(func() {
		shut(t, engine)
		engine := open(t, path)
		if err := engine.Check(context.Background()); err != nil {
			t.Error(err)
		}
		shut(t, engine)
	})
	return engine
}

func open(t *testing.T, path string) *embedded.Engine {
	t.Helper()
	engine, err := embedded.Open(context.WithoutCancel(t.Context()), path)
	must(t, err)
	return engine
}

func shut(t *testing.T, engine *embedded.Engine) {
	t.Helper()
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}
