package embedded

import (
	"bytes"
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// keyCost is what a key that is written adds to the memory of a commit, in bytes: in a large store
// each changes another page, of which neighbours share one now and then.
const keyCost = 4 << 10

// cost returns what the writes of some documents of a size in total add to the memory of a commit.
func (t *table) cost(documents, bytes int) int { return bytes + documents*(2+len(t.indexes))*keyCost }

// dataFill is the fill ratio of pages that are split. Ids and moments grow with time, so many
// inserts go to the last page of a part, and earlier pages need little free space; entries of
// other indexes go anywhere.
const dataFill = 0.7

// Insert stores documents in chunks of one commit each, so that other writers wait for a chunk
// only.
func (t *table) Insert(ctx context.Context, documents []bson.Raw) ([]error, error) {
	if err := t.engine.enterOnce(ctx); err != nil {
		return nil, err
	}
	errs := make([]error, len(documents))
	for from := 0; from < len(documents); {
		var chunk []prepared
		var at []int
		size := 0
		for ; from < len(documents) && size < maxCommitBytes; from++ {
			p, err := t.prepare(documents[from])
			if err != nil {
				errs[from] = err
				continue
			}
			chunk, at, size = append(chunk, p), append(at, from), size+t.cost(1, len(documents[from]))
		}
		refused, err := t.insertChunk(ctx, chunk, size)
		if err != nil {
			return nil, err
		}
		for i, refusal := range refused {
			errs[at[i]] = refusal
		}
	}
	return errs, nil
}

func (t *table) insertChunk(ctx context.Context, chunk []prepared, size int) ([]error, error) {
	if len(chunk) == 0 {
		return nil, nil
	}
	refused := make([]error, len(chunk))
	err := t.engine.write(ctx, size, func(tx *bolt.Tx) (changed bool, err error) {
		w := t.writer(tx)
		for i, p := range chunk {
			refused[i] = w.refuse(p)
			if refused[i] != nil {
				continue
			}
			changed = true
			if err := w.put(p, prepared{}, t.spec.Feed != nil || p.isTombstone); err != nil {
				return changed, err
			}
		}
		return changed, nil
	})
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// Update changes a document. It changes only the index entries whose fields have changed.
func (t *table) Update(ctx context.Context, change docstore.Change) (bson.Raw, error) {
	var before bson.Raw
	var note func(record)
	if change.IsWhole || len(change.Fields) > 0 {
		note = func(old record) { before = bytes.Clone(old.bson) }
	}
	refusals, err := t.update(ctx, []docstore.Change{change}, note)
	if err == nil {
		err = refusals[0]
	}
	if err != nil {
		return nil, err
	}
	return before, nil
}

// UpdateMany makes the changes in one transaction.
func (t *table) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	refusals, err := t.update(ctx, changes, nil)
	for _, refusal := range refusals {
		switch {
		case refusal == nil:
			made++
		case !errors.Is(refusal, docstore.ErrConflict) && !errors.Is(refusal, docstore.ErrNotFound):
			return made, refusal
		}
	}
	return made, err
}

// update makes changes in one transaction. refusals[i] is the reason why changes[i] was not made,
// or nil. A change that no document fits fails all. note, unless nil, gets each document before
// its change.
func (t *table) update(ctx context.Context, changes []docstore.Change, note func(record)) ([]error, error) {
	effects, size := make([]effect, len(changes)), 0
	for i, change := range changes {
		for _, set := range change.Set {
			size += len(set.Value.Value)
		}
		if err := t.spec.CheckChange(change); err != nil {
			return nil, err
		}
		effects[i] = t.effectOf(change)
	}
	refusals := make([]error, len(changes))
	err := t.engine.write(ctx, t.cost(len(changes), size), func(tx *bolt.Tx) (changed bool, err error) {
		w := t.writer(tx)
		for i, change := range changes {
			refusals[i], err = w.modify(change, effects[i], note)
			changed = changed || refusals[i] == nil
			if err != nil {
				return changed, err
			}
		}
		return changed, nil
	})
	if err != nil {
		return nil, err
	}
	return refusals, nil
}

// effect is what a change does beside the document: whether it changes index entries, and whether
// it is stamped.
type effect struct{ changesKeys, isStamped bool }

func (t *table) effectOf(change docstore.Change) effect {
	return effect{t.spec.ChangesKeys(change), t.spec.Stamps(change)}
}

// modify makes a change, unless it is refused. note, unless nil, gets the document before.
func (w writer) modify(change docstore.Change, has effect, note func(record)) (refusal, err error) {
	key, refusal := w.table.keyOf(change.ID)
	if refusal != nil {
		return refusal, nil
	}
	old := recordOf(w.data.Get(key))
	if old.bson == nil || old.isTombstone {
		return docstore.ErrNotFound, nil
	}
	changed, refusal := change.Apply(old.bson)
	if refusal != nil {
		return refusal, nil
	}
	if note != nil {
		note(old)
	}
	if !has.changesKeys {
		if refusal := docstore.CheckEnvelope(changed); refusal != nil {
			return refusal, nil
		}
		return nil, w.putRecord(key, old, record{bson: changed}, has.isStamped)
	}
	next, refusal := w.table.prepare(changed)
	if refusal != nil {
		return refusal, nil
	}
	before, err := w.table.place(old)
	if err != nil {
		return nil, err
	}
	if refusal := w.refuseChange(next, before); refusal != nil {
		return refusal, nil
	}
	return nil, w.put(next, before, has.isStamped)
}

// Delete removes a document and its index entries, or makes it a tombstone.
func (t *table) Delete(ctx context.Context, deletion docstore.Deletion) error {
	key, err := t.keyOf(deletion.ID)
	if err != nil {
		return err
	}
	if err := t.spec.CheckDeletion(deletion); err != nil {
		return err
	}
	var refusal error
	err = t.engine.write(ctx, t.cost(1, len(key)), func(tx *bolt.Tx) (changed bool, err error) {
		refusal, err = t.writer(tx).delete(key, deletion)
		return refusal == nil && err == nil, err
	})
	if err != nil {
		return err
	}
	return refusal
}

func (w writer) delete(key []byte, deletion docstore.Deletion) (refusal, err error) {
	old := recordOf(w.data.Get(key))
	switch {
	case old.bson == nil || old.isTombstone:
		return docstore.ErrNotFound, nil
	case !deletion.Meets(old.bson):
		return docstore.ErrConflict, nil
	}
	before, err := w.table.place(old)
	if err != nil {
		return nil, err
	}
	if !w.table.spec.Tombstones {
		return nil, w.remove(before)
	}
	tombstone, err := w.table.spec.TombstoneOf(old.bson, deletion)
	if err != nil {
		return nil, err
	}
	next, refusal := w.table.prepare(tombstone)
	if refusal == nil {
		refusal = w.refuseChange(next, before)
	}
	if refusal != nil {
		return refusal, nil
	}
	return nil, w.put(next, before, true)
}

// writer writes to a table in one transaction.
type writer struct {
	table *table
	data  *bolt.Bucket
}

func (t *table) writer(tx *bolt.Tx) writer { return writer{t, data(tx)} }

// refuse returns the reason why a new document cannot be stored, or nil.
func (w writer) refuse(p prepared) error {
	if w.data.Get(p.key) != nil {
		return &docstore.DuplicateError{Index: docstore.IDIndex}
	}
	return w.refuseChange(p, prepared{})
}

// refuseChange returns the reason why a document cannot replace before, or nil.
func (w writer) refuseChange(p, before prepared) error {
	for i, ix := range w.table.indexes {
		if !ix.Unique || before.entries != nil && bytes.Equal(p.entries[i].key, before.entries[i].key) {
			continue
		}
		if p.entries[i].taken(w.data.Cursor()) {
			return &docstore.DuplicateError{Index: ix.Name}
		}
	}
	return nil
}

// put stores a document and its index entries. before is the document that it replaces; it has no
// entries if there is none.
func (w writer) put(p, before prepared, isStamped bool) error {
	if err := w.putRecord(p.key, before.record, p.record, isStamped); err != nil {
		return err
	}
	for i, now := range p.entries {
		if before.entries != nil {
			old := before.entries[i]
			if bytes.Equal(now.key, old.key) && now.isTombstone == old.isTombstone {
				continue
			}
			if err := w.removeEntry(old); err != nil {
				return err
			}
		}
		if now.key == nil {
			continue
		}
		if err := w.data.Put(now.key, now.value()); err != nil {
			return err
		}
	}
	return nil
}

// putRecord stores a document without index entries. A document that it does not stamp keeps its
// moments.
func (w writer) putRecord(key []byte, before, now record, isStamped bool) error {
	now.made, now.changed = before.made, before.changed
	if isStamped {
		if err := w.stamp(key, before, &now); err != nil {
			return err
		}
	}
	if now.isTombstone {
		if err := w.setDue(key, &now, now.changed); err != nil {
			return err
		}
	}
	return w.data.Put(key, now.stored())
}

// remove removes a document and its index entries. One with an entry in the feed is a tombstone.
func (w writer) remove(p prepared) error {
	if w.table.spec.Feed != nil {
		if err := w.data.Delete(w.table.feed.at(p.changed, p.key)); err != nil {
			return err
		}
	}
	if err := w.data.Delete(p.key); err != nil {
		return err
	}
	for _, entry := range p.entries {
		if err := w.removeEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

func (w writer) removeEntry(n entry) error {
	if n.key == nil {
		return nil
	}
	return w.data.Delete(n.key)
}
