package docstore

import (
	"cmp"
	"context"
	"iter"
	"math"
	"reflect"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
)

// one returns an optional argument, or its zero value.
func one[T any](given []T) (only T) {
	if len(given) > 0 {
		only = given[0]
	}
	return only
}

func keyOf[K Key](value Value) K {
	key, _ := value.BSON().(K)
	return key
}

// room returns a function that makes room for a number of documents.
func room[T any](in *arena.Arena, documents *[]T) func(n int) reflect.Value {
	return func(n int) reflect.Value {
		*documents = arena.Slice[T](in, n)
		return reflect.ValueOf(*documents)
	}
}

// together is Collection.Together of a store that may be local.
func together(isLocal bool, reads ...func() error) error {
	if !isLocal {
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

// Reader reads documents of a collection as type T, a struct with bson tags. It may be used
// concurrently.
//
// The methods of Reader and Collection only convert: core does the work, so that a service
// compiles it once and not for each type of its documents.
type Reader[K Key, T any] struct{ core *core }

// Collection is a collection of documents of type T. One of the tags is _id, with a field of type
// K.
type Collection[K Key, T any] struct{ Reader[K, T] }

// Open opens a collection as declared by spec, and creates it if necessary.
func Open[K Key, T any](ctx context.Context, engine Engine, spec Spec) (*Collection[K, T], error) {
	c, err := open(ctx, engine, spec, fieldOf[K](IDIndex).Kind, reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	return &Collection[K, T]{Reader[K, T]{c}}, nil
}

// Project returns a reader of a collection's documents as type T, which has only some of their
// fields. A long list costs less this way, and least if the index of a query has all of these
// fields, as integers: then the documents are not read.
func Project[T any, K Key, Whole any](c *Collection[K, Whole]) *Reader[K, T] {
	return &Reader[K, T]{c.core.project(reflect.TypeFor[T]())}
}

// Name is the collection's name.
func (r *Reader[K, T]) Name() string { return r.core.spec.Name }

// Get returns the document with the given id, or ErrNotFound. as says which writes it shows;
// without it, Present.
func (r *Reader[K, T]) Get(ctx context.Context, id K, as ...Consistency) (document T, err error) {
	err = r.core.get(ctx, ValueOf(id), one(as), &document)
	return document, err
}

// GetMany returns the documents that exist, in any order, each once. as is Present, Durable or
// Listed.
func (r *Reader[K, T]) GetMany(ctx context.Context, ids []K, as ...Consistency) (documents []T, err error) {
	err = r.core.getMany(ctx, ValuesOf(ids), one(as), room(nil, &documents))
	return documents, err
}

// Find returns the first document of a selection, or ErrNotFound.
func (r *Reader[K, T]) Find(ctx context.Context, where Where) (document T, err error) {
	err = r.core.find(ctx, where, &document)
	return document, err
}

// Count counts the documents of a selection.
func (r *Reader[K, T]) Count(ctx context.Context, where Where) (int64, error) {
	return r.core.count(ctx, where)
}

// Page returns a page of documents. A page may be shorter than query.Limit, because it
// ends before it exceeds query.MaxBytes. Errors: ErrBadToken.
//
// A document that exists during a whole walk from page to page appears exactly once. A
// document that is inserted, deleted or moved in the index during the walk may or may
// not appear.
func (r *Reader[K, T]) Page(ctx context.Context, query Query) (page Page[T], err error) {
	page.Next, err = r.core.page(ctx, query, room(query.Arena, &page.Documents))
	if err != nil {
		return Page[T]{}, err
	}
	return page, nil
}

// Batches iterates over the documents of a query in pages of query.Limit, and stops after
// query.Most. It keeps one page in memory and holds no resource of the store between pages. An
// error ends the iteration.
func (r *Reader[K, T]) Batches(ctx context.Context, query Query) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		query, left := query, cmp.Or(query.Most, math.MaxInt)
		for {
			query.Limit = min(query.Limit, left)
			page, err := r.Page(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(page.Documents) > 0 && !yield(page.Documents, nil) {
				return
			}
			left -= len(page.Documents)
			if page.Next == "" || left == 0 {
				return
			}
			query.Token = page.Next
		}
	}
}

// Insert stores or refuses each of the documents. Errors: *RefusedError, which wraps a
// *DuplicateError for each document that is there already. After any other error, some of the
// documents may be stored.
func (c *Collection[K, T]) Insert(ctx context.Context, documents ...T) error {
	return c.core.insert(ctx, len(documents), func(i int) any { return &documents[i] })
}

// Highest returns the highest id from from on, in the place that from names if the collection is
// sharded ByPlace, and 0 if there is none. It walks down from the highest id of all, so it is fast
// where few ids are above from: when from was drawn just now. The ids must be integers.
func (c *Collection[K, T]) Highest(ctx context.Context, from int64) (int64, error) {
	return c.core.highest(ctx, from)
}

// Update reads a document, calls change to modify it, writes it back, and returns the
// document as written.
//
// If another writer changed the document in the meantime, Update starts again. So
// change may run several times, each time on the current document. If change returns an
// error, Update writes nothing and returns that error unwrapped. change must not modify
// _id. Errors: ErrNotFound, *DuplicateError, and ErrConflict if other writers were
// faster 256 times in a row.
//
// Update writes only what changed, and nothing if change changes nothing. So fields that T does
// not have stay as they are, and a small change of a large document is a small write. What it
// reads is durable, because a failover may give the revision of a state that it undoes to another
// one.
func (c *Collection[K, T]) Update(ctx context.Context, id K, change func(*T) error) (T, error) {
	var document, none T
	if err := c.core.update(ctx, ValueOf(id), &document, func() error { return change(&document) }); err != nil {
		return none, err
	}
	return document, nil
}

// UpdateMany changes the documents that exist of those with the given ids, which differ
// from each other. It calls change for each and skips the document if change returns false.
// Where another writer was faster, it starts again with the present document. UpdateMany is
// not atomic, and change must not touch _id or a field of a unique index. Errors:
// ErrConflict as with Update.
func (c *Collection[K, T]) UpdateMany(ctx context.Context, ids []K, change func(*T) bool) error {
	var document T
	return c.core.updateMany(ctx, ValuesOf(ids), &document, func() bool { return change(&document) })
}

// Stored is a state of a document that no failover undoes.
type Stored[T any] struct {
	Document T
	raw      bson.Raw
}

// Unchanged returns the condition that a document has the revision of a state.
func (s Stored[T]) Unchanged() Condition {
	revision, _ := s.raw.Lookup(RevisionField).Int64OK()
	return Is(RevisionField, revision)
}

// GetStored returns the documents that exist, for UpdateFrom. as is Durable, which it is if it is
// missing, or Linearizable.
func (c *Collection[K, T]) GetStored(ctx context.Context, ids []K, as ...Consistency) ([]Stored[T], error) {
	raws, err := c.core.withIDs(ctx, ValuesOf(ids), Scan{As: cmp.Or(one(as), Durable)})
	if err != nil {
		return nil, err
	}
	all := make([]Stored[T], len(raws))
	for i, raw := range raws {
		all[i].raw = raw
		if err := c.core.decode(raw, &all[i].Document); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// UpdateFrom is UpdateMany of states that have been read. Errors: ErrConflict if a document that
// it would change has another state by now, or is gone. Others may be changed then.
func (c *Collection[K, T]) UpdateFrom(ctx context.Context, stored []Stored[T], change func(*T) bool) error {
	raws := make([]bson.Raw, len(stored))
	for i := range stored {
		raws[i] = stored[i].raw
	}
	var document T
	return c.core.updateFrom(ctx, raws, &document, func() bool { return change(&document) })
}

// Modify changes a document without reading it before, and returns it as it was. An Update that
// has read what Modify sets runs again. Errors: ErrNotFound, and ErrConflict if the document does
// not meet the conditions.
func (c *Collection[K, T]) Modify(ctx context.Context, id K, how Edit) (before T, err error) {
	err = c.core.modify(ctx, ValueOf(id), how, &before)
	return before, err
}

// ModifyMany makes the edits of documents by their ids, as Modify does, and skips those of
// documents that do not exist or do not meet the conditions. The edits have no Mark. It returns
// how many it made. It is not atomic.
func (c *Collection[K, T]) ModifyMany(ctx context.Context, edits map[K]Edit) (made int64, err error) {
	changes := make([]Change, 0, len(edits))
	for id, how := range edits {
		change, err := c.core.changeOf(ValueOf(id), how)
		if err != nil {
			return 0, c.core.wrap("modify many", err)
		}
		changes = append(changes, change)
	}
	if len(changes) == 0 {
		return 0, nil
	}
	made, err = c.core.table.UpdateMany(ctx, changes)
	return made, c.core.wrap("modify many", err)
}

// Delete deletes a document. how, which leaves out the ID, may have conditions and values of the
// tombstone. Errors: ErrNotFound, and ErrConflict if the document does not meet the conditions. If
// an error wraps none of these, a repeat decides.
func (c *Collection[K, T]) Delete(ctx context.Context, id K, how ...Deletion) error {
	return c.core.delete(ctx, ValueOf(id), one(how))
}

// DeleteAll deletes the documents of a selection, in chunks, and returns how many it
// deleted. It is not atomic: if it fails, some of them may be deleted, and a retry deletes
// the rest.
func (c *Collection[K, T]) DeleteAll(ctx context.Context, where Where) (int64, error) {
	return c.core.deleteAll(ctx, where)
}

// Deleted returns which of the documents are deleted and have tombstones: Going while a sweep may
// have to remove what belonged to them, then Gone. No later failure of a server undoes what it
// shows.
func (c *Collection[K, T]) Deleted(ctx context.Context, ids []K) (map[K]int64, error) {
	found, err := c.core.deleted(ctx, ValuesOf(ids))
	if err != nil {
		return nil, err
	}
	deleted := make(map[K]int64, len(found))
	for id, state := range found {
		deleted[keyOf[K](id)] = state
	}
	return deleted, nil
}

// Sweep calls purge for the deleted documents, which removes what belonged to them; it may be nil.
// It forgets deletions that are older than keep, once no source can draw their ids. It continues
// after a purge that fails, and returns all errors. Several processes may sweep at once.
func (c *Collection[K, T]) Sweep(ctx context.Context, keep time.Duration,
	purge func(ctx context.Context, id K) error) error {
	if purge == nil {
		return c.core.sweep(ctx, keep, nil)
	}
	return c.core.sweep(ctx, keep, func(ctx context.Context, id Value) error { return purge(ctx, keyOf[K](id)) })
}

// Now returns the present time of the store, in a collection with tombstones. All processes that
// share the store have the same.
func (c *Collection[K, T]) Now(ctx context.Context) (time.Time, error) { return c.core.now(ctx) }

// Changes returns a page of changes, oldest first. The pages up to one without More have each
// document that has changed since the token. A change that has not settled is listed again by the
// page that follows. So a follower that reads each listed document by a Listed read has the latest
// state in the end, however often the document changes. Errors: ErrBadToken, ErrForgotten.
func (c *Collection[K, T]) Changes(ctx context.Context, query ChangesQuery) (page ChangesPage[K], err error) {
	found, err := c.core.changes(ctx, query)
	if err != nil {
		return page, err
	}
	page.Next, page.More, page.Changes = found.next, found.more, make([]DocumentChange[K], len(found.changes))
	for i, each := range found.changes {
		page.Changes[i] = DocumentChange[K]{keyOf[K](each.id), each.is, each.at}
	}
	return page, nil
}

// Together does reads that do not need each other's results. It does them at the same time if
// the store is reached over a network: all have ended when it returns the first error in their
// order. Otherwise it does them one after the other until one fails, because a read is faster
// than the start of a goroutine. A read that panics panics in the caller.
func (c *Collection[K, T]) Together(reads ...func() error) error {
	return together(c.core.store.IsLocal(), reads...)
}
