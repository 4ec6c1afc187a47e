package embedded

import (
	"bytes"

	"github.com/waybook/waybook/internal/docstore"
)

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

// beginBack sets the beginning of the present span and returns what begins the last keys that it may
// have.
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
	for len(behind) > 0 && behind[len(behind)-1] == 0xff {
		behind = behind[:len(behind)-1]
	}
	if len(behind) == 0 {
		w.key, w.value = w.entries.Last()
		w.toSpanBack()
		return
	}
	behind[len(behind)-1]++
	w.seekBefore(behind)
}

// seekBefore moves to the last entry of the walk that is before a key.
func (w *walk) seekBefore(key []byte) {
	if found, _ := w.entries.Seek(key); found == nil {
		w.key, w.value = w.entries.Last()
	} else {
		w.key, w.value = w.entries.Prev()
	}
	w.toSpanBack()
}

// toSpanBack moves to the next span while the entry is before the present one. It ends the walk
// before the first span or the prefix.
func (w *walk) toSpanBack() {
	if !bytes.HasPrefix(w.key, w.prefix) || w.key == nil {
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
