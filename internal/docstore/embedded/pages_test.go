package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
)

// variedSpec has a bucket of each kind.
func variedSpec() docstore.Spec {
	spec := ballotSpec()
	spec.Tombstones, spec.Feed = true, &docstore.Feed{}
	return spec
}

// varied makes a store with branch pages, texts over several pages, small buckets, tombstones and free pages.
func varied(f *testing.F) []byte {
	path := filepath.Join(f.TempDir(), "store.db")
	engine, err := embedded.Open(f.Context(), path)
	must(f, err)
	c, err := docstore.Open[int64, ballot](f.Context(), engine, variedSpec())
	must(f, err)
	var all []ballot
	for id := range int64(400) {
		each := someBallot(id)
		if id%50 == 0 {
			each.Body = strings.Repeat("x", int(id)*40)
		}
		all = append(all, each)
	}
	must(f, c.Insert(f.Context(), all...))
	for id := int64(0); id < 400; id += 3 {
		must(f, c.Delete(f.Context(), id))
	}
	must(f, engine.Close())
	file, err := os.ReadFile(path)
	must(f, err)
	return file
}

// documentsOf returns the documents of an engine, by id.
func documentsOf(ctx context.Context, engine *embedded.Engine) (map[string]string, error) {
	inspection, err := engine.Inspect(ctx, variedSpec())
	if err != nil {
		return nil, err
	}
	documents, _, err := inspection.Table.Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1000, WithTombstones: true})
	all := map[string]string{}
	for _, document := range documents {
		all[document.Lookup("_id").String()] = bson.Raw(document).String()
	}
	return all, err
}

// writeAll changes all parts of a store.
func writeAll(ctx context.Context, engine *embedded.Engine) (err error) {
	c, err := docstore.Open[int64, ballot](ctx, engine, variedSpec())
	if err != nil {
		return err
	}
	for id := int64(1); id < 500; id += 25 {
		each := someBallot(1000 + id)
		each.Body = strings.Repeat("y", int(id)*20)
		err = errors.Join(err, c.Insert(ctx, each))
		if deletion := c.Delete(ctx, id); !errors.Is(deletion, docstore.ErrNotFound) {
			err = errors.Join(err, deletion)
		}
	}
	return err
}

// mayBeOpened matches the changes after which a store may be opened: of meta pages, as the other one may count, of what nobody reads,
// and of the size of a value, which shows in the document alone if the value is the last of its page.
var mayBeOpened = regexp.MustCompile(`^meta|in page [01]:|sequence|vsize`)

// Whatever one number of a file says, the store is refused, or reads and writes are right or fail. None takes much memory or time.
func FuzzAChangedNumberInAPage(f *testing.F) {
	whole := varied(f)
	for seed := range uint64(80) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		file := bytes.Clone(whole)
		what := spoil.Change(file, rand.New(rand.NewPCG(seed, 0)))
		path := filepath.Join(t.TempDir(), "store.db")
		must(t, os.WriteFile(path, file, 0o600))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		outcome := tryStore(t, path, strings.HasPrefix(what, "meta"), whole)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %s", what, outcome)
		if !mayBeOpened.MatchString(what) && !strings.HasPrefix(outcome, "refused") {
			t.Error("the store is opened")
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
			t.Errorf("%d bytes were allocated", allocated)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// tryStore opens, checks, reads and writes a store, and returns how it went.
func tryStore(t *testing.T, path string, mayBeOlder bool, whole []byte) string {
	t.Helper()
	ctx := t.Context()
	reader, err := embedded.OpenReadOnly(ctx, path)
	if err != nil {
		if _, isDamage := errors.AsType[*embedded.DamageError](err); !isDamage && !strings.Contains(err.Error(), "the file is truncated") || strings.Contains(err.Error(), "\n") || len(err.Error()) > 8<<10 {
			t.Errorf("the store is refused by %v", err)
		}
		if _, err := embedded.Open(ctx, path); err == nil {
			t.Error("a store that cannot be read is opened for writing")
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("there are %v, %v", names, err)
		}
		return fmt.Sprint("refused: ", err)
	}
	found := reader.Check(ctx)
	got, err := documentsOf(ctx, reader)
	if found == nil && err != nil {
		t.Errorf("a store without faults cannot be read: %v", err)
	}
	shut(t, reader)
	if found == nil && !mayBeOlder {
		original := filepath.Join(t.TempDir(), "whole.db")
		must(t, os.WriteFile(original, whole, 0o600))
		reader := openReadOnly(t, original)
		if want, err := documentsOf(ctx, reader); err != nil || !maps.Equal(got, want) {
			t.Errorf("a store without faults has other documents (%v)", err)
		}
		shut(t, reader)
	}
	writer, err := embedded.Open(ctx, path)
	if err != nil {
		t.Errorf("a store that can be read is not opened for writing: %v", err)
		return ""
	}
	if err := writeAll(ctx, writer); err != nil && found == nil {
		t.Errorf("a store without faults cannot be written: %v", err)
	}
	shut(t, writer)
	if found != nil {
		return fmt.Sprint("found: ", found)
	}
	again := openReadOnly(t, path)
	defer shut(t, again)
	if err := again.Check(ctx); err != nil {
		t.Errorf("writes to a store without faults have damaged it: %v", err)
	}
	return "harmless"
}

// A page that changes under an open store, and a file that shrinks, as if its disk failed, fail calls and not the process.
func TestDamageWhileAStoreIsOpenFailsItsCallsAndStopsItsWrites(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"a page with another number": func(t *testing.T, path string) {
			for page := int64(2); page < 200; page++ {
				overwrite(t, path, page*int64(os.Getpagesize()), []byte{0xFF, 0xFF})
			}
		},
		"a page that cannot be read": func(t *testing.T, path string) {
			must(t, os.Truncate(path, 2*int64(os.Getpagesize())))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for call, use := range map[string]func(*docstore.Collection[int64, ballot]) error{
				"read":  func(c *docstore.Collection[int64, ballot]) error { _, err := c.Get(t.Context(), 7); return err },
				"write": func(c *docstore.Collection[int64, ballot]) error { return c.Insert(t.Context(), someBallot(100_000)) },
			} {
				path := filepath.Join(t.TempDir(), "store.db")
				engine := open(t, path)
				c := fill(t, engine, 2000)
				damage(t, path)
				if err := use(c); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
					t.Errorf("a %s fails with %v", call, err)
				}
				if err := engine.Ping(t.Context()); !errors.Is(err, docstore.ErrUnavailable) {
					t.Errorf("Ping returns %v after a %s", err, call)
				}
				if err := c.Insert(t.Context(), someBallot(100_001)); !errors.Is(err, docstore.ErrUnavailable) {
					t.Errorf("after a %s, a write returns %v", call, err)
				}
				shut(t, engine)
			}
		})
	}
}
