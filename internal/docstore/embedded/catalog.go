package embedded

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// declaration is the catalog entry of a collection.
type declaration struct {
	ID docstore.Kind `bson:"id"`
	// Number is the first byte of the collection's keys.
	Number  int          `bson:"number"`
	Indexes []indexState `bson:"indexes"`
}

// indexState is an index in the catalog. It is complete if it has every document.
type indexState struct {
	// Part is the second byte of the index's keys.
	Part     int          `bson:"part"`
	Name     string       `bson:"name"`
	Fields   []fieldState `bson:"fields"`
	Unique   bool         `bson:"unique"`
	Sparse   bool         `bson:"sparse,omitempty"`
	Complete bool         `bson:"complete"`
}

// fieldState is a field of an index in the catalog.
type fieldState struct {
	Name string        `bson:"name"`
	Kind docstore.Kind `bson:"kind"`
}

// state returns the catalog entry of an index of the spec once it is complete.
func state(spec docstore.Spec, index docstore.Index) indexState {
	s := indexState{Name: index.Name, Unique: index.Unique, Sparse: index.Sparse, Complete: true}
	for _, field := range index.Fields {
		s.Fields = append(s.Fields, fieldState{field.Name, field.Kind})
	}
	return s
}

// equal reports whether two indexes have the same entries, wherever they are.
func (s indexState) equal(other indexState) bool {
	return s.Name == other.Name && s.Unique == other.Unique && s.Sparse == other.Sparse &&
		s.Complete == other.Complete &&
		slices.Equal(s.Fields, other.Fields)
}

// spec returns the declaration as a Spec.
func (d declaration) spec(collection string) docstore.Spec {
	spec := docstore.Spec{Name: collection, ID: d.ID}
	for _, had := range d.Indexes {
		index := docstore.Index{Name: had.Name, Unique: had.Unique, Sparse: had.Sparse}
		for _, field := range had.Fields {
			index.Fields = append(index.Fields, docstore.Field{Name: field.Name, Kind: field.Kind})
		}
		spec.Indexes = append(spec.Indexes, index)
	}
	return spec
}

// checkID returns an error if the collection exists with another kind of _id.
func (d declaration) checkID(spec docstore.Spec) error {
	if d.ID != 0 && d.ID != spec.ID {
		return fmt.Errorf("collection %q exists with another kind of _id", spec.Name)
	}
	return nil
}

func catalogBucket() []byte { return []byte("catalog") }
func dataBucket() []byte    { return []byte("data") }
func formatKey() []byte     { return []byte("format") }

// catalogKey never equals formatKey, because it has a slash.
func catalogKey(collection string) []byte { return []byte("collection/" + collection) }

// checkStore returns an error if the file is not a store, or one of another format.
func checkStore(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		catalog := tx.Bucket(catalogBucket())
		if catalog == nil {
			name, _ := tx.Cursor().First()
			return fmt.Errorf("the file is not a Waybook store: it has a bucket %q and no catalog", name)
		}
		if err := docstore.CheckFormat("the file", string(catalog.Get(formatKey()))); err != nil {
			return err
		}
		if tx.Bucket(dataBucket()) == nil {
			return damage("it has no bucket %q", dataBucket())
		}
		for _, name := range collectionsIn(tx) {
			if _, err := readDeclaration(tx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// collectionsIn returns the names of the collections in a catalog.
func collectionsIn(tx *bolt.Tx) (names []string) {
	cursor, prefix := tx.Bucket(catalogBucket()).Cursor(), catalogKey("")
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
		names = append(names, string(key[len(prefix):]))
	}
	return names
}

// writeFormat makes a new file one of the present format.
func writeFormat(tx *bolt.Tx) error {
	catalog, err := tx.CreateBucket(catalogBucket())
	if err == nil {
		_, err = tx.CreateBucket(dataBucket())
	}
	if err != nil {
		return err
	}
	return catalog.Put(formatKey(), []byte(strconv.Itoa(docstore.Format)))
}

// readDeclaration returns the zero declaration for an unknown collection.
func readDeclaration(tx *bolt.Tx, collection string) (declaration, error) {
	var found declaration
	raw := tx.Bucket(catalogBucket()).Get(catalogKey(collection))
	if raw == nil {
		return found, nil
	}
	if err := bson.Unmarshal(raw, &found); err != nil {
		return found, damage("catalog entry of %q: %v", collection, err)
	}
	return found, nil
}

func writeDeclaration(tx *bolt.Tx, collection string, made declaration) error {
	raw, err := bson.Marshal(made)
	if err != nil {
		return err
	}
	return tx.Bucket(catalogBucket()).Put(catalogKey(collection), raw)
}

// maxNumber bounds the numbers of collections and their parts. Keys of no part follow it.
const maxNumber = 0xfe

// nextNumber returns the number of a new collection.
func nextNumber(tx *bolt.Tx) (next int, err error) {
	for _, name := range collectionsIn(tx) {
		found, err := readDeclaration(tx, name)
		if err != nil {
			return 0, err
		}
		next = max(next, found.Number)
	}
	if next == maxNumber {
		return 0, fmt.Errorf("the store has %d collections", maxNumber)
	}
	return next + 1, nil
}

// newPart returns the number of a new index.
func (d declaration) newPart() (part int, err error) {
	for part = firstIndexPart; slices.ContainsFunc(d.Indexes,
		func(index indexState) bool { return index.Part == part }); part++ {
		if part == maxNumber {
			return 0, fmt.Errorf("the collection has %d indexes", part-firstIndexPart)
		}
	}
	return part, nil
}

// Inspect compares the declaration with the catalog. An index that a crash left
// incomplete is missing.
func (e *Engine) Inspect(ctx context.Context, spec docstore.Spec) (docstore.Inspection, error) {
	if err := spec.Validate(); err != nil {
		return docstore.Inspection{}, err
	}
	var found declaration
	err := e.view(ctx, func(tx *bolt.Tx) (err error) {
		found, err = readDeclaration(tx, spec.Name)
		return err
	})
	if err != nil {
		return docstore.Inspection{}, err
	}
	if err := found.checkID(spec); err != nil {
		return docstore.Inspection{}, err
	}
	there := docstore.Spec{Name: spec.Name, ID: spec.ID}
	inspection := docstore.Inspection{Exists: found.ID != 0}
	for _, index := range spec.Indexes {
		if slices.ContainsFunc(found.Indexes, state(spec, index).equal) {
			there.Indexes = append(there.Indexes, index)
		} else {
			inspection.Missing = append(inspection.Missing, index.Name)
		}
	}
	for _, had := range found.Indexes {
		if _, err := spec.FieldsOf(had.Name); err != nil {
			inspection.Undeclared = append(inspection.Undeclared, had.Name)
		}
	}
	slices.Sort(inspection.Missing)
	slices.Sort(inspection.Undeclared)
	t := newTable(e, there, found)
	if inspection.Exists {
		inspection.Table = docstore.ReadOnly(t)
	} else {
		inspection.Table = docstore.ReadOnly(absent{t})
	}
	return inspection, nil
}

// absent is a collection that does not exist in the file. It reads as an empty one.
type absent struct{ *table }

func (a absent) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, bool, error) {
	if _, err := a.find(scan.Index()); err != nil {
		return nil, false, err
	}
	return nil, false, a.engine.enterOnce(ctx)
}

func (a absent) Count(ctx context.Context, where docstore.Where) (int64, error) {
	if _, err := a.find(where.Index()); err != nil {
		return 0, err
	}
	return 0, a.engine.enterOnce(ctx)
}
