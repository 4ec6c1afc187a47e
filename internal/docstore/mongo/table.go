package mongo

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/waybook/waybook/internal/docstore"
)

// table is one collection on the server.
type table struct {
	engine     *Engine
	spec       docstore.Spec
	collection *mongo.Collection
	sizes      sizes
}

// resolve returns the sort fields of an index, those of the server's index, and the bounds
// of a scan.
func (t *table) resolve(scan docstore.Scan) (all, fields []docstore.Field, bounds docstore.Bounds, err error) {
	if all, err = t.spec.FieldsOf(scan.Index()); err != nil {
		return nil, nil, bounds, err
	}
	if fields, err = t.scanFields(scan.Index()); err != nil {
		return nil, nil, bounds, err
	}
	bounds, err = scan.Resolve(all)
	return all, fields, bounds, err
}

func (t *table) byID(id docstore.Value) (bson.D, error) {
	if id.Kind() != t.spec.ID {
		return nil, fmt.Errorf("collection %q has no id of the kind of %v", t.spec.Name, id)
	}
	return bson.D{{Key: docstore.IDIndex, Value: id.BSON()}}, nil
}
