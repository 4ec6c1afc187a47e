package storekeeping_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

var now = time.Date(2026, 11, 22, 3, 17, 0, 0, time.UTC)

type note struct {
	ID   int64  `bson:"_id"`
	Text string `bson:"text"`
	Body string `bson:"body"` // no index has it, so only the checksum shows a change
}

// newStore returns the file of a store with a document, after a change of the open file by its database.
func newStore(t *testing.T, change func(*bolt.Tx) error) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	engine, err := embedded.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := docstore.Open[int64, note](t.Context(), engine, docstore.Spec{
		Name: "notes", ID: docstore.Int64, Indexes: []docstore.Index{{Name: "text", Fields: []docstore.Field{{Name: "text", Kind: docstore.String}}}},
	})
	if err == nil {
		err = notes.Insert(t.Context(), note{1, "title", "precious"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, nil)
	if err == nil {
		err = db.Update(change)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// pack returns a backup of a store.
func pack(t *testing.T, store []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := storekeeping.Pack(&file, now, int64(len(store)), func(to io.Writer) ([]byte, error) {
		sum := sha256.Sum256(store)
		_, err := to.Write(store)
		return sum[:], err
	}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// archive returns a tar of members: names and texts in turns.
func archive(t *testing.T, members ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	to := tar.NewWriter(&file)
	for pair := range slices.Chunk(members, 2) {
		if err := to.WriteHeader(&tar.Header{Name: pair[0], Mode: 0o600, Size: int64(len(pair[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(to, pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func restore(t *testing.T, options storekeeping.Options, from io.Reader) (storekeeping.Restored, error) {
	t.Helper()
	return storekeeping.Restore(t.Context(), options, storekeeping.Source{Name: "backup", Reader: from}, now, progress.New(io.Discard))
}

func namesIn(t *testing.T, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func unchanged(*bolt.Tx) error { return nil }

func TestADamagedBackupReplacesNoStore(t *testing.T) {
	store := newStore(t, unchanged)
	whole := pack(t, store)
	inStore := 512 + bytes.Index(store, []byte("precious")) // behind the header of the member
	changed := func(at int) []byte {
		altered := bytes.Clone(whole)
		altered[at] ^= 1
		return altered
	}
	broken := bytes.Clone(store)
	for at := 4 * os.Getpagesize(); at < len(broken); at++ { // behind the two meta pages
		broken[at] ^= 0xff
	}
	cases := map[string]struct {
		backup []byte
		want   string
	}{
		"a letter of a document":  {changed(inStore), "the manifest says"},
		"a digit of the checksum": {changed(bytes.Index(whole, []byte(`"sha256": "`)) + len(`"sha256": "`)), "the manifest says"},
		"pages":                   {pack(t, broken), "damage"},
		"a truncated store":       {pack(t, store[:5*os.Getpagesize()]), "truncated"},
		"no store":                {pack(t, []byte("text")), "not a store"},
		"an index without its entry": {pack(t, newStore(t, func(tx *bolt.Tx) error {
			return spoil.RemoveFirst(tx, "notes", "text")
		})), "index text"},
		"an empty file":         {nil, "truncated"},
		"the file of a store":   {store, "no file that"},
		"text":                  {bytes.Repeat([]byte("text"), 1000), "no file that"},
		"another tar":           {archive(t, "a.txt", "text"), "truncated"},
		"no store in the tar":   {archive(t, "a.txt", "text", "manifest.json", `{"format": 1}`), "it has no waybook.db"},
		"a manifest of text":    {archive(t, "waybook.db", string(store), "manifest.json", "text"), "manifest.json is damaged"},
		"a later format":        {archive(t, "manifest.json", `{"format": 2, "sha512": "…"}`, "waybook.db", string(store)), "has format 2, and this waybookctl reads format 1"},
		"one with photos":       {archive(t, "waybook.db", string(store), "photos/1.jpg", "…", "manifest.json", `{"format": 2}`), "has format 2"},
		"a manifest of nothing": {archive(t, "waybook.db", string(store), "manifest.json", `{}`), "has format 0"},
	}
	for _, length := range []int{1, 511, 512, 1000, 512 + len(store)/2, 512 + len(store), 512 + len(store) + 100, len(whole) - 2048, len(whole) - 2048 + 300} {
		cases["cut off at "+time.Duration(length).String()] = struct {
			backup []byte
			want   string
		}{whole[:length], "truncated"}
	}
	for name, c := range cases {
		for _, former := range []string{"", "the former store"} {
			options := storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir()}}
			var want []string
			if former != "" {
				want = []string{"waybook.db"}
				if err := os.WriteFile(options.Store.File(), []byte(former), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := restore(t, options, bytes.NewReader(c.backup))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "backup can't be restored, and nothing has changed") {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
			if names := namesIn(t, options.Store.Data); !slices.Equal(names, want) {
				t.Errorf("%s: there are %v", name, names)
			}
			if kept, err := os.ReadFile(options.Store.File()); string(kept) != former {
				t.Errorf("%s: the store is %.20q, %v", name, kept, err)
			}
		}
	}
}

func TestARestoreKeepsTheFormerStore(t *testing.T) {
	store := newStore(t, unchanged)
	options := storekeeping.Options{Store: service.StoreFlags{Data: filepath.Join(t.TempDir(), "made")}}
	for range 2 {
		done, err := restore(t, options, bytes.NewReader(pack(t, store)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append([]string{options.Store.File()}, strings.Fields(done.Former)...) {
			contents, err := os.ReadFile(path)
			if err != nil || bytes.Equal(contents, store) {
				t.Errorf("%s has %d bytes, and may be the same store to followers: %v", path, len(contents), err)
			}
			opened, err := embedded.OpenReadOnly(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(opened.Check(t.Context()), opened.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if names := namesIn(t, options.Store.Data); !slices.Equal(names, []string{"waybook.db", "waybook.db.before-20261122T031700Z"}) {
		t.Errorf("there are %v", names)
	}
}

// opening is a reader that calls a function before the first read.
type opening struct {
	io.Reader
	open func()
}

func (o *opening) Read(into []byte) (int, error) {
	if o.open != nil {
		o.open()
		o.open = nil
	}
	return o.Reader.Read(into)
}

// A supervisor starts a service again and again, while a backup takes minutes to copy.
func TestARestoreReplacesNoStoreOfAServiceThatStartsMeanwhile(t *testing.T) {
	backup := pack(t, newStore(t, unchanged))
	for name, damage := range map[string]func(path string) error{
		"no store":        func(string) error { return nil },
		"a damaged store": func(path string) error { return os.WriteFile(path, []byte("damaged"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			options := storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir()}}
			store := options.Store.File()
			if err := damage(store); err != nil {
				t.Fatal(err)
			}
			starting := &opening{bytes.NewReader(backup), func() {
				if err := os.RemoveAll(store); err != nil {
					t.Fatal(err)
				}
				running, err := embedded.Open(t.Context(), store)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := running.Close(); err != nil {
						t.Error(err)
					}
				})
			}}
			if done, err := restore(t, options, starting); err == nil || !strings.Contains(err.Error(), "stop it first") {
				t.Errorf("the restore replaced the store: %+v, %v", done, err)
			}
			if names := namesIn(t, options.Store.Data); !slices.Equal(names, []string{"waybook.db"}) {
				t.Errorf("there are %v", names)
			}
		})
	}
}

// A disk that loses what was written to it: the copy changes after it was synced, before the manifest is read.
func TestARestoreComparesWhatTheDiskKept(t *testing.T) {
	store := newStore(t, unchanged)
	whole := pack(t, store)
	options := storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir()}}
	spoilt := &opening{bytes.NewReader(whole[len(whole)-2048:]), func() {
		path := options.Store.File() + ".restoring"
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kept[bytes.Index(kept, []byte("precious"))] ^= 1
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}}
	if _, err := restore(t, options, io.MultiReader(bytes.NewReader(whole[:len(whole)-2048]), spoilt)); err == nil || !strings.Contains(err.Error(), "the manifest says") {
		t.Errorf("got %v", err)
	}
	if names := namesIn(t, options.Store.Data); len(names) > 0 {
		t.Errorf("there are %v", names)
	}
}
