package docstore

// WithIDs selects the documents that have one of the ids. On a sharded cluster only the shards of the ids
// are asked.
func WithIDs(ids ...Value) Where {
	w := Where{index: IDIndex, isIDs: true}
	if len(ids) == 1 {
		w.equal = ids
		return w
	}
	w.spans = make([]Span, len(ids))
	for i, id := range ids {
		w.spans[i] = Span{From: id, To: id}
	}
	return w
}

// IsIDs reports whether a selection is one of WithIDs.
func (w Where) IsIDs() bool { return w.isIDs }

// OneID returns the id of a selection that is only an id.
func (w Where) OneID() (id Value, isOne bool) {
	if !w.isIDs || len(w.equal) != 1 {
		return Value{}, false
	}
	return w.equal[0], true
}

// ValuesOf returns keys as Values.
func ValuesOf[K Key](keys []K) []Value {
	values := make([]Value, len(keys))
	for i, key := range keys {
		values[i] = ValueOf(key)
	}
	return values
}
