package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// Error codes of commands for indexes.
const (
	namespaceNotFound     = 26
	indexNotFound         = 27
	indexAlreadyExists    = 68
	indexOptionsConflict  = 85
	indexKeySpecsConflict = 86
)

// reconcileTries bounds how often the indexes are read and created again after another
// process has created some in between.
const reconcileTries = 3

// primaryIndex is the server's name for the index of _id.
const primaryIndex = "_id_"

// keysOf returns the keys of an index on the server. They end with _id, so that the index alone
// serves scans. A unique index does not include _id, because that would make every key unique. Its
// scans do not need _id: no two documents have equal fields. A sparse index does not include it,
// because every document has one.
func keysOf(index docstore.Index) bson.D {
	keys := bson.D{}
	for _, field := range index.Fields {
		keys = append(keys, bson.E{Key: field.Name, Value: int32(1)})
	}
	if !index.Unique && !index.Sparse {
		keys = append(keys, bson.E{Key: docstore.IDIndex, Value: int32(1)})
	}
	return keys
}

// sameKeys compares the keys of two indexes. Servers return the direction in different
// number types.
func sameKeys(stored, declared bson.D) bool {
	return slices.EqualFunc(stored, declared, func(a, b bson.E) bool {
		return a.Key == b.Key && fmt.Sprint(a.Value) == fmt.Sprint(b.Value)
	})
}

// storedIndex is an index as the server lists it.
type storedIndex struct {
	Name      string   `bson:"name"`
	Key       bson.D   `bson:"key"`
	Unique    bool     `bson:"unique"`
	Sparse    bool     `bson:"sparse"`
	Hidden    bool     `bson:"hidden"`
	Partial   bson.Raw `bson:"partialFilterExpression"`
	Collation bson.Raw `bson:"collation"`
}

// serves reports whether this index has all documents of the declared one in its order, and
// refuses what that refuses. It may have the documents that lack the field of a sparse one.
func (s storedIndex) serves(index docstore.Index) bool {
	return !s.Hidden && s.Unique == index.Unique && (!s.Sparse || index.Sparse) && len(s.Partial) == 0 &&
		isSimple(s.Collation) && sameKeys(s.Key, keysOf(index))
}

// isSimple reports whether a collation compares strings by their bytes.
func isSimple(collation bson.Raw) bool {
	locale, _ := collation.Lookup("locale").StringValueOK()
	return len(collation) == 0 || locale == "simple"
}

// storedIndexes returns the indexes by name, those that are being built too. There are none
// if the collection does not exist.
func (t *table) storedIndexes(ctx context.Context) (map[string]storedIndex, error) {
	cursor, err := t.collection.Indexes().List(ctx)
	if hasCode(err, namespaceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	var list []storedIndex
	if err := cursor.All(ctx, &list); err != nil {
		return nil, fmt.Errorf("list indexes: %w", err)
	}
	stored := make(map[string]storedIndex, len(list))
	for _, index := range list {
		stored[index.Name] = index
	}
	return stored, nil
}

// hasCode reports whether the server answered a command with one of the codes.
func hasCode(err error, codes ...int) bool {
	var command mongo.CommandError
	return errors.As(err, &command) && slices.Contains(codes, int(command.Code))
}

// match sorts the declared indexes into those that exist, or are being built, and those that do
// not. It returns an error if another one has the name of a declared one.
func (t *table) match(stored map[string]storedIndex) (present, missing []docstore.Index, err error) {
	for _, index := range indexesOf(t.spec) {
		has, isTaken := stored[index.Name]
		switch {
		case !isTaken:
			missing = append(missing, index)
		case has.serves(index):
			present = append(present, index)
		default:
			missing = append(missing, index)
			err = fmt.Errorf("%w: index %q of collection %q exists with another declaration; drop it", errMisfit,
				index.Name, t.spec.Name)
		}
	}
	return present, missing, err
}

// reconcile makes the declared indexes exist and drops nothing. Any number of processes may run it
// at once: the server builds an index once, and the others wait for it.
func (t *table) reconcile(ctx context.Context) error {
	if err := errors.Join(t.checkCollation(ctx), t.checkIDKind(ctx)); err != nil {
		return err
	}
	for try := 1; ; try++ {
		stored, err := t.storedIndexes(ctx)
		if err != nil {
			return err
		}
		present, missing, err := t.match(stored)
		if err != nil {
			return err
		}
		if len(stored)+len(missing) == 0 { // no index creates the collection
			return t.make(ctx)
		}
		if err := t.checkFit(ctx, missing); err != nil {
			return err
		}
		err = t.create(ctx, present, missing)
		if !hasCode(err, indexAlreadyExists, indexOptionsConflict, indexKeySpecsConflict) || try == reconcileTries {
			return err
		}
	}
}

// namespaceExists is the error code of create if the collection exists.
const namespaceExists = 48

// make creates the collection, if it does not exist.
func (t *table) make(ctx context.Context) error {
	if err := t.engine.database.CreateCollection(ctx, t.spec.Name); err != nil && !hasCode(err, namespaceExists) {
		return fmt.Errorf("create collection %q: %w", t.spec.Name, err)
	}
	return nil
}

// create creates indexes. For those that are present, it waits until they are built: the
// list of a server does not tell these apart.
//
// The server does not learn the deadline of ctx, because it would abort a build then. A later
// start would begin it again, and never end it. By default, a build ends only when all voting
// members have built the index, so one that is down would block the start.
func (t *table) create(ctx context.Context, present, missing []docstore.Index) error {
	ctx, cancel := withoutDeadline(ctx)
	defer cancel()
	byMajority := options.CreateIndexes().SetCommitQuorumMajority()
	var models []mongo.IndexModel
	for _, index := range missing {
		models = append(models, modelOf(index))
	}
	if len(models) > 0 {
		if _, err := t.collection.Indexes().CreateMany(ctx, models, byMajority); err != nil {
			return fmt.Errorf("build indexes of collection %q: %w", t.spec.Name, err)
		}
	}
	for _, index := range present {
		if _, err := t.collection.Indexes().CreateOne(ctx, modelOf(index), byMajority); err != nil {
			return fmt.Errorf("wait for index %q of collection %q: %w", index.Name, t.spec.Name, err)
		}
	}
	return nil
}

func modelOf(index docstore.Index) mongo.IndexModel {
	built := options.Index().SetName(index.Name).SetUnique(index.Unique)
	if index.Sparse {
		built.SetSparse(true)
	}
	return mongo.IndexModel{Keys: keysOf(index), Options: built}
}

// Inspect compares the declaration with the server's list of indexes.
func (e *Engine) Inspect(ctx context.Context, spec docstore.Spec) (docstore.Inspection, error) {
	if err := spec.Validate(); err != nil {
		return docstore.Inspection{}, err
	}
	t := newTable(e, spec)
	var stored map[string]storedIndex
	err := e.call(ctx, func() (err error) {
		if _, err := e.checkFormat(ctx); err != nil {
			return err
		}
		if err := t.checkIDKind(ctx); err != nil {
			return err
		}
		stored, err = t.storedIndexes(ctx)
		return err
	})
	if err != nil {
		return docstore.Inspection{}, err
	}
	// Every collection has the index of _id.
	inspection := docstore.Inspection{Exists: len(stored) > 0}
	delete(stored, primaryIndex)
	if spec.Sharding == docstore.ByID {
		delete(stored, hashedIndex)
	}
	present, missing, _ := t.match(stored)
	for _, index := range present {
		delete(stored, index.Name)
	}
	for _, index := range missing {
		inspection.Missing = append(inspection.Missing, declaredName(index.Name))
		delete(stored, index.Name)
	}
	t.spec.Indexes = slices.DeleteFunc(slices.Clone(t.spec.Indexes), func(index docstore.Index) bool {
		return slices.Contains(inspection.Missing, index.Name)
	})
	for name := range stored {
		inspection.Undeclared = append(inspection.Undeclared, name)
	}
	slices.Sort(inspection.Missing)
	inspection.Missing = slices.Compact(inspection.Missing)
	slices.Sort(inspection.Undeclared)
	inspection.Table = docstore.ReadOnly(t)
	return inspection, nil
}
