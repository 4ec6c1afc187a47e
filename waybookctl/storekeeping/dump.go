package storekeeping

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/restoring"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

// dumpPermissions are the permissions of a dump, which holds session secrets and password hashes.
const dumpPermissions = 0o600

// scanDocuments is how many documents are read at a time, if they fit into a page.
const scanDocuments = 100

// Dump writes all documents of a store to a file, which appears only when complete and synced. No
// service may have an embedded store open. On MongoDB, services may keep running, but then the
// documents do not show a single moment: each is as it was when it was read. A store that is not
// loaded completely is refused. The files of photos go to Options.Photos.
func Dump(ctx context.Context, options Options, path string) (contents dumpfile.Contents, err error) {
	store, err := options.openExisting(ctx, integrity.Look)
	if err != nil {
		return contents, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if contents, err = options.DumpFrom(ctx, store, path); err != nil {
		return contents, err
	}
	return contents, errors.Join(options.copyFiles(ctx, store, false), options.reportFiles(ctx, store))
}

// DumpFrom is Dump of an open store.
func (o Options) DumpFrom(ctx context.Context, store docstore.Engine,
	path string) (contents dumpfile.Contents, err error) {
	parts, err := o.parts()
	if err != nil {
		return contents, err
	}
	if err := restoring.Refuse(ctx, store); err != nil {
		return contents, err
	}
	var collections []collection
	for _, p := range parts {
		found, _, err := p.inspect(ctx, store)
		if err != nil {
			return contents, err
		}
		collections = append(collections, found...)
	}
	if !slices.ContainsFunc(collections, collection.exists) {
		return contents, errors.New("the store has no collections of these services; check that it is the right store")
	}
	err = atomicfile.WriteTo(o.Stdout, path, dumpPermissions, func(file io.Writer) (err error) {
		contents, err = dump(ctx, o, file, collections)
		return err
	})
	return contents, err
}

func dump(ctx context.Context, options Options, file io.Writer, collections []collection) (dumpfile.Contents, error) {
	var names []string
	for _, c := range collections {
		names = append(names, c.spec.Name)
	}
	w, err := dumpfile.NewWriter(file, names)
	if err != nil {
		return dumpfile.Contents{}, err
	}
	for _, c := range collections {
		if err := dumpCollection(ctx, options, w, c); err != nil {
			return dumpfile.Contents{}, fmt.Errorf("dump %s: %w", c.spec.Name, err)
		}
	}
	return w.Close()
}

func dumpCollection(ctx context.Context, options Options, w *dumpfile.Writer, c collection) error {
	err := walk(ctx, c.spec, c.found.Table, everything(), func(documents []bson.Raw) error {
		options.progress(len(documents))
		return w.Write(documents)
	})
	if err != nil {
		return err
	}
	return w.EndCollection()
}

// everything scans all documents of a collection, in the order of their ids, and its tombstones.
func everything() docstore.Scan {
	return docstore.Scan{
		Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: scanDocuments, MaxBytes: docstore.MaxBatchBytes,
		WithTombstones: true,
	}
}

// ordered returns a document with its fields in the order of their names and _id first. Stores
// keep the same document with its fields in different orders, and MongoDB changes that of a new
// one.
func ordered(document bson.Raw) (bson.Raw, error) {
	elements, err := document.Elements()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(elements, func(a, b bson.RawElement) int {
		return strings.Compare(strings.TrimPrefix(a.Key(), docstore.IDIndex),
			strings.TrimPrefix(b.Key(), docstore.IDIndex))
	})
	into := make(bson.Raw, 4, len(document))
	for _, element := range elements {
		into = append(into, element...)
	}
	into = append(into, 0)
	binary.LittleEndian.PutUint32(into, uint32(len(into))) // #nosec G115 -- at most 16 MiB
	return into, nil
}

// walk calls visit for each page of a scan in the order of ids, with ordered documents.
func walk(ctx context.Context, spec docstore.Spec, table docstore.Table, scan docstore.Scan,
	visit func([]bson.Raw) error) error {
	for {
		documents, more, err := table.Scan(ctx, scan)
		if err != nil {
			return err
		}
		for i := range documents {
			if documents[i], err = ordered(documents[i]); err != nil {
				return fmt.Errorf("the store is damaged: document %d of those after %v: %w", i+1, scan.After, err)
			}
		}
		if err := visit(documents); err != nil || !more {
			return err
		}
		last, err := idOf(spec, documents[len(documents)-1])
		if err != nil {
			return err
		}
		scan.After = []docstore.Value{last}
	}
}
