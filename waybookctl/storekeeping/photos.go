package storekeeping

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/directory"
	"github.com/waybook/waybook/internal/blob/gridfs"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/service"
)

// MissingFile is the kind of fault of a photo, or an icon, whose files are not there.
const MissingFile integrity.Kind = "missing_file"

// maxExamples bounds the parents in a finding.
const maxExamples = 10

// naming says how the documents of a collection name their files.
type naming struct {
	// file is the field with the identifier of the files, and owner that with what the user looks
	// for.
	file, owner string
	// files is how many files have the identifier.
	files int
}

// namingOf returns the naming of a collection that has a store of files.
func namingOf(collection string) naming {
	if collection == "users" {
		return naming{"icon", docstore.IDIndex, 1}
	}
	return naming{"file", "parent_id", blob.Kinds}
}

// fileStores returns the names of a service's stores of files, which are those of the collections
// that name the files.
func (p part) fileStores(ctx context.Context) (names []string, err error) {
	deps := deps(&survey{})
	deps.Files = func(_ context.Context, name string) (blob.Store, error) {
		names = append(names, name)
		return nil, nil // opening a collection uses no file
	}
	_, err = p.open(ctx, deps)
	return names, err
}

// openFiles opens a store of files that exists; it returns nil if there is none.
func (o Options) openFiles(
	ctx context.Context, engine docstore.Engine, name string,
) (files blob.Store, end func() error, err error) {
	_, isMongoDB := engine.(*mongo.Engine)
	_, err = os.Stat(filepath.Join(o.Store.Data, service.PhotosDirectory, name))
	if !isMongoDB && errors.Is(err, fs.ErrNotExist) {
		return nil, func() error { return nil }, nil
	}
	return o.Store.OpenFiles(ctx, engine, name)
}

// checkFiles looks for documents without their files, and counts files that no document names.
func (o Options) checkFiles(
	ctx context.Context, engine docstore.Engine, c collection, report *CollectionReport,
) (findings []integrity.Finding, err error) {
	// The documents are read first: each one is stored after its files.
	names, owners := namingOf(c.spec.Name), map[int64]int64{}
	if err := walk(ctx, c.spec, c.found.Table, everything(), func(documents []bson.Raw) error {
		for _, document := range documents {
			if file, has := document.Lookup(names.file).Int64OK(); has {
				owners[file] = document.Lookup(names.owner).AsInt64()
			}
		}
		o.progress(len(documents))
		return nil
	}); err != nil {
		return nil, err
	}
	files, end, err := o.openFiles(ctx, engine, c.spec.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	stored := map[int64]int{}
	if files != nil {
		for entry, err := range blob.All(ctx, files) {
			if err != nil {
				return nil, err
			}
			if !entry.IsUnfinished {
				stored[entry.Key.File]++
			}
		}
	}
	missing := integrity.Finding{
		Collection: c.spec.Name, Kind: MissingFile,
		Detail: "lack files; restore those from a backup, or remove what names them",
	}
	for file, owner := range owners {
		if stored[file] == names.files {
			continue
		}
		if missing.Count++; len(missing.Parents) < maxExamples {
			missing.Parents = append(missing.Parents, owner)
		}
	}
	for file, kinds := range stored {
		if _, isNamed := owners[file]; !isNamed {
			report.UnnamedFiles += int64(kinds)
		}
	}
	if missing.Count > 0 {
		findings = append(findings, missing)
	}
	return findings, nil
}

// copyFiles copies the files of services to or from a directory with a folder for each store, if
// one is given.
func (o Options) copyFiles(ctx context.Context, engine docstore.Engine, isLoad bool) (err error) {
	if o.Photos == "" {
		return nil
	}
	return o.eachFileStore(ctx, func(name string) error {
		if err := o.copyStore(ctx, engine, name, isLoad); err != nil {
			return fmt.Errorf("copy the files of %s: %w", name, err)
		}
		return nil
	})
}

// reportFiles reports how many files a dump without a directory for them leaves out.
func (o Options) reportFiles(ctx context.Context, engine docstore.Engine) error {
	if o.Photos != "" || o.LeftOut == nil {
		return nil
	}
	left := int64(0)
	err := o.eachFileStore(ctx, func(name string) (err error) {
		files, end, err := o.openFiles(ctx, engine, name)
		if err != nil || files == nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		for entry, err := range blob.All(ctx, files) {
			if err != nil {
				return fmt.Errorf("count the files of %s: %w", name, err)
			}
			if !entry.IsUnfinished {
				left++
			}
		}
		return nil
	})
	if err == nil && left > 0 {
		o.LeftOut(left)
	}
	return err
}

// eachFileStore calls do with the name of each store of files.
func (o Options) eachFileStore(ctx context.Context, do func(name string) error) error {
	parts, err := o.parts()
	if err != nil {
		return err
	}
	for _, p := range parts {
		names, err := p.fileStores(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o Options) copyStore(ctx context.Context, engine docstore.Engine, name string, isLoad bool) (err error) {
	outside := filepath.Join(o.Photos, name)
	if _, err := os.Stat(outside); isLoad && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	there, err := directory.Open(outside)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	open := o.openFiles
	if isLoad {
		open = o.Store.OpenFiles
	}
	here, end, err := open(ctx, engine, name)
	if err != nil || here == nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if isLoad {
		err = blob.Copy(ctx, there, here)
	} else {
		err = blob.Copy(ctx, here, there)
	}
	return err
}

// prepareFiles makes the collections of a store of files in a MongoDB, and shards them in a
// cluster.
func prepareFiles(
	ctx context.Context, engine docstore.Engine, service, name string,
) (prepared []PreparedCollection, err error) {
	server, isMongoDB := engine.(*mongo.Engine)
	if !isMongoDB {
		return nil, nil
	}
	exists, err := gridfs.Exists(ctx, server, name)
	if err != nil {
		return nil, err
	}
	for _, each := range []string{name + gridfs.Files, name + gridfs.Chunks} {
		prepared = append(prepared, PreparedCollection{
			Service: service, Name: each, Made: !exists, IndexesFound: []string{}, IndexesMade: []string{},
		})
	}
	files, err := gridfs.Open(ctx, server, name)
	if err != nil {
		return nil, err
	}
	isSharded, err := files.Shard(ctx)
	for i := range prepared {
		if isSharded {
			prepared[i].Placement = "by file"
		}
	}
	return prepared, err
}
