package world

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore"
)

// worldsForVersions is how many clusters there are for one with programs of a later version.
const worldsForVersions = 4

// A later version stores two more fields: one in new content and each document in it, and one in content whose
// fields it changes. Both have one value.
const (
	bornField, touchedField = "later_born", "later_touched"
	fieldValue              = int64(7)
)

// laterFields says which content is known to have the fields of a later version, unless it is deleted.
type laterFields struct {
	mu            sync.Mutex
	born, touched map[string]map[int64]bool
}

func newLaterFields() *laterFields {
	return &laterFields{born: map[string]map[int64]bool{}, touched: map[string]map[int64]bool{}}
}

func (f *laterFields) clone() *laterFields {
	clone := newLaterFields()
	for name := range f.born {
		clone.born[name] = maps.Clone(f.born[name])
	}
	for name := range f.touched {
		clone.touched[name] = maps.Clone(f.touched[name])
	}
	return clone
}

func (f *laterFields) add(to map[string]map[int64]bool, name string, id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if to[name] == nil {
		to[name] = map[int64]bool{}
	}
	to[name][id] = true
}

// later is a store as a program of a later version uses it.
type later struct {
	docstore.Engine
	world *world
	// specs are the declarations of contents, as today's version has them.
	specs []docstore.Spec
}

// Open opens a collection, at the turn of the program.
func (l *later) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	l.world.turns.wait(ctx)
	if !slices.Contains([]string{"albums", "blogs", "pois"}, spec.Name) {
		return l.Engine.Open(ctx, spec)
	}
	l.specs = append(l.specs, spec)
	table, err := l.Engine.Open(ctx, spec)
	return laterTable{table, l, spec.Name}, err
}

// laterTable is a collection of contents.
type laterTable struct {
	docstore.Table
	store *later
	name  string
}

func (t laterTable) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	extended, ids := make([]bson.Raw, len(documents)), make([]int64, len(documents))
	for i, document := range documents {
		var all bson.D
		if err := bson.Unmarshal(document, &all); err != nil {
			return nil, err
		}
		ids[i], _ = document.Lookup(docstore.IDIndex).Int64OK()
		all = born(all).(bson.D)
		var err error
		if extended[i], err = bson.Marshal(all); err != nil {
			return nil, err
		}
	}
	errs, err := t.Table.Insert(ctx, extended)
	for i := range errs {
		if fields := t.store.world.model.later; err == nil && errs[i] == nil {
			fields.add(fields.born, t.name, ids[i])
		}
	}
	return errs, err
}

// born adds the field of new content to each document in a value.
func born(value any) any {
	switch value := value.(type) {
	case bson.D:
		for i := range value {
			value[i].Value = born(value[i].Value)
		}
		return append(value, bson.E{Key: bornField, Value: fieldValue})
	case bson.A:
		for i := range value {
			value[i] = born(value[i])
		}
	}
	return value
}

// lacksBorn reports whether a document in a value lacks the field of new content.
func lacksBorn(value any) bool {
	switch value := value.(type) {
	case bson.D:
		return !has(value, bornField) || slices.ContainsFunc(value, func(e bson.E) bool { return lacksBorn(e.Value) })
	case bson.A:
		return slices.ContainsFunc(value, lacksBorn)
	}
	return false
}

func has(document bson.D, field string) bool {
	return slices.ContainsFunc(document, func(e bson.E) bool { return e.Key == field && e.Value == any(fieldValue) })
}

func (t laterTable) Update(ctx context.Context, change docstore.Change) (bson.Raw, error) {
	id, _ := change.ID.BSON().(int64)
	touches := change.Revision != 0 || len(change.Set) > 0
	if touches {
		_, value, err := bson.MarshalValue(fieldValue)
		if err != nil {
			return nil, err
		}
		change.Set = append(slices.Clone(change.Set), docstore.Assignment{Path: touchedField, Value: bson.RawValue{Type: bson.TypeInt64, Value: value}})
	}
	before, err := t.Table.Update(ctx, change)
	if fields := t.store.world.model.later; touches && err == nil {
		fields.add(fields.touched, t.name, id)
	}
	return before, err
}

// changeVersion replaces a program by one of the other version, while clients act.
func (c *cluster) changeVersion(place int) {
	m := c.members[place]
	c.note("the program in place %d is replaced by a later version, or again by today's: %t", place, !m.isLater)
	c.end(place)
	m.isLater = !m.isLater
	all := []func(){func() {
		defer c.giveUp()
		c.start(place)
	}}
	for _, u := range c.users[:2] {
		all = append(all, func() { c.act(u) })
	}
	c.turns.run(c.random, all)
}

// settle also looks at the fields of later versions.
func (c *cluster) settle() {
	c.world.settle()
	c.hasLater()
}

// hasLater expects, at rest, that no content has lost a field of a later version.
func (c *cluster) hasLater() {
	for _, m := range c.members {
		if m.later == nil {
			continue
		}
		m.sweep(c.world) // today's version may just have written
		for _, spec := range m.later.specs {
			c.hasFields(m.later, spec)
		}
	}
}

func (c *cluster) hasFields(l *later, spec docstore.Spec) {
	table, err := l.Engine.Open(context.Background(), spec)
	c.must(err)
	found, _, err := table.Scan(context.Background(), docstore.Scan{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1000})
	c.must(err)
	for _, raw := range found {
		var document bson.D
		c.must(bson.Unmarshal(raw, &document))
		id := raw.Lookup(docstore.IDIndex).Int64()
		isBorn, isTouched := c.model.later.born[spec.Name][id], c.model.later.touched[spec.Name][id]
		if key, _ := raw.Lookup("request_key").StringValueOK(); strings.Contains(key, "/moved:") {
			isBorn, isTouched = false, false // after a deletion, another with its identifier may have been moved in
		}
		isBorn = isBorn || has(document, bornField)
		if isBorn && lacksBorn(document) || isTouched && !has(document, touchedField) {
			c.violated("%s %d lost a field of a later version: %s", spec.Name, id, raw)
		}
	}
}

// extendedKey is the key of a context in which requests have a field that services do not know.
type extendedKey struct{}

// extending adds a field of a later version to the requests of callers who know it.
type extending struct{ grpc.ClientConnInterface }

// NewStream names the client: a stream passes a connection, also in process.
func (e extending) NewStream(
	ctx context.Context, of *grpc.StreamDesc, method string, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	return e.ClientConnInterface.NewStream(withClient(ctx), of, method, options...)
}

func (e extending) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	if ctx.Value(extendedKey{}) != nil {
		field := protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), uint64(fieldValue))
		request.(proto.Message).ProtoReflect().SetUnknown(field)
	}
	return e.ClientConnInterface.Invoke(ctx, method, request, reply, options...)
}
