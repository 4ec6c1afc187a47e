package storetest

import (
	"context"
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// Call is a call of a collection. Its verb is that of metrics: Scan.Verb, or a method such as update_many.
type Call struct{ Collection, Verb string }

// Hook does a call of a collection by do, or fails.
type Hook func(ctx context.Context, call Call, do func() error) error

// Hooked is a store whose calls go through hooks. Each hook is optional. A DeleteAll deletes
// its documents one by one, and each of them is a write of its own.
type Hooked struct {
	docstore.Engine
	Read, Write Hook
}

// Open opens a collection.
func (h *Hooked) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := h.Engine.Open(ctx, spec)
	return &hookedTable{table, h, spec}, err
}

type hookedTable struct {
	docstore.Table
	store *Hooked
	spec  docstore.Spec
}

func (t *hookedTable) read(ctx context.Context, verb string, do func() error) error {
	return t.call(ctx, t.store.Read, verb, do)
}

func (t *hookedTable) write(ctx context.Context, verb string, do func() error) error {
	return t.call(ctx, t.store.Write, verb, do)
}

func (t *hookedTable) call(ctx context.Context, hook Hook, verb string, do func() error) error {
	if hook == nil {
		return do()
	}
	return hook(ctx, Call{t.spec.Name, verb}, do)
}

func (t *hookedTable) Scan(ctx context.Context, scan docstore.Scan) (found []bson.Raw, more bool, err error) {
	err = t.read(ctx, scan.Verb(), func() (err error) { found, more, err = t.Table.Scan(ctx, scan); return err })
	return found, more, err
}

func (t *hookedTable) Count(ctx context.Context, where docstore.Where) (n int64, err error) {
	err = t.read(ctx, "count", func() (err error) { n, err = t.Table.Count(ctx, where); return err })
	return n, err
}

func (t *hookedTable) Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error) {
	err = t.write(ctx, "insert", func() (err error) { errs, err = t.Table.Insert(ctx, documents); return err })
	return errs, err
}

func (t *hookedTable) Update(ctx context.Context, change docstore.Change) (before bson.Raw, err error) {
	err = t.write(ctx, "update", func() (err error) { before, err = t.Table.Update(ctx, change); return err })
	return before, err
}

func (t *hookedTable) UpdateMany(ctx context.Context, changes []docstore.Change) (made int64, err error) {
	err = t.write(ctx, "update_many", func() (err error) { made, err = t.Table.UpdateMany(ctx, changes); return err })
	return made, err
}

func (t *hookedTable) Delete(ctx context.Context, deletion docstore.Deletion) error {
	return t.write(ctx, "delete", func() error { return t.Table.Delete(ctx, deletion) })
}

func (t *hookedTable) Changes(ctx context.Context, scan docstore.ChangeScan) (batch docstore.ChangeBatch, err error) {
	err = t.read(ctx, "changes", func() (err error) { batch, err = t.Table.Changes(ctx, scan); return err })
	return batch, err
}

func (t *hookedTable) Tombstones(ctx context.Context, after docstore.Moment, limit int) (due []docstore.Tombstone, now docstore.Moment, err error) {
	err = t.read(ctx, "tombstones", func() (err error) { due, now, err = t.Table.Tombstones(ctx, after, limit); return err })
	return due, now, err
}

func (t *hookedTable) Postpone(ctx context.Context, tombstone docstore.Tombstone, until docstore.Moment) error {
	return t.write(ctx, "postpone", func() error { return t.Table.Postpone(ctx, tombstone, until) })
}

func (t *hookedTable) Forget(ctx context.Context, tombstone docstore.Tombstone) error {
	return t.write(ctx, "forget", func() error { return t.Table.Forget(ctx, tombstone) })
}

func (t *hookedTable) DeleteAll(ctx context.Context, where docstore.Where) (deleted int64, err error) {
	if on, ok := t.Table.(*replicaTable); ok {
		return t.deleteEach(func() (isOne bool, err error) {
			err = t.write(ctx, "delete_all", func() (err error) { isOne, err = on.deleteFirst(ctx, where); return err })
			return isOne, err
		})
	}
	return t.deleteEach(func() (isOne bool, err error) {
		first, _, err := t.Scan(ctx, docstore.Scan{Where: where, Limit: 1})
		if err != nil || len(first) == 0 {
			return false, err
		}
		err = t.write(ctx, "delete_all", func() error { return deleteOne(ctx, t.Table, t.spec, first[0]) })
		return err == nil, err
	})
}

// deleteEach calls deleteFirst until it finds no document.
func (t *hookedTable) deleteEach(deleteFirst func() (isOne bool, err error)) (deleted int64, err error) {
	for {
		isOne, err := deleteFirst()
		if err != nil || !isOne {
			return deleted, err
		}
		deleted++
	}
}

// deleteOne deletes a document, unless somebody else has done so.
func deleteOne(ctx context.Context, table docstore.Table, spec docstore.Spec, document bson.Raw) error {
	key, err := docstore.Field{Name: docstore.IDIndex, Kind: spec.ID}.Value(document)
	if err != nil {
		return err
	}
	if err := table.Delete(ctx, docstore.Deletion{ID: key}); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}

// ErrBroken is the error of a store whose connection broke.
var ErrBroken = errors.New("the connection broke")

// Outcome is what becomes of the write at which a process crashes.
type Outcome bool

// The outcomes of a write.
const (
	NotHappened Outcome = false
	Happened    Outcome = true
)

// Mortal is a process that crashes at one of its writes. Then all its calls of the store
// fail with ErrBroken.
type Mortal struct {
	mu sync.Mutex
	// left is the number of writes before the crash; the outcome is that of the write there.
	left    int
	outcome Outcome
	isDead  bool
}

// NewMortal returns a process that crashes after a number of writes, and the store as it
// sees it.
func NewMortal(engine docstore.Engine, writes int, outcome Outcome) (*Hooked, *Mortal) {
	m := &Mortal{left: writes, outcome: outcome}
	return &Hooked{Engine: engine, Read: m.read, Write: m.write}, m
}

func (m *Mortal) read(_ context.Context, _ Call, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return ErrBroken
	}
	return do()
}

func (m *Mortal) write(_ context.Context, _ Call, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return ErrBroken
	}
	m.left--
	if m.left >= 0 {
		return do()
	}
	m.isDead = true
	if m.outcome == Happened {
		return errors.Join(do(), ErrBroken)
	}
	return ErrBroken
}

// Died reports whether the process has crashed.
func (m *Mortal) Died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDead
}

// Lender is a store that lends documents, and overwrites them when a loan ends. So a test shows who keeps them.
type Lender struct{ docstore.Engine }

// Open opens a collection.
func (l Lender) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := l.Engine.Open(ctx, spec)
	return lending{table}, err
}

type lending struct{ docstore.Table }

// Scan lends documents of its own.
func (t lending) Scan(ctx context.Context, scan docstore.Scan) (found []bson.Raw, more bool, err error) {
	loan := scan.Loan
	if loan == nil {
		return t.Table.Scan(ctx, scan)
	}
	scan.Loan = nil
	found, more, err = t.Table.Scan(ctx, scan)
	loan.Lend(found, func() {
		for _, document := range found {
			for i := range document {
				document[i] = 0xff
			}
		}
	})
	return found, more, err
}
