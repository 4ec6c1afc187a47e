package embedded

import (
	"bytes"
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// walk iterates over the entries of an index, or over the documents, within bounds.
type walk struct {
	entries *bolt.Cursor
	// index and documents are nil when the entries are the documents.
	index     *index
	documents *bolt.Cursor
	// found is the key of a document.
	found []byte
	// placed is true once the documents cursor is at a document.
	placed bool
	// prefix begins every key of the walk. spans are the ranges that are left, the first
	// being the present one. last, unless nil, begins the last keys of the present span.
	prefix []byte
	spans  []docstore.Span
	last   []byte
	// isDescending walks from the last key to the first. Then the last of spans is the present
	// one, and first, unless nil, begins the first keys of it.
	isDescending bool
	first        []byte
	// withTombstones does not pass over tombstones.
	withTombstones bool
	key            []byte
	value          []byte
}

func (t *table) walk(tx *bolt.Tx, ix *index, bounds docstore.Bounds) *walk {
	all, of := data(tx), t.documents
	w := &walk{entries: all.Cursor(), spans: bounds.Spans, withTombstones: bounds.WithTombstones}
	if ix != nil {
		of, w.index, w.documents, w.found = ix.part, ix, all.Cursor(), t.documents.key()
	}
	w.prefix = docstore.AppendValues(append(make([]byte, 0, 64), of[:]...), bounds.Equal...)
	if bounds.Empty {
		return w
	}
	if bounds.Descending {
		w.startBack(bounds.After)
		return w
	}
	start := w.begin()
	if bounds.After != nil {
		after := docstore.AppendValues(w.prefix[:len(w.prefix):len(w.prefix)], bounds.After...)
		if bytes.Compare(start, after) <= 0 {
			start = after
		}
	}
	w.seek(start)
	if bounds.After != nil && bytes.Equal(w.key, start) {
		w.next()
	}
	return w
}

// begin sets the end of the present span and returns the first key that it may have.
func (w *walk) begin() []byte {
	if len(w.spans) == 0 {
		return w.prefix
	}
	span := w.spans[0]
	fixed := w.prefix[:len(w.prefix):len(w.prefix)]
	w.last = nil
	if !span.To.IsNone() {
		w.last = docstore.AppendValues(fixed, span.To)
	}
	if span.From.IsNone() {
		return w.prefix
	}
	return docstore.AppendValues(fixed, span.From)
}

// seek moves to the first entry of the walk that is not before a key.
func (w *walk) seek(key []byte) {
	w.key, w.value = w.entries.Seek(key)
	w.toSpan()
}

func (w *walk) next() {
	if w.isDescending {
		w.key, w.value = w.entries.Prev()
		w.toSpanBack()
		return
	}
	w.key, w.value = w.entries.Next()
	w.toSpan()
}

// toSpan moves to the next span while the entry is behind the present one. It ends the walk
// behind the last span or the prefix.
func (w *walk) toSpan() {
	for bytes.HasPrefix(w.key, w.prefix) {
		if w.last == nil || bytes.Compare(w.key, w.last) <= 0 || bytes.HasPrefix(w.key, w.last) {
			if !w.passesOver() {
				return
			}
			w.key, w.value = w.entries.Next()
			continue
		}
		if len(w.spans) == 1 {
			break
		}
		w.spans = w.spans[1:]
		if start := w.begin(); bytes.Compare(w.key, start) < 0 {
			w.key, w.value = w.entries.Seek(start)
		}
	}
	w.key = nil
}

// passesOver reports whether the walk leaves out the entry where it is.
func (w *walk) passesOver() bool {
	if w.withTombstones {
		return false
	}
	if w.documents == nil {
		return recordOf(w.value).isTombstone
	}
	return len(w.value) > 0
}

// valid reports whether the walk is at an entry.
func (w *walk) valid() bool { return w.key != nil }

// document returns the current document. It points into the mapped file.
func (w *walk) document() (record, error) {
	if w.documents == nil {
		return recordOf(w.value), nil
	}
	id, err := w.index.idIn(w.key)
	if err != nil {
		return record{}, err
	}
	w.found = append(w.found[:partBytes], id...)
	// Neighbours in the index are often neighbours in the file too. A step to the next
	// document costs a tenth of a search.
	if w.placed && !w.isDescending {
		if next, raw := w.documents.Next(); bytes.Equal(next, w.found) {
			return recordOf(raw), nil
		}
	}
	found, raw := w.documents.Seek(w.found)
	if !bytes.Equal(found, w.found) {
		return record{}, fmt.Errorf("the store is damaged: index entry %x refers to a missing document", w.key)
	}
	w.placed = true
	return recordOf(raw), nil
}

// startBack begins a descending walk: behind a position, or at the end.
func (w *walk) startBack(after []docstore.Value) {
	w.isDescending = true
	end := w.beginBack()
	if after != nil {
		position := docstore.AppendValues(w.prefix[:len(w.prefix):len(w.prefix)], after...)
		if bytes.Compare(position, end) <= 0 || bytes.HasPrefix(position, end) {
			w.seekBefore(position)
			return
		}
	}
	w.seekBack(end)
}

// beginBack sets the beginning of the present span and returns what begins the last keys that it
// may have.
func (w *walk) beginBack() []byte {
	if len(w.spans) == 0 {
		return w.prefix
	}
	span := w.spans[len(w.spans)-1]
	fixed := w.prefix[:len(w.prefix):len(w.prefix)]
	w.first = nil
	if !span.From.IsNone() {
		w.first = docstore.AppendValues(fixed, span.From)
	}
	if span.To.IsNone() {
		return w.prefix
	}
	return docstore.AppendValues(fixed, span.To)
}

// seekBack moves to the last entry of the walk that begins with end or is before it.
func (w *walk) seekBack(end []byte) {
	behind := append([]byte(nil), end...)
	for behind[len(behind)-1] == 0xff { // the number of a part is less
		behind = behind[:len(behind)-1]
	}
	behind[len(behind)-1]++
	w.seekBefore(behind)
}

// seekBefore moves to the last entry of the walk that is before a key.
func (w *walk) seekBefore(key []byte) {
	w.key, w.value = seekBefore(w.entries, key)
	w.toSpanBack()
}

// toSpanBack moves to the next span while the entry is before the present one. It ends the walk
// before the first span or the prefix.
func (w *walk) toSpanBack() {
	for bytes.HasPrefix(w.key, w.prefix) && w.passesOver() {
		w.key, w.value = w.entries.Prev()
	}
	if !bytes.HasPrefix(w.key, w.prefix) {
		w.key = nil
		return
	}
	if w.first == nil || bytes.Compare(w.key, w.first) >= 0 {
		return
	}
	if len(w.spans) == 1 {
		w.key = nil
		return
	}
	w.spans = w.spans[:len(w.spans)-1]
	if end := w.beginBack(); bytes.Compare(w.key, end) > 0 && !bytes.HasPrefix(w.key, end) {
		w.seekBack(end)
		return
	}
	w.toSpanBack()
}

// These limits bound a chunk of DeleteAll, which is one transaction.
const (
	deleteChunkDocuments = 1000
	deleteChunkBytes     = 8 << 20
)

// DeleteAll deletes in chunks, so that other writers can write in between.
func (t *table) DeleteAll(ctx context.Context, where docstore.Where) (int64, error) {
	if err := t.spec.CheckDeleteAll(); err != nil {
		return 0, err
	}
	ix, bounds, err := t.resolve(docstore.Scan{Where: where, Limit: 1})
	if err != nil {
		return 0, err
	}
	var total int64
	for {
		deleted, more := 0, false
		err := t.engine.write(ctx, t.cost(deleteChunkDocuments, deleteChunkBytes), func(tx *bolt.Tx) (bool, error) {
			var doomed []prepared
			var err error
			if doomed, more, err = t.chunk(tx, ix, bounds); err != nil {
				return false, err
			}
			w := t.writer(tx)
			for _, p := range doomed {
				if err := w.remove(p); err != nil {
					return true, err
				}
			}
			deleted = len(doomed)
			return deleted > 0, nil
		})
		if err != nil {
			return total, err
		}
		total += int64(deleted)
		if !more {
			return total, nil
		}
	}
}

// chunk returns the first documents within bounds and the limits of a chunk, and whether there are
// more.
func (t *table) chunk(tx *bolt.Tx, ix *index, bounds docstore.Bounds) (doomed []prepared, more bool, err error) {
	size := 0
	for w := t.walk(tx, ix, bounds); w.valid(); w.next() {
		if len(doomed) == deleteChunkDocuments || size > deleteChunkBytes {
			return doomed, true, nil
		}
		found, err := w.document()
		if err != nil {
			return nil, false, err
		}
		p, err := t.place(found)
		if err != nil {
			return nil, false, err
		}
		doomed = append(doomed, p)
		size += len(found.bson)
	}
	return doomed, false, nil
}
