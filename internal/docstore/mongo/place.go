package mongo

import (
	"encoding/binary"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
)

// A document of a collection that is sharded by place has its place in a field of its own, which
// is the shard key. It has it on every server, so that a replica set can become a cluster later.

// everywhere is the comment of a command that asks every shard, because its caller has said so.
// Every other command on a collection that is sharded by place names a place.
const everywhere = "everywhere"

const (
	// walkSuffix ends the name of the second index of a unique one that is walked.
	walkSuffix = "_walk"
	// placeIndex is the index of the place, where no unique index begins with it. Sharding needs
	// one that does.
	placeIndex = "place"
)

// indexesOf returns the indexes that the server has for a collection. A unique index of a
// collection that is sharded by place begins with the place, because the server enforces it on
// each shard only. The others need not: commands name the place, and the server asks its shard.
func indexesOf(spec docstore.Spec) []docstore.Index {
	if spec.Sharding != docstore.ByPlace {
		return spec.Indexes
	}
	place := docstore.Field{Name: docstore.PlaceField, Kind: docstore.Int64}
	var indexes []docstore.Index
	hasPlace := false
	for _, index := range spec.Indexes {
		if !index.Unique {
			indexes = append(indexes, index)
			continue
		}
		if index.Walked {
			indexes = append(indexes, docstore.Index{Name: index.Name + walkSuffix, Fields: index.Fields})
		}
		index.Fields = append([]docstore.Field{place}, index.Fields...)
		indexes = append(indexes, index)
		hasPlace = true
	}
	if !hasPlace {
		indexes = append(indexes, docstore.Index{Name: placeIndex, Fields: []docstore.Field{place}})
	}
	return indexes
}

// declaredName returns the name of the declared index that one of indexesOf belongs to.
func declaredName(index string) string { return strings.TrimSuffix(index, walkSuffix) }

// placed returns the conditions that a document has an id and is in the place of that id.
func (t *table) placed(id docstore.Value) bson.D {
	filter := bson.D{{Key: docstore.IDIndex, Value: id.BSON()}}
	if t.spec.Sharding == docstore.ByPlace {
		filter = append(filter, inPlace(placeOf(id)))
	}
	return filter
}

// placedAny returns the conditions that a document has one of the ids and is in its place.
func (t *table) placedAny(ids bson.A) bson.D {
	filter := bson.D{{Key: docstore.IDIndex, Value: bson.D{{Key: "$in", Value: ids}}}}
	if t.spec.Sharding != docstore.ByPlace {
		return filter
	}
	places, seen := bson.A{}, map[id.Place]bool{}
	for _, each := range ids {
		number, _ := each.(int64) // resolved as an id of the collection
		if place := id.PlaceOf(number); !seen[place] {
			seen[place] = true
			places = append(places, int64(place))
		}
	}
	return append(filter, bson.E{Key: docstore.PlaceField, Value: bson.D{{Key: "$in", Value: places}}})
}

func placeOf(value docstore.Value) id.Place {
	number, _ := value.BSON().(int64)
	return id.PlaceOf(number)
}

func inPlace(place id.Place) bson.E { return bson.E{Key: docstore.PlaceField, Value: int64(place)} }

// withPlace returns a document with the field of its place, which the server puts behind _id.
func (t *table) withPlace(document bson.Raw) (bson.Raw, error) {
	if t.spec.Sharding != docstore.ByPlace {
		return document, nil
	}
	if err := t.spec.CheckPlace(document); err != nil {
		return nil, err
	}
	number, isInteger := document.Lookup(docstore.IDIndex).Int64OK()
	if _, err := document.LookupErr(docstore.PlaceField); err == nil || !isInteger {
		return nil, fmt.Errorf("collection %q: a document has the field %q already, or no integer _id", t.spec.Name, docstore.PlaceField)
	}
	placed := make(bson.Raw, 4, len(document)+len(docstore.PlaceField)+10)
	placed = bsoncore.AppendInt64Element(placed, docstore.PlaceField, int64(id.PlaceOf(number)))
	placed = append(placed, document[4:]...)
	binary.LittleEndian.PutUint32(placed, uint32(len(placed)))
	return placed, nil
}

// copyOf copies a document of a reply, without the field of its place.
func (t *table) copyOf(document bson.Raw) bson.Raw {
	if t.spec.Sharding == docstore.ByPlace {
		for rest := document[4 : len(document)-1]; len(rest) > 0; {
			element, behind, ok := bsoncore.ReadElement(rest)
			if !ok {
				break
			}
			if element.Key() == docstore.PlaceField {
				copied := make(bson.Raw, 0, len(document)-len(element))
				copied = append(append(copied, document[:len(document)-1-len(rest)]...), document[len(document)-1-len(behind):]...)
				binary.LittleEndian.PutUint32(copied, uint32(len(copied)))
				return copied
			}
			rest = behind
		}
	}
	return append(make(bson.Raw, 0, len(document)), document...)
}
