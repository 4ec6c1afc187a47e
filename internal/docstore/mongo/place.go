package mongo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/waybook/waybook/internal/docstore"
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
	indexes := placedIndexesOf(spec)
	if spec.Feed != nil {
		indexes = append(slices.Clip(indexes),
			docstore.Index{Name: changesIndex, Fields: []docstore.Field{{Name: docstore.ChangedField}}})
	}
	if spec.Tombstones {
		indexes = append(slices.Clip(indexes),
			docstore.Index{Name: tombstonesIndex, Sparse: true, Fields: []docstore.Field{{Name: docstore.DueField}}})
	}
	return indexes
}

func placedIndexesOf(spec docstore.Spec) []docstore.Index {
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

// placed returns the conditions that a document has one of the ids and is in its place.
func (t *table) placed(ids ...docstore.Value) bson.D {
	var values, places bson.A
	for _, each := range ids {
		values = append(values, each.BSON())
	}
	filter := bson.D{{Key: docstore.IDIndex, Value: oneOf(values)}}
	if t.spec.Sharding != docstore.ByPlace {
		return filter
	}
	seen := map[int64]bool{}
	for _, each := range ids {
		if place, _ := t.spec.PlaceOfID(each); !seen[place] {
			seen[place] = true
			places = append(places, place)
		}
	}
	return append(filter, bson.E{Key: docstore.PlaceField, Value: oneOf(places)})
}

// oneOf returns the condition that a field has one of the values.
func oneOf(values bson.A) any {
	if len(values) == 1 {
		return values[0]
	}
	return bson.D{{Key: "$in", Value: values}}
}

func inPlace(place int64) bson.E { return bson.E{Key: docstore.PlaceField, Value: place} }

// insertion returns the write of a new document, with the fields that the engine stores. One with
// stamps is an upsert whose filter matches none: the server stamps an insert when it arrives, and
// $currentDate when it executes the write, which may have waited for longer than a change waits to
// settle.
func (t *table) insertion(document bson.Raw) (mongo.WriteModel, error) {
	for _, field := range t.hidden {
		if _, err := document.LookupErr(field); err == nil {
			return nil, fmt.Errorf("collection %q: a document has the field %q already", t.spec.Name, field)
		}
	}
	isTombstone := t.spec.Tombstones && docstore.IsTombstone(document)
	if t.spec.Sharding == docstore.ByPlace && !isTombstone { // which need not have the fields of its place
		if err := t.spec.CheckPlace(document); err != nil {
			return nil, err
		}
	}
	id, err := t.idOf(document)
	if err != nil {
		return nil, err
	}
	placed := t.placed(id)
	rest := placed
	elements, err := document.Elements()
	if err != nil {
		return nil, err
	}
	for _, element := range elements {
		if element.Key() != docstore.IDIndex {
			rest = append(rest, bson.E{Key: element.Key(), Value: element.Value()})
		}
	}
	stamped := []string{docstore.ChangedField, docstore.MadeField}
	switch {
	case isTombstone:
		stamped = append(stamped, docstore.DueField)
	case t.spec.Feed == nil:
		return mongo.NewInsertOneModel().SetDocument(rest), nil
	}
	none := append(placed[:len(placed):len(placed)],
		bson.E{Key: docstore.RevisionField, Value: bson.D{{Key: "$lt", Value: int64(0)}}})
	return mongo.NewUpdateOneModel().SetFilter(none).SetUpsert(true).
		SetUpdate(bson.D{{Key: "$setOnInsert", Value: rest[len(placed):]}, stamping(stamped...)}), nil
}

// shown copies a document of a reply, without the fields that no read returns.
func (t *table) shown(document bson.Raw) bson.Raw {
	if len(t.hidden) == 0 {
		return bytes.Clone(document)
	}
	copied, left := make(bson.Raw, 4, len(document)), len(t.hidden)
	for rest := document[4 : len(document)-1]; len(rest) > 0; {
		if left == 0 {
			copied = append(copied, rest...)
			break
		}
		element, behind, ok := bsoncore.ReadElement(rest)
		if !ok {
			return bytes.Clone(document)
		}
		if slices.Contains(t.hidden, element.Key()) {
			left--
		} else {
			copied = append(copied, element...)
		}
		rest = behind
	}
	copied = append(copied, 0)
	binary.LittleEndian.PutUint32(copied, uint32(len(copied)))
	return copied
}
