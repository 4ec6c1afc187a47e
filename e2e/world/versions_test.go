package world

import (
	"cmp"
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
	"github.com/waybook/waybook/internal/storetest"
)

// worldsForVersions is how many clusters there are for one with programs of a later version.
const worldsForVersions = 4

// A later version indexes a field of contents. Its default lies between its values.
const rankField, rankDefault = "later_rank", 2

func byRank() docstore.Index1[int64] { return docstore.Index1[int64]{Name: rankField, A: rankField} }

// rankOf is the rank that a later version gives to new content.
func rankOf(id int64) int64 { return 1 + id%3 }

// ranked is what a later version knows of content of any kind.
type ranked struct {
	ID   int64 `bson:"_id"`
	Rank int64 `bson:"later_rank"`
}

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
	// isGone says that the program has died.
	isGone func() bool
	// specs are the declarations of contents, as today's version has them.
	specs []docstore.Spec
}

// Open opens a collection, at the turn of the program.
func (l *later) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	l.world.turns.wait(ctx)
	if !slices.Contains([]string{"albums", "blogs", "pois"}, spec.Name) {
		return l.Engine.Open(ctx, spec)
	}
	if len(spec.Defaults) == 0 {
		l.specs = append(l.specs, spec)
	}
	table, err := l.Engine.Open(ctx, laterSpec(spec))
	return laterTable{table, l, spec.Name}, err
}

// Backfill completes what today's version writes.
func (l *later) Backfill(ctx context.Context) (int64, error) {
	if l.isGone() {
		return 0, storetest.ErrBroken
	}
	return l.Engine.Backfill(ctx)
}

func laterSpec(spec docstore.Spec) docstore.Spec {
	if len(spec.Defaults) == 0 {
		spec.Indexes = append(slices.Clone(spec.Indexes), byRank().Declare())
		spec.Defaults = map[string]docstore.Value{rankField: docstore.ValueOf[int64](rankDefault)}
	}
	return spec
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
		all = append(born(all).(bson.D), bson.E{Key: rankField, Value: rankOf(ids[i])})
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

// hasLater expects, at rest, that no content has lost a field of a later version, and that the index of one has each
// content of both versions.
func (c *cluster) hasLater() {
	for _, m := range c.members {
		if m.later == nil {
			continue
		}
		m.sweep(c.world) // today's version may just have written
		for _, spec := range m.later.specs {
			c.hasFields(m.later, spec)
			c.hasRanks(m.later, spec)
		}
	}
}

func (c *cluster) hasFields(l *later, spec docstore.Spec) {
	table, err := l.Engine.Open(context.Background(), laterSpec(spec))
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
		if rank, _ := raw.Lookup(rankField).Int64OK(); isBorn && rank != rankOf(id) || !isBorn && rank != rankDefault {
			c.violated("%s %d has the rank %d", spec.Name, id, rank)
		}
	}
}

func (c *cluster) hasRanks(l *later, spec docstore.Spec) {
	opened, err := docstore.Open[int64, ranked](context.Background(), l, laterSpec(spec))
	if err != nil {
		c.violated("%v", err)
		return
	}
	list := func(where docstore.Where) (all []ranked) {
		query := docstore.Query{Where: where.Everywhere(), Limit: 5}
		for {
			page, err := opened.Page(context.Background(), query)
			c.must(err)
			all = append(all, page.Documents...)
			if query.Token = page.Next; query.Token == "" {
				return all
			}
		}
	}
	want := list(docstore.All(docstore.IDIndex))
	slices.SortFunc(want, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.ID, b.ID)) })
	if listed := list(byRank().All()); !slices.Equal(listed, want) {
		c.violated("the new index of %s lists %v; there are %v", spec.Name, listed, want)
	}
}

// extendedKey is the key of a context in which requests have a field that services do not know.
type extendedKey struct{}

// extending adds a field of a later version to the requests of callers who know it.
type extending struct{ grpc.ClientConnInterface }

func (e extending) Invoke(ctx context.Context, method string, request, reply any, options ...grpc.CallOption) error {
	if ctx.Value(extendedKey{}) != nil {
		field := protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), uint64(fieldValue))
		request.(proto.Message).ProtoReflect().SetUnknown(field)
	}
	return e.ClientConnInterface.Invoke(ctx, method, request, reply, options...)
}
