package mongo

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

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

// errNotPrepared reports an index that only Prepare creates.
var errNotPrepared = errors.New("run waybookctl store prepare")

// keysOf returns the keys of an index on the server. They end with _id, so that the index
// alone serves scans. A unique index does not include _id, because that would make every
// key unique. Its scans do not need _id: no two documents have equal fields. A sparse index does not
// include it, because every document has one.
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

// changedName returns the name of an index if another version of the program has an index
// of the declared name with another declaration.
func changedName(index docstore.Index) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, keysOf(index), index.Unique)
	return fmt.Sprintf("%s__%08x", index.Name, hash.Sum32())
}

// isNameOf reports whether some version of the program gives the declared index this name.
func isNameOf(index docstore.Index, name string) bool {
	suffix, isChanged := strings.CutPrefix(name, index.Name+"__")
	return name == index.Name || isChanged && len(suffix) == 8 && strings.Trim(suffix, "0123456789abcdef") == ""
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

// serves reports whether this index has all documents of the declared one in its order, and refuses
// what that refuses. Its name does not matter, nor that it has the documents that lack the field of a
// sparse one.
func (s storedIndex) serves(index docstore.Index) bool {
	return !s.Hidden && s.Unique == index.Unique && (!s.Sparse || index.Sparse) && len(s.Partial) == 0 && isSimple(s.Collation) && sameKeys(s.Key, keysOf(index))
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

// named is a declared index with its name on the server.
type named struct {
	docstore.Index
	name string
}

// match finds the server's names of the declared indexes. Present ones exist, or are being
// built. Missing ones have the name to be created with.
func (t *table) match(stored map[string]storedIndex) (present, missing []named) {
	for _, index := range indexesOf(t.spec) {
		name, taken := index.Name, false
		for _, has := range stored {
			if has.serves(index) && (!taken || has.Name == index.Name) {
				name, taken = has.Name, true
			}
		}
		if taken {
			present = append(present, named{index, name})
			continue
		}
		if _, changed := stored[name]; changed {
			name = changedName(index)
		}
		missing = append(missing, named{index, name})
	}
	return present, missing
}

// reconcile makes the declared indexes exist, drops nothing, and returns the declared names
// of those that it has created. Any number of processes may run it at once: the server
// builds an index once, and the others wait for it.
//
// Only a preparation creates a unique index if there is one of that name with another
// declaration. Versions of the program that run side by side need both.
func (t *table) reconcile(ctx context.Context, mayChange bool) (created []string, err error) {
	if err := errors.Join(t.checkCollation(ctx), t.checkIDKind(ctx)); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		stored, err := t.storedIndexes(ctx)
		if err != nil {
			return nil, err
		}
		if err := t.show(ctx, stored); err != nil {
			return nil, err
		}
		present, missing := t.match(stored)
		if len(stored)+len(missing) == 0 { // no index creates the collection
			return nil, t.make(ctx)
		}
		for _, index := range missing {
			if index.Unique && index.name != index.Name && !mayChange {
				return nil, fmt.Errorf("the unique index %q of collection %q exists with another declaration: %w", index.Name, t.spec.Name, errNotPrepared)
			}
		}
		if err := t.checkFit(ctx, missing); err != nil {
			return nil, err
		}
		created = created[:0]
		for _, index := range missing {
			created = append(created, index.Name)
		}
		err = t.create(ctx, present, missing)
		if !hasCode(err, indexAlreadyExists, indexOptionsConflict, indexKeySpecsConflict) || try == reconcileTries {
			return created, err
		}
	}
}

// show makes the hidden indexes visible that serve declared ones. No query uses a hidden index, and the server
// keeps it up to date: https://www.mongodb.com/docs/manual/core/index-hidden/.
func (t *table) show(ctx context.Context, stored map[string]storedIndex) error {
	for name, index := range stored {
		if !index.Hidden {
			continue
		}
		index.Hidden = false
		if !slices.ContainsFunc(indexesOf(t.spec), index.serves) {
			continue
		}
		err := t.engine.database.RunCommand(ctx, bson.D{
			{Key: "collMod", Value: t.spec.Name}, {Key: "index", Value: bson.D{{Key: "name", Value: name}, {Key: "hidden", Value: false}}},
			{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}},
		}).Err()
		if err != nil {
			return fmt.Errorf("show the hidden index %q of collection %q: %w", name, t.spec.Name, err)
		}
		stored[name] = index
	}
	return nil
}

// create creates indexes. For those that are present, it waits until they are built: the
// list of a server does not tell these apart.
//
// The server does not learn the deadline of ctx, because it would abort a build then. A
// later start would begin it again, and never end it. By default, a build ends only when all voting
// members have built the index, so one that is down would block the start.
func (t *table) create(ctx context.Context, present, missing []named) error {
	ctx, cancel := withoutDeadline(ctx)
	defer cancel()
	byMajority := options.CreateIndexes().SetCommitQuorumMajority()
	var models []mongo.IndexModel
	for _, index := range missing {
		models = append(models, index.model())
	}
	if len(models) > 0 {
		if _, err := t.collection.Indexes().CreateMany(ctx, models, byMajority); err != nil {
			return fmt.Errorf("build indexes of collection %q: %w", t.spec.Name, err)
		}
	}
	for _, index := range present {
		if _, err := t.collection.Indexes().CreateOne(ctx, index.model(), byMajority); err != nil {
			return fmt.Errorf("wait for index %q of collection %q: %w", index.name, t.spec.Name, err)
		}
	}
	return nil
}

func (n named) model() mongo.IndexModel {
	built := options.Index().SetName(n.name).SetUnique(n.Unique)
	if n.Sparse {
		built.SetSparse(true)
	}
	return mongo.IndexModel{Keys: keysOf(n.Index), Options: built}
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
	present, missing := t.match(stored)
	for _, index := range present {
		delete(stored, index.name)
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
