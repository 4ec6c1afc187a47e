package docstore

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
)

// core reads and writes the documents of a collection, whose type it knows at run time only.
type core struct {
	spec  Spec
	table Table
	store Engine
	// document is the type of the documents. plan decodes them; it is nil if only the driver can.
	// shape names their fields.
	document reflect.Type
	plan     *plan
	shape    shape
	// fields, unless nil, are the only fields of a projection.
	fields []string
	// sorts are the sort fields of each index.
	sorts map[string][]Field
}

func open(ctx context.Context, engine Engine, spec Spec, id Kind, document reflect.Type) (*core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if id != spec.ID {
		return nil, fmt.Errorf("docstore: collection %q is opened with another kind of _id than declared", spec.Name)
	}
	table, err := engine.Open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open collection %s: %w", spec.Name, err)
	}
	c := &core{spec: spec, table: table, store: engine, sorts: map[string][]Field{}}
	for _, index := range append(slices.Clone(spec.Indexes), Index{Name: IDIndex}) {
		c.sorts[index.Name], _ = spec.FieldsOf(index.Name) // declared, so there is no error
	}
	return c.as(document), nil
}

// as returns a core whose documents have a type.
func (c core) as(document reflect.Type) *core {
	c.document, c.plan, c.shape = document, planFor(document), shapeOf(document)
	return &c
}

// project returns a core that reads only the fields of a type.
func (c *core) project(document reflect.Type) *core {
	of := c.as(document)
	if of.plan != nil {
		of.plan.endsEarly = true
	}
	for name := range of.shape {
		of.fields = append(of.fields, name)
	}
	return of
}

func (c *core) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, c.spec.Name, err)
}

// idOf returns the id of a stored document.
func (c *core) idOf(raw bson.Raw) (Value, error) {
	return Field{Name: IDIndex, Kind: c.spec.ID}.Value(raw)
}

func (c *core) get(ctx context.Context, id Value, as Consistency, into any) error {
	raw, err := GetFrom(ctx, c.table, id, as)
	if err != nil {
		return c.wrap("get", err)
	}
	return c.decode(raw, into)
}

func (c *core) find(ctx context.Context, where Where, into any) error {
	raws, _, err := c.table.Scan(ctx, Scan{Where: where, Limit: 1, Fields: c.fields})
	if err == nil && len(raws) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return c.wrap("find", err)
	}
	return c.decode(raws[0], into)
}

func (c *core) count(ctx context.Context, where Where) (int64, error) {
	n, err := c.table.Count(ctx, where)
	return n, c.wrap("count", err)
}

func (c *core) getMany(ctx context.Context, ids []Value, as Consistency, room func(int) reflect.Value) error {
	if len(ids) == 0 {
		return nil
	}
	return c.wrap("get many", c.read(ctx, Scan{Where: WithIDs(ids...), Limit: len(ids), Fields: c.fields, As: as}, nil,
		room, nil))
}

// withIDs returns the documents that have one of the ids.
func (c *core) withIDs(ctx context.Context, ids []Value, scan Scan) ([]bson.Raw, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	scan.Where, scan.Limit = WithIDs(ids...), len(ids)
	raws, _, err := c.table.Scan(ctx, scan)
	return raws, c.wrap("get many", err)
}

// read does a scan and decodes its documents into an arena, where room makes place for them. If
// there are more, last is called with the last one; it may be nil.
func (c *core) read(ctx context.Context, scan Scan, in *arena.Arena, room func(int) reflect.Value,
	last func(bson.Raw) error) error {
	scan.Loan = newLoan()
	defer scan.Loan.End()
	raws, more, err := c.table.Scan(ctx, scan)
	if err == nil && more && last != nil {
		err = last(raws[len(raws)-1])
	}
	if err != nil {
		return err
	}
	var keep *texts
	if scan.Loan.isLent {
		keep = textsOf(raws, in)
	}
	documents := room(len(raws))
	for i, raw := range raws {
		if err := c.decodeInto(raw, documents.Index(i), keep); err != nil {
			return err
		}
		keep.next(raw)
	}
	return nil
}

// decode decodes a document into the value that into points to.
func (c *core) decode(raw bson.Raw, into any) error {
	document := reflect.ValueOf(into).Elem()
	document.SetZero()
	return c.decodeInto(raw, document, nil)
}

// decodeInto decodes a document into a zero value, with its texts in keep.
func (c *core) decodeInto(raw bson.Raw, document reflect.Value, keep *texts) error {
	if c.plan != nil && c.plan.decode(raw, document, keep) {
		return nil
	}
	if keep != nil {
		raw = bytes.Clone(raw) // the driver may share it
	}
	anew := reflect.New(c.document)
	err := bson.Unmarshal(raw, anew.Interface())
	document.Set(anew.Elem())
	return c.wrap("decode", err)
}

// encode marshals a document to BSON and appends its revision.
func encode(document any, revision int64) (bson.Raw, error) {
	raw, err := bson.Marshal(document)
	if err != nil {
		return nil, err
	}
	return appendInt64(raw, RevisionField, revision), nil
}

// insert stores n documents, to which at points.
func (c *core) insert(ctx context.Context, n int, at func(i int) any) error {
	raws := make([]bson.Raw, n)
	for i := range raws {
		var err error
		if raws[i], err = encode(at(i), 1); err != nil {
			return c.wrap("insert", err)
		}
	}
	return c.insertRaw(ctx, raws)
}

func (c *core) insertRaw(ctx context.Context, raws []bson.Raw) error {
	for _, raw := range raws {
		if err := c.spec.CheckPlace(raw); err != nil {
			return c.wrap("insert", err)
		}
	}
	if len(raws) == 0 {
		return nil
	}
	errs, err := c.table.Insert(ctx, raws)
	if err == nil && slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		err = &RefusedError{errs}
	}
	return c.wrap("insert", err)
}

// highestBatch is how many ids highest reads at a time. Nearly always, none is above one that was
// drawn just now.
const highestBatch = 16

// highest walks down from the highest id.
func (c *core) highest(ctx context.Context, from int64) (int64, error) {
	where := All(IDIndex).FromID(from)
	isPlaced := c.spec.Sharding == ByPlace
	if isPlaced {
		where = where.At(from)
	} else {
		where = where.Everywhere()
	}
	scan := Scan{Where: where, Descending: true, Limit: highestBatch, Fields: []string{IDIndex}, WithTombstones: true}
	for {
		raws, more, err := c.table.Scan(ctx, scan)
		for _, raw := range raws {
			id, err := c.idOf(raw)
			if err != nil || !isPlaced || c.spec.Scheme.PlaceOf(id.number) == c.spec.Scheme.PlaceOf(from) {
				return id.number, c.wrap("find the highest id", err)
			}
			scan.After = []Value{id}
		}
		if err != nil || !more {
			return 0, c.wrap("find the highest id", err)
		}
	}
}

func (c *core) deleteAll(ctx context.Context, where Where) (int64, error) {
	n, err := c.table.DeleteAll(ctx, where)
	return n, c.wrap("delete all", err)
}

func (c *core) delete(ctx context.Context, id Value, how Deletion) error {
	how.ID = id
	if c.spec.Tombstones {
		how.Unset = c.lost()
	}
	return c.wrap("delete", c.table.Delete(ctx, how))
}

// lost returns the fields that a deletion removes.
func (c *core) lost() (fields []string) {
	fields = []string{AddsField, DigestField}
	for field := range c.shape {
		if !c.spec.Keeps(field) {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// deleted returns the states of the tombstones among the documents with the given ids.
func (c *core) deleted(ctx context.Context, ids []Value) (map[Value]int64, error) {
	if !c.spec.Tombstones {
		return nil, nil
	}
	raws, err := c.withIDs(ctx, ids, Scan{Fields: []string{IDIndex, GoneField}, WithTombstones: true, As: Durable})
	if err != nil {
		return nil, err
	}
	deleted := map[Value]int64{}
	for _, raw := range raws {
		if !IsTombstone(raw) {
			continue
		}
		id, err := c.idOf(raw)
		if err != nil {
			return nil, c.wrap("get many", err)
		}
		deleted[id], _ = raw.Lookup(GoneField).Int64OK()
	}
	return deleted, nil
}
