package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

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
			return fmt.Errorf("%w: collection %q has the default collation %s; copy it to one without", errMisfit, t.spec.Name, collation)
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
// reads the whole collection, once.
func (t *table) checkFit(ctx context.Context, indexes []named) error {
	alternatives := bson.A{}
	for _, index := range indexes {
		for _, field := range index.Fields {
			if field.Name == docstore.ChangedField {
				continue // the backfill stamps the documents that are not
			}
			alternatives = append(alternatives, t.misfits(field))
		}
	}
	if len(alternatives) == 0 {
		return nil
	}
	misfits, _, err := t.find(ctx, query{filter: bson.D{{Key: "$or", Value: alternatives}}, limit: 1, comment: everywhere})
	if err != nil || len(misfits) == 0 {
		return err
	}
	for _, index := range indexes {
		for _, field := range index.Fields {
			if _, err := field.Value(misfits[0]); err != nil && field.Name == docstore.PlaceField {
				return fmt.Errorf("%w: collection %q has documents of a version whose ids name no place; no version after it can use them", errMisfit, t.spec.Name)
			} else if err != nil {
				return fmt.Errorf("build index %q: %w: a document has no %s in field %q", index.Name, errMisfit, typeOf(field.Kind), field.Name)
			}
		}
	}
	return fmt.Errorf("%w: a document changed during the check", docstore.ErrUnavailable)
}

// misfits returns a filter for documents that lack a field or have it with another type. An
// integer may be a small one.
func (t *table) misfits(field docstore.Field) bson.D {
	types := []string{typeOf(field.Kind)}
	if field.Kind == docstore.Int64 {
		types = append(types, "int")
	}
	wrong := bson.A{}
	for _, each := range types {
		condition := bson.D{{Key: "$not", Value: bson.D{{Key: "$type", Value: each}}}}
		if _, hasDefault := t.spec.Defaults[field.Name]; hasDefault {
			condition = append(condition, bson.E{Key: "$exists", Value: true}) // Backfill gives the default to the others
		}
		wrong = append(wrong, bson.D{{Key: field.Name, Value: condition}})
	}
	return bson.D{{Key: "$and", Value: wrong}}
}

// typeOf returns the type alias of a kind in the query language.
func typeOf(kind docstore.Kind) string {
	if kind == docstore.Int64 {
		return "long"
	}
	return "string"
}
