package mongo

import (
	"bytes"
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/waybook/waybook/internal/docstore"
)

// idsPerQuery bounds the ids of one query, to stay far below the maximum message size.
const idsPerQuery = 1000

// Get reads one document.
func (t *table) Get(ctx context.Context, id any) (bson.Raw, error) {
	filter, err := t.byID(id)
	if err != nil {
		return nil, err
	}
	var document bson.Raw
	err = t.engine.call(ctx, func() error {
		found, err := t.collection.FindOne(ctx, filter).Raw()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return docstore.ErrNotFound
		}
		document = bytes.Clone(found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return document, nil
}

// GetMany reads documents by their ids, up to idsPerQuery per query.
func (t *table) GetMany(ctx context.Context, ids []any) ([]bson.Raw, error) {
	wanted, seen := make(bson.A, 0, len(ids)), make(map[any]bool, len(ids))
	for _, id := range ids {
		value, err := t.id().Value(id)
		if err != nil {
			return nil, err
		}
		if !seen[value] {
			seen[value] = true
			wanted = append(wanted, value)
		}
	}
	var documents []bson.Raw
	err := t.engine.call(ctx, func() error {
		for len(wanted) > 0 {
			n := min(len(wanted), idsPerQuery)
			filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: wanted[:n]}}}}
			found, err := t.find(ctx, filter, options.Find().SetBatchSize(int32(n)))
			if err != nil {
				return err
			}
			documents, wanted = append(documents, found...), wanted[n:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return documents, nil
}

// Scan reads a page of an index. The index serves each of its filters and sorts, starting
// with the first field.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, error) {
	all, err := t.spec.FieldsOf(scan.Index)
	if err != nil {
		return nil, err
	}
	if scan, err = scan.Checked(all); err != nil {
		return nil, err
	}
	filter, err := equalTo(all, scan.Equal)
	if err != nil {
		return nil, err
	}
	fields, err := t.scanFields(scan.Index)
	if err != nil {
		return nil, err
	}
	rest := fields[min(len(scan.Equal), len(fields)):]
	if scan.After != nil {
		if len(rest) == 0 {
			// Equal matches at most one document, and the scan starts after it.
			return nil, t.engine.call(ctx, func() error { return nil })
		}
		continued, err := behind(rest, scan.After, scan.To)
		if err != nil {
			return nil, err
		}
		filter = append(filter, continued...)
	} else if scan.From != nil || scan.To != nil {
		filter = append(filter, bson.E{Key: all[len(scan.Equal)].Name, Value: within("$gte", scan.From, scan.To)})
	}
	if len(filter) == 0 {
		filter = everything(fields[0])
	}
	find := options.Find().SetLimit(int64(scan.Limit)).SetBatchSize(int32(min(scan.Limit, 1<<20)))
	if len(rest) > 0 {
		find.SetSort(orderOf(rest))
	}
	var documents []bson.Raw
	err = t.engine.call(ctx, func() (err error) {
		documents, err = t.find(ctx, filter, find)
		return err
	})
	if err != nil {
		return nil, err
	}
	return documents, nil
}

// Count counts in the index.
func (t *table) Count(ctx context.Context, index string, equal []any) (int64, error) {
	filter, err := t.prefix(index, equal)
	if err != nil {
		return 0, err
	}
	var n int64
	err = t.engine.call(ctx, func() (err error) {
		n, err = t.collection.CountDocuments(ctx, filter)
		return err
	})
	return n, err
}
