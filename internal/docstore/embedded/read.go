package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// checkEvery is how many steps a walk makes between two checks of its context.
const checkEvery = 1024

// get is Scan of one document by its id. A linearizable read is done between two commits: any
// other also sees a commit whose last sync is not finished, and may fail.
func (t *table) get(ctx context.Context, id docstore.Value, scan docstore.Scan) ([]bson.Raw, error) {
	key, err := t.keyOf(id)
	if err != nil {
		return nil, err
	}
	withTombstones := scan.WithTombstones // so that the scan stays on the stack
	var documents []bson.Raw
	look := func(tx *bolt.Tx) error {
		documents = nil
		if r := recordOf(data(tx).Get(key)); r.bson != nil && (!r.isTombstone || withTombstones) {
			documents = []bson.Raw{bytes.Clone(r.bson)}
		}
		return nil
	}
	if scan.As == docstore.Linearizable && !t.engine.db.IsReadOnly() {
		err = t.engine.write(ctx, 0, func(tx *bolt.Tx) (changed bool, err error) { return false, look(tx) })
	} else {
		err = t.engine.view(ctx, look)
	}
	if err != nil {
		return nil, err
	}
	return documents, nil
}

// Scan gets one document, or walks an index.
func (t *table) Scan(ctx context.Context, scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	id, isOne := scan.OneID()
	if waits := scan.As == docstore.Listed ||
		scan.As == docstore.Linearizable && !isOne; waits && !t.engine.db.IsReadOnly() {
		defer func() {
			if err == nil {
				err = t.engine.makeDurable(ctx)
			}
		}()
	}
	if isOne && scan.Limit > 0 && scan.After == nil {
		documents, err = t.get(ctx, id, scan)
		return documents, false, err
	}
	return t.page(ctx, scan)
}

// page seeks to the start position in the index and walks from there. The seek costs the
// same at any position.
func (t *table) page(ctx context.Context, scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	ix, bounds, err := t.resolve(scan)
	if err != nil {
		return nil, false, err
	}
	covers := ix.covers(scan.Fields)
	if scan.Loan != nil && !covers {
		err = t.engine.lend(ctx, scan.Loan, func(tx *bolt.Tx) (_ []bson.Raw, err error) {
			documents, more, err = t.found(ctx, tx, t.walk(tx, ix, bounds), scan, scan.Loan.Room())
			return documents, err
		})
	} else {
		err = t.engine.view(ctx, func(tx *bolt.Tx) (err error) {
			if covers {
				documents, more, err = ix.scanEntries(ctx, t.walk(tx, ix, bounds), scan)
				t.engine.scanned(tx, len(documents), 0)
				return err
			}
			var few [32]bson.Raw // enough for most scans, and not on the heap
			found, hasMore, err := t.found(ctx, tx, t.walk(tx, ix, bounds), scan, few[:0])
			documents, more = copyAll(found), hasMore
			return err
		})
	}
	if err != nil {
		return nil, false, err
	}
	return documents, more, nil
}

// found appends the documents of a scan, which point into the mapped file.
func (t *table) found(ctx context.Context, tx *bolt.Tx, w *walk, scan docstore.Scan,
	into []bson.Raw) (found []bson.Raw, more bool, err error) {
	found, size := into, 0
	for ; w.valid(); w.next() {
		if len(found)%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return found, false, ctx.Err()
		}
		if len(found) == scan.Limit {
			more = true
			break
		}
		r, err := w.document()
		if err != nil {
			return found, false, err
		}
		length := len(r.bson)
		if scan.MaxBytes > 0 && len(found) > 0 && size+length > scan.MaxBytes {
			more = true
			break
		}
		found = append(found, r.bson[:length:length])
		size += length
	}
	t.engine.scanned(tx, len(found), size)
	return found, more, nil
}

// Count walks the index entries without reading documents.
func (t *table) Count(ctx context.Context, where docstore.Where) (n int64, err error) {
	ix, bounds, err := t.resolve(docstore.Scan{Where: where, Limit: 1})
	if err != nil {
		return 0, err
	}
	err = t.engine.view(ctx, func(tx *bolt.Tx) error {
		for w := t.walk(tx, ix, bounds); w.valid(); w.next() {
			n++
			if n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// resolve returns the index of a scan and the scan's bounds.
func (t *table) resolve(scan docstore.Scan) (*index, docstore.Bounds, error) {
	ix, err := t.find(scan.Index())
	if err != nil {
		return nil, docstore.Bounds{}, err
	}
	if _, _, err := t.spec.PlaceOf(scan.Where); err != nil {
		return nil, docstore.Bounds{}, err
	}
	bounds, err := scan.Resolve(t.fields(ix))
	return ix, bounds, err
}

func (t *table) fields(ix *index) []docstore.Field {
	if ix == nil {
		return t.id
	}
	return ix.fields
}

const (
	// sharedBytes is the size of an allocation that small documents share, and largeBytes
	// that of a document which has its own.
	sharedBytes = 8 << 10
	largeBytes  = 1 << 10
)

// copyAll copies documents from the mapped file. Small ones share allocations, which are small
// too: so a document that is kept does not keep many others alive.
func copyAll(found []bson.Raw) []bson.Raw {
	if len(found) == 0 {
		return nil
	}
	left := 0
	for _, raw := range found {
		if len(raw) < largeBytes {
			left += len(raw)
		}
	}
	documents := make([]bson.Raw, len(found))
	var shared []byte
	for i, raw := range found {
		if len(raw) >= largeBytes {
			documents[i] = bytes.Clone(raw)
			continue
		}
		if cap(shared)-len(shared) < len(raw) {
			shared = make([]byte, 0, min(sharedBytes, left))
		}
		left -= len(raw)
		start := len(shared)
		shared = append(shared, raw...)
		documents[i] = shared[start:len(shared):len(shared)]
	}
	return documents
}

// covers reports whether the index has all fields that a scan wants, and they are integers. Such
// a scan reads no documents: it builds them from the entries, which are together in the file.
func (ix *index) covers(wanted []string) bool {
	if ix == nil || wanted == nil {
		return false
	}
	for _, field := range ix.fields {
		if field.Kind != docstore.Int64 {
			return false
		}
	}
	return !slices.ContainsFunc(wanted, func(name string) bool {
		return !slices.ContainsFunc(ix.fields, func(field docstore.Field) bool { return field.Name == name })
	})
}

// scanEntries is Scan with an index that covers it.
func (ix *index) scanEntries(ctx context.Context, w *walk,
	scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	size := ix.documentSize()
	most := scan.Limit
	if scan.MaxBytes > 0 {
		most = min(most, max(scan.MaxBytes/size, 1))
	}
	var shared []byte
	for ; w.valid(); w.next() {
		if len(documents)%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if len(documents) == most {
			return documents, true, nil
		}
		if cap(shared)-len(shared) < size {
			shared = make([]byte, 0, min(max(sharedBytes/size, 1), most)*size)
		}
		start := len(shared)
		if shared, err = ix.appendDocument(shared, w.key); err != nil {
			return nil, false, err
		}
		documents = append(documents, shared[start:len(shared):len(shared)])
	}
	return documents, false, nil
}

// documentSize returns the size of the documents that appendDocument builds.
func (ix *index) documentSize() int {
	size := 4 + 1 // the length and the end
	for _, field := range ix.fields {
		size += 1 + len(field.Name) + 1 + 8
	}
	return size
}

// appendDocument builds a document with the fields of the index from the key of an entry.
func (ix *index) appendDocument(into, key []byte) (_ []byte, err error) {
	key = key[partBytes:]
	into = binary.LittleEndian.AppendUint32(into, uint32(ix.documentSize()))
	for _, field := range ix.fields {
		var value int64
		if value, key, err = keys.CutInt64(key); err != nil {
			return nil, fmt.Errorf("the store is damaged: an entry of index %q is too short", ix.Name)
		}
		into = append(into, byte(bson.TypeInt64))
		into = append(into, field.Name...)
		into = append(into, 0)
		into = binary.LittleEndian.AppendUint64(into, uint64(value))
	}
	return append(into, 0), nil
}

// releaseEvery is how many bytes scans may read before the process releases the mapped
// pages of the file to the kernel. bbolt maps the whole file, so without this all pages
// that a long list has read would stay in resident memory. The released pages stay in the
// kernel's cache. Mapping one again takes less than a microsecond.
const releaseEvery = 8 << 20

// entryCost is the approximate size of an index entry in bytes.
const entryCost = 64

// scanned counts the bytes that a scan has read and releases the mapped pages when
// releaseEvery is reached. The open transaction keeps the mapping valid.
func (e *Engine) scanned(tx *bolt.Tx, documents, bytes int) {
	if e.unreleased.Add(int64(bytes+entryCost*documents)) < releaseEvery {
		return
	}
	e.unreleased.Store(0)
	releasePages(tx.DB().Info().Data, tx.Size())
}
