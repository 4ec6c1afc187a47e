package docstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
)

// reader reads documents as type T.
type reader[T any] struct {
	spec  Spec
	table Table
	// plan decodes documents; nil if only the driver can.
	plan *plan
	// fields, unless nil, are the fields of T.
	fields []string
	// sorts are the sort fields of each index.
	sorts map[string][]Field
}

func newReader[T any](spec Spec, table Table) reader[T] {
	sorts := map[string][]Field{}
	for _, index := range append(slices.Clone(spec.Indexes), Index{Name: IDIndex}) {
		sorts[index.Name], _ = spec.FieldsOf(index.Name) // declared, so there is no error
	}
	return reader[T]{spec: spec, table: table, plan: planFor(reflect.TypeFor[T]()), sorts: sorts}
}

// Name is the collection's name.
func (r *reader[T]) Name() string { return r.spec.Name }

// Find returns the first document of a selection, or ErrNotFound.
func (r *reader[T]) Find(ctx context.Context, where Where) (document T, err error) {
	raws, _, err := r.table.Scan(ctx, Scan{Where: where, Limit: 1, Fields: r.fields})
	if err != nil {
		return document, r.wrap("find", err)
	}
	if len(raws) == 0 {
		return document, r.wrap("find", ErrNotFound)
	}
	return r.decode(raws[0])
}

// Count counts the documents of a selection.
func (r *reader[T]) Count(ctx context.Context, where Where) (int64, error) {
	n, err := r.table.Count(ctx, where)
	return n, r.wrap("count", err)
}

func (r *reader[T]) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, r.spec.Name, err)
}

// page does a scan and decodes its documents into an arena. If there are more, last is called with the last one. Both may be nil.
func (r *reader[T]) page(ctx context.Context, scan Scan, into *arena.Arena, last func(bson.Raw) error) ([]T, error) {
	scan.Loan = newLoan()
	defer scan.Loan.End()
	raws, more, err := r.table.Scan(ctx, scan)
	if err == nil && more && last != nil {
		err = last(raws[len(raws)-1])
	}
	if err != nil {
		return nil, err
	}
	var keep *texts
	if scan.Loan.isLent {
		keep = textsOf(raws, into)
	}
	return r.decodeAll(raws, arena.Slice[T](into, len(raws)), keep)
}

func (r *reader[T]) decode(raw bson.Raw) (document T, err error) {
	return document, r.decodeInto(raw, &document, nil)
}

func (r *reader[T]) decodeAll(raws []bson.Raw, documents []T, keep *texts) ([]T, error) {
	for i, raw := range raws {
		if err := r.decodeInto(raw, &documents[i], keep); err != nil {
			return nil, err
		}
		keep.next(raw)
	}
	return documents, nil
}

// decodeInto decodes a document into the zero value of T, with its texts in keep.
func (r *reader[T]) decodeInto(raw bson.Raw, document *T, keep *texts) error {
	if len(r.spec.Defaults) > 0 {
		raw = r.spec.complete(raw)
	}
	if r.plan != nil && r.plan.decode(raw, reflect.ValueOf(document).Elem(), keep) {
		return nil
	}
	if keep != nil {
		raw = bytes.Clone(raw) // the driver may share it
	}
	var anew T
	err := bson.Unmarshal(raw, &anew)
	*document = anew
	return r.wrap("decode", err)
}

// complete adds the defaults of the fields that a document lacks.
func (s Spec) complete(raw bson.Raw) bson.Raw {
	for field, value := range s.Defaults {
		if _, err := raw.LookupErr(field); err == nil {
			continue
		}
		raw = value.appendField(raw[:len(raw)-1:len(raw)-1], field)
		raw = append(raw, 0)
		binary.LittleEndian.PutUint32(raw, uint32(len(raw)))
	}
	return raw
}

func (v Value) appendField(into []byte, name string) []byte {
	if v.kind == Int64 {
		return binary.LittleEndian.AppendUint64(appendName(into, bson.TypeInt64, name), uint64(v.number))
	}
	into = binary.LittleEndian.AppendUint32(appendName(into, bson.TypeString, name), uint32(len(v.text)+1))
	return append(append(into, v.text...), 0)
}

// Projection reads documents of a collection as a type that has only some of their
// fields. A long list costs less this way, and least if the index of a query has all of these
// fields, as integers: then the documents are not read. It may be used concurrently.
type Projection[T any] struct {
	of reader[T]
}

// Project returns a projection of a collection's documents to T, a struct with bson tags.
func Project[T any, K Key, Whole any](c *Collection[K, Whole]) *Projection[T] {
	of := newReader[T](c.spec, c.table)
	if of.plan != nil {
		of.plan.endsEarly = true
	}
	for name := range shapeOf(reflect.TypeFor[T]()) {
		of.fields = append(of.fields, name)
	}
	return &Projection[T]{of}
}

// Page is Collection.Page.
func (p *Projection[T]) Page(ctx context.Context, query Query) (Page[T], error) {
	return p.of.Page(ctx, query)
}

// BatchesUpTo is Collection.BatchesUpTo.
func (p *Projection[T]) BatchesUpTo(ctx context.Context, query Query, count int64) iter.Seq2[[]T, error] {
	return p.of.BatchesUpTo(ctx, query, count)
}

// Together does reads that do not need each other's results. It does them at the same time if
// the store is reached over a network: all have ended when it returns the first error in their
// order. Otherwise it does them one after the other until one fails, because a read is faster
// than the start of a goroutine. A read that panics panics in the caller.
func Together(store Engine, reads ...func() error) error {
	if !store.IsLocal() {
		return atTheSameTime(reads)
	}
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func atTheSameTime(reads []func() error) error {
	errs, panics := make([]error, len(reads)), make([]any, len(reads))
	guarded := func(i int) {
		defer func() { panics[i] = recover() }()
		errs[i] = reads[i]()
	}
	var others sync.WaitGroup
	for i := range reads[1:] {
		others.Go(func() { guarded(i + 1) })
	}
	guarded(0)
	others.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Together is Together on the collection's store.
func (c *Collection[K, T]) Together(reads ...func() error) error { return Together(c.store, reads...) }

// Loan lets an engine lend the documents of a scan instead of copying them. They are good until End, and so
// is the slice that holds them. A loan serves one goroutine, which calls no store before it ends.
type Loan struct {
	// isLent: the documents are the engine's. Otherwise they are the caller's.
	isLent bool
	room   []bson.Raw
	ends   []func()
}

var loans = sync.Pool{New: func() any { return new(Loan) }}

func newLoan() *Loan { return loans.Get().(*Loan) }

// Room returns an empty slice for documents, which may grow beyond its capacity. Each scan of the loan has its own.
func (l *Loan) Room() []bson.Raw {
	room := l.room[:0]
	l.room = nil
	return room
}

// Lend says that the documents of a scan are lent. end takes them back.
func (l *Loan) Lend(documents []bson.Raw, end func()) {
	l.isLent, l.room, l.ends = true, documents, append(l.ends, end)
}

// End gives the documents back.
func (l *Loan) End() {
	for _, end := range l.ends {
		end()
	}
	clear(l.ends)
	clear(l.room)
	if cap(l.room) > mostRoom {
		l.room = nil
	}
	l.isLent, l.room, l.ends = false, l.room[:0], l.ends[:0]
	loans.Put(l)
}

const (
	// mostRoom is how many documents a loan that waits for its next scan has room for. append grows to that
	// for a page of 1,000.
	mostRoom = 1280
	// sharedTextBytes bounds an allocation that texts share, so that a text which is kept keeps few others.
	sharedTextBytes = 8 << 10
	// firstTextBytes bounds the first one, whose documents show how much of them is text.
	firstTextBytes = 512
)

// texts keeps the texts of documents that are lent. A nil one shares them with their documents, which is safe
// for documents that a Collection owns and never changes.
type texts struct {
	arena *arena.Arena
	block []byte
	// read and left are the bytes of the documents that were read and of those to come; kept are those of
	// the texts.
	read, left, kept int
}

// textsOf returns texts for documents that are lent.
func textsOf(raws []bson.Raw, into *arena.Arena) *texts {
	t := &texts{arena: into}
	for _, raw := range raws {
		t.left += len(raw)
	}
	return t
}

// next says that a document has been read.
func (t *texts) next(raw bson.Raw) {
	if t != nil {
		t.read += len(raw)
		t.left -= len(raw)
	}
}

// expected returns how many bytes the texts to come probably have.
func (t *texts) expected() int {
	if t.read == 0 {
		return min(t.left/2, firstTextBytes)
	}
	return min(t.left*t.kept/t.read, sharedTextBytes)
}

// keep returns a text as a string that stays good.
func (t *texts) keep(text []byte) string {
	if t == nil {
		return sharedString(text)
	}
	if len(text) == 0 {
		return ""
	}
	if cap(t.block)-len(t.block) < len(text) {
		t.block = arena.Slice[byte](t.arena, max(len(text), t.expected()))[:0]
	}
	t.kept += len(text)
	start := len(t.block)
	t.block = append(t.block, text...)
	return sharedString(t.block[start:])
}

// sharedString returns bytes that never change as a string, without a copy.
func sharedString(text []byte) string {
	return unsafe.String(unsafe.SliceData(text), len(text)) // #nosec G103 -- safe because they never change
}
