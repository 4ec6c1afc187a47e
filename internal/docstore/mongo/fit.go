package mongo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// formatCollection has one document, with the format of the database.
const formatCollection = "store"

// claim makes the format of an empty database that of this program; see docstore.Format. It
// returns an error if the database has another one. It must come before the first write to the
// database.
func (e *Engine) claim(ctx context.Context) error {
	hasFormat, err := e.checkFormat(ctx)
	if err != nil || hasFormat {
		return err
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "format", Value: int64(docstore.Format)}}}}
	_, err = e.database.Collection(formatCollection).UpdateOne(ctx, formatFilter(), set,
		options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) { // another process has made it
		return nil
	}
	return err
}

func formatFilter() bson.D { return bson.D{{Key: docstore.IDIndex, Value: "format"}} }

// checkFormat reports whether the database has a format. It returns an error if that is another
// one, or if there are documents without a format.
func (e *Engine) checkFormat(ctx context.Context) (hasFormat bool, err error) {
	if hasFormat, err := e.readFormat(ctx); err != nil || hasFormat {
		return hasFormat, err
	}
	hasDocuments, err := e.hasDocuments(ctx)
	if err != nil || !hasDocuments {
		return false, err
	}
	// Another process may have written the format before the documents.
	if hasFormat, err = e.readFormat(ctx); err != nil || hasFormat {
		return hasFormat, err
	}
	return false, fmt.Errorf("%w: a version of Waybook that was never released has written to the database %s; "+
		"start with an empty one", errMisfit, e.database.Name())
}

func (e *Engine) readFormat(ctx context.Context) (hasFormat bool, err error) {
	if e.hasFormat.Load() {
		return true, nil
	}
	var stored struct {
		Format int64 `bson:"format"`
	}
	err = e.database.Collection(formatCollection).FindOne(ctx, formatFilter()).Decode(&stored)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := docstore.CheckFormat("the database "+e.database.Name(),
		strconv.FormatInt(stored.Format, 10)); err != nil {
		return false, fmt.Errorf("%w: %w", errMisfit, err)
	}
	e.hasFormat.Store(true)
	return true, nil
}

func (e *Engine) hasDocuments(ctx context.Context) (bool, error) {
	names, err := e.database.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return false, fmt.Errorf("list collections: %w", err)
	}
	for _, name := range names {
		if name == formatCollection || strings.HasPrefix(name, "system.") {
			continue
		}
		found, _, err := newTable(e, docstore.Spec{Name: name}).find(ctx,
			query{filter: bson.D{}, limit: 1, comment: everywhere})
		if err != nil || len(found) > 0 {
			return true, err
		}
	}
	return false, nil
}

// checkCollation returns an error if the collection compares strings by other rules than by
// their bytes, unless told otherwise. Its indexes and queries would do the same.
func (t *table) checkCollation(ctx context.Context) error {
	list, err := t.engine.database.ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: t.spec.Name}})
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	for _, stored := range list {
		if stored.Type != "collection" {
			return fmt.Errorf("%w: %q is a %s, not a collection", errMisfit, t.spec.Name, stored.Type)
		}
		if collation, has := stored.Options.Lookup("collation").DocumentOK(); has && !isSimple(collation) {
			return fmt.Errorf("%w: collection %q has the default collation %s; copy it to one without", errMisfit,
				t.spec.Name, collation)
		}
	}
	return nil
}

// checkIDKind checks one document. All documents of a collection have the same kind of
// _id.
func (t *table) checkIDKind(ctx context.Context) error {
	documents, _, err := t.find(ctx, query{filter: bson.D{}, order: byIDOrder(), limit: 1, comment: everywhere})
	if err != nil || len(documents) == 0 {
		return err
	}
	id := docstore.Field{Name: docstore.IDIndex, Kind: t.spec.ID}
	if _, err := id.Value(documents[0]); err != nil {
		return fmt.Errorf("%w: collection %q exists with another kind of _id", errMisfit, t.spec.Name)
	}
	return nil
}

// checkFit returns an error if a document lacks a field of the indexes or has it with
// another type. The server would accept such a document, but scans would not find it. It
// reads the whole collection, once, and for as long as that takes.
func (t *table) checkFit(ctx context.Context, indexes []docstore.Index) error {
	alternatives := bson.A{}
	for _, index := range indexes {
		for _, field := range index.Fields {
			if field.Name == docstore.ChangedField || field.Name == docstore.DueField {
				continue // the server stamps every document, and every tombstone
			}
			alternatives = append(alternatives, t.misfits(field, index.Sparse))
		}
	}
	if len(alternatives) == 0 {
		return nil
	}
	misfits, _, err := t.find(ctx, query{filter: t.alive(bson.D{{Key: "$or", Value: alternatives}}), limit: 1,
		comment: everywhere, isUnlimited: true})
	if err != nil || len(misfits) == 0 {
		return err
	}
	for _, index := range indexes {
		if index.Omits(misfits[0], false) {
			continue
		}
		for _, field := range index.Fields {
			if _, err := field.Value(misfits[0]); err != nil {
				return fmt.Errorf("build index %q: %w: a document has no %s in field %q", index.Name, errMisfit,
					typeOf(field.Kind), field.Name)
			}
		}
	}
	return fmt.Errorf("%w: a document changed during the check", docstore.ErrUnavailable)
}

// misfits returns a filter for documents that lack a field, unless they may, or have it with
// another type.
func (t *table) misfits(field docstore.Field, mayLack bool) bson.D {
	wrong := bson.A{}
	for _, each := range typesOf(field.Kind) {
		condition := bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: each}}}}
		if mayLack {
			condition = append(condition, bson.E{Key: "$exists", Value: true})
		}
		wrong = append(wrong, bson.D{{Key: field.Name, Value: condition}})
	}
	return bson.D{{Key: "$and", Value: wrong}}
}

// typesOf returns the type aliases of the values that an index may have. An integer may be a small
// one.
func typesOf(kind docstore.Kind) []string {
	if kind == docstore.Int64 {
		return []string{typeOf(kind), "int"}
	}
	return []string{typeOf(kind)}
}

// typeOf returns the type alias of a kind in the query language.
func typeOf(kind docstore.Kind) string {
	if kind == docstore.Int64 {
		return "long"
	}
	return "string"
}
