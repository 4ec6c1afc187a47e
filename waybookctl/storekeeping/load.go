package storekeeping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/restoring"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

// DumpFile is a complete, verified dump that matches the declarations of the services.
type DumpFile struct {
	file *os.File
	// all are the declarations of all services, wanted those of the collections to load.
	all, wanted map[string]docstore.Spec
	contents    dumpfile.Contents
}

// OpenDump opens a dump and verifies all of it. The file must be regular, because loading reads it
// again.
func OpenDump(ctx context.Context, options Options, path string) (*DumpFile, error) {
	chosen, err := options.parts()
	if err != nil {
		return nil, err
	}
	d := &DumpFile{}
	if d.all, err = declaredSpecs(ctx, allParts()); err != nil {
		return nil, err
	}
	if d.wanted, err = declaredSpecs(ctx, chosen); err != nil {
		return nil, err
	}
	for _, p := range allParts() {
		counters := smallids.Spec(p.name)
		d.all[counters.Name] = counters
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; copy the dump to one, because it is read more than once",
			path)
	}
	if d.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if d.contents, err = dumpfile.Read(ctx, d.file, d.verifier(options)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w; nothing was loaded", path, err), d.file.Close())
	}
	for _, p := range chosen {
		counters := smallids.Spec(p.name)
		if slices.ContainsFunc(d.contents.Collections,
			func(c dumpfile.Collection) bool { return c.Name == counters.Name }) {
			d.wanted[counters.Name] = counters
		}
	}
	if len(d.chosen()) == 0 {
		return nil, errors.Join(fmt.Errorf("%s has no collections of these services", path), d.file.Close())
	}
	return d, nil
}

func (d *DumpFile) Documents() (sum int64) {
	for _, c := range d.chosen() {
		sum += c.Documents
	}
	return sum
}

func (d *DumpFile) Close() error { return d.file.Close() }

// chosen returns the file's collections to load.
func (d *DumpFile) chosen() []dumpfile.Collection {
	return slices.DeleteFunc(slices.Clone(d.contents.Collections), func(c dumpfile.Collection) bool {
		_, isWanted := d.wanted[c.Name]
		return !isWanted
	})
}

// verifier returns the check of each document while the file is verified. A document must match
// the declaration of its collection, and follow the previous one in the order of ids.
func (d *DumpFile) verifier(options Options) func(dumpfile.Batch) error {
	var last []byte
	return func(batch dumpfile.Batch) error {
		spec, isKnown := d.all[batch.Collection]
		if !isKnown {
			return fmt.Errorf("no service keeps %q; a newer version may have written the dump", batch.Collection)
		}
		if batch.First {
			last = nil
		}
		for _, document := range batch.Documents {
			if err := spec.CheckDocument(document); err != nil {
				return fmt.Errorf("a document of %s: %w", spec.Name, err)
			}
			key, err := docstore.AppendKey(nil, []docstore.Field{{Name: "_id", Kind: spec.ID}}, document)
			if err != nil {
				return err
			}
			if last != nil && bytes.Compare(key, last) <= 0 {
				return fmt.Errorf("the documents of %s are not in the order of their ids", spec.Name)
			}
			last = key
		}
		options.progress(len(batch.Documents))
		return nil
	}
}

// Load stores the documents of the file unchanged, including their revisions. The store may
// already hold some of them, as an interrupted load leaves it, but no others. So running Load
// again resumes, and Load never replaces a document. It checks for other documents before it
// writes. It detects documents that violate a unique index only while it writes. Until Load has
// returned nil, the store is marked as incomplete, and no service starts on it.
func (d *DumpFile) Load(ctx context.Context, options Options) (loaded []dumpfile.Collection, err error) {
	store, err := options.openStore(ctx, options.Store.Open)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return d.LoadInto(ctx, options, store)
}

// LoadInto is Load into an open store.
func (d *DumpFile) LoadInto(ctx context.Context, options Options,
	store docstore.Engine) (loaded []dumpfile.Collection, err error) {
	if err := d.refuseOthers(ctx, store); err != nil {
		return nil, err
	}
	var chosen []string
	for _, c := range d.chosen() {
		chosen = append(chosen, c.Name)
	}
	if err := restoring.Begin(ctx, store, chosen); err != nil {
		return nil, err
	}
	if err := options.copyFiles(ctx, store, true); err != nil {
		return nil, err
	}
	if err := d.loadInto(ctx, options, store); err != nil {
		return nil, fmt.Errorf("%w; the store is incomplete: load the file again to resume, or empty the store", err)
	}
	if err := store.Renew(ctx); err != nil {
		return nil, err
	}
	return d.chosen(), restoring.End(ctx, store, chosen)
}

// loadInto stores the documents.
func (d *DumpFile) loadInto(ctx context.Context, options Options, store docstore.Engine) (err error) {
	tables := map[string]docstore.Table{}
	for name, spec := range d.wanted {
		if tables[name], err = store.Open(ctx, spec); err != nil {
			return fmt.Errorf("open collection %s: %w", name, err)
		}
	}
	return d.again(ctx, func(batch dumpfile.Batch) error {
		if err := insert(ctx, tables[batch.Collection], batch.Documents); err != nil {
			return fmt.Errorf("load %s: %w", batch.Collection, err)
		}
		options.progress(len(batch.Documents))
		return nil
	})
}

// again reads the file once more and passes on the collections to load.
func (d *DumpFile) again(ctx context.Context, visit func(dumpfile.Batch) error) error {
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	contents, err := dumpfile.Read(ctx, d.file, func(batch dumpfile.Batch) error {
		if _, isWanted := d.wanted[batch.Collection]; !isWanted {
			return nil
		}
		return visit(batch)
	})
	if err == nil && contents.Sum != d.contents.Sum {
		err = errors.New("the file changed while it was loaded")
	}
	return err
}

// refuseOthers refuses a store that holds documents the file does not. Most stores are empty, and
// then it does not read the file.
func (d *DumpFile) refuseOthers(ctx context.Context, store docstore.Engine) error {
	tables, others := map[string]docstore.Table{}, map[string]int64{}
	for _, c := range d.chosen() {
		found, err := store.Inspect(ctx, d.wanted[c.Name])
		if err != nil {
			return err
		}
		count := int64(0)
		ids := everything()
		ids.Fields = []string{docstore.IDIndex}
		if err := walk(ctx, d.wanted[c.Name], found.Table, ids, func(documents []bson.Raw) error {
			count += int64(len(documents))
			return nil
		}); err != nil {
			return err
		}
		if count > 0 {
			tables[c.Name], others[c.Name] = found.Table, count
		}
	}
	if len(tables) == 0 {
		return nil
	}
	err := d.again(ctx, func(batch dumpfile.Batch) error {
		table := tables[batch.Collection]
		if table == nil {
			return nil
		}
		equal, err := countEqual(ctx, d.wanted[batch.Collection], table, batch.Documents)
		others[batch.Collection] -= equal
		return err
	})
	if err != nil {
		return err
	}
	var full []string
	for _, c := range d.chosen() {
		if others[c.Name] != 0 {
			full = append(full, c.Name)
		}
	}
	if len(full) > 0 {
		return fmt.Errorf("the store already holds other documents, in %s; load into an empty store",
			strings.Join(full, ", "))
	}
	return nil
}

// countEqual returns how many of the documents, which are in the order of their ids, a table holds
// unchanged.
func countEqual(ctx context.Context, spec docstore.Spec, table docstore.Table,
	documents []bson.Raw) (count int64, err error) {
	ids, given := make([]docstore.Value, len(documents)), make(map[docstore.Value]bson.Raw, len(documents))
	for i, document := range documents {
		if ids[i], err = idOf(spec, document); err != nil {
			return 0, err
		}
		if given[ids[i]], err = ordered(document); err != nil {
			return 0, err
		}
	}
	between := everything()
	between.Where = docstore.All(docstore.IDIndex).Within(docstore.Span{From: ids[0],
		To: ids[len(ids)-1]}).Everywhere()
	return count, walk(ctx, spec, table, between, func(stored []bson.Raw) error {
		for _, document := range stored {
			id, err := idOf(spec, document)
			if err != nil {
				return err
			}
			if bytes.Equal(document, given[id]) {
				count++
			}
		}
		return nil
	})
}

// insert stores documents, and skips those that are stored already.
func insert(ctx context.Context, table docstore.Table, documents []bson.Raw) error {
	refusals, err := table.Insert(ctx, documents)
	if err != nil {
		return err
	}
	for i, refusal := range refusals {
		if refusal == nil {
			continue
		}
		id := documents[i].Lookup("_id")
		var duplicate *docstore.DuplicateError
		if !errors.As(refusal, &duplicate) {
			return fmt.Errorf("document %s: %w", id, refusal)
		}
		if duplicate.Index != docstore.IDIndex {
			return fmt.Errorf("document %s has the same %s as another document", id, duplicate.Index)
		}
		// refuseOthers has checked the store before the first write, so this document is the same.
	}
	return nil
}

func idOf(spec docstore.Spec, document bson.Raw) (docstore.Value, error) {
	return docstore.Field{Name: docstore.IDIndex, Kind: spec.ID}.Value(document)
}
