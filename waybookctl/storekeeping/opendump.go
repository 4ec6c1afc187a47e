package storekeeping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
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
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; copy the dump to one, because it is read more than once", path)
	}
	if d.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if d.contents, err = dumpfile.Read(ctx, d.file, d.verifier(options)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w; nothing was loaded", path, err), d.file.Close())
	}
	if len(d.chosen()) == 0 {
		return nil, errors.Join(fmt.Errorf("%s has no collections of these services", path), d.file.Close())
	}
	return d, nil
}

// Documents returns how many documents there are to load.
func (d *DumpFile) Documents() (sum int64) {
	for _, c := range d.chosen() {
		sum += c.Documents
	}
	return sum
}

// Close closes the file.
func (d *DumpFile) Close() error { return d.file.Close() }

// chosen returns the file's collections to load.
func (d *DumpFile) chosen() []dumpfile.Collection {
	return slices.DeleteFunc(slices.Clone(d.contents.Collections), func(c dumpfile.Collection) bool {
		_, isWanted := d.wanted[c.Name]
		return !isWanted
	})
}

// verifier returns the check of each document while the file is verified. A document must match the
// declaration of its collection, and follow the previous one in the order of ids.
func (d *DumpFile) verifier(options Options) func(dumpfile.Batch) error {
	var last []byte
	var count int64
	return func(batch dumpfile.Batch) error {
		spec, isKnown := d.all[batch.Collection]
		if !isKnown {
			return fmt.Errorf("no service keeps %q; a newer version may have written the dump", batch.Collection)
		}
		if batch.First {
			last, count = nil, 0
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
		count += int64(len(batch.Documents))
		options.progress(spec.Name, count)
		return nil
	}
}
