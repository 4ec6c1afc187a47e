package docstore

import (
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Index declares an index. Documents sort by the fields in their order and, where all
// of them are equal, by _id. Every document must have every indexed field, unless
// the index is sparse.
type Index struct {
	// Name is the index's name, unique in the collection.
	Name string
	// Fields are one or more top-level fields.
	Fields []Field
	// Unique refuses a second document with equal fields. In a collection sharded ByPlace, callers
	// store documents with equal fields in one place: a cluster refuses a second one only there.
	Unique bool
	// Walked lets selections in a unique index of a collection sharded ByPlace read the documents
	// of all places. MongoDB needs a second index for that.
	Walked bool
	// Sparse leaves out the documents that lack the index's field, its only one. Few documents may
	// have it: MongoDB sorts those of a selection.
	Sparse bool
}

// Omits reports whether the index leaves out a document.
func (i Index) Omits(document bson.Raw, isTombstone bool) bool {
	if !i.Sparse {
		return isTombstone && !i.Unique
	}
	body, ok := elementsOf(document)
	_, isThere := lookup(body, i.Fields[0].Name)
	return ok && !isThere
}

// Index1 is an index of one field. Its methods select documents by values of the right
// type.
type Index1[A Key] struct {
	// Name is the index's name. A is the field's name.
	Name, A                string
	Unique, Walked, Sparse bool
}

// Index2 is an index of two fields.
type Index2[A, B Key] struct {
	Name, A, B     string
	Unique, Walked bool
}

// Index3 is an index of three fields.
type Index3[A, B, C Key] struct {
	Name, A, B, C  string
	Unique, Walked bool
}

// Declare returns the index's declaration for a Spec.
func (i Index1[A]) Declare() Index {
	return Index{Name: i.Name, Unique: i.Unique, Walked: i.Walked, Sparse: i.Sparse, Fields: []Field{fieldOf[A](i.A)}}
}

// Declare returns the index's declaration for a Spec.
func (i Index2[A, B]) Declare() Index {
	return Index{Name: i.Name, Unique: i.Unique, Walked: i.Walked, Fields: []Field{fieldOf[A](i.A), fieldOf[B](i.B)}}
}

// Declare returns the index's declaration for a Spec.
func (i Index3[A, B, C]) Declare() Index {
	return Index{Name: i.Name, Unique: i.Unique, Walked: i.Walked,
		Fields: []Field{fieldOf[A](i.A), fieldOf[B](i.B), fieldOf[C](i.C)}}
}

func fieldOf[K Key](name string) Field {
	var zero K
	return Field{Name: name, Kind: ValueOf(zero).kind}
}

// All selects all documents; in a sparse index, those that have the field.
func (i Index1[A]) All() Where { return All(i.Name) }

// Is selects the documents with a value.
func (i Index1[A]) Is(a A) Where { return All(i.Name).And(ValueOf(a)) }

// In selects the documents with a value in one of the ranges.
func (i Index1[A]) In(first Span, more ...Span) Where {
	return All(i.Name).Within(append([]Span{first}, more...)...)
}

// All selects all documents.
func (i Index2[A, B]) All() Where { return All(i.Name) }

// First selects the documents with a value in the first field.
func (i Index2[A, B]) First(a A) Where { return All(i.Name).And(ValueOf(a)) }

// Is selects the documents with values in both fields.
func (i Index2[A, B]) Is(a A, b B) Where { return i.First(a).And(ValueOf(b)) }

// In selects the documents with a value in the first field, and one in the ranges in the
// second.
func (i Index2[A, B]) In(a A, first Span, more ...Span) Where {
	return i.First(a).Within(append([]Span{first}, more...)...)
}

// First selects the documents with a value in the first field.
func (i Index3[A, B, C]) First(a A) Where { return All(i.Name).And(ValueOf(a)) }

// Second selects the documents with values in the first two fields.
func (i Index3[A, B, C]) Second(a A, b B) Where { return i.First(a).And(ValueOf(b)) }

// Span is a range of values of an indexed field, which includes its bounds. A bound that is none
// does not limit. If From is above To, the range is empty.
type Span struct{ From, To Value }

// Between is the range from one value to another.
func Between[K Key](from, to K) Span { return Span{From: ValueOf(from), To: ValueOf(to)} }

// UpTo is the range of the values that are at most to.
func UpTo[K Key](to K) Span { return Span{To: ValueOf(to)} }

// Where selects documents by an index. The methods of Index1, Index2 and Index3 build it.
type Where struct {
	index string
	equal []Value
	spans []Span

	// at names the place, if isPlaced.
	at                     int64
	isPlaced, isEverywhere bool
	// isIDs says that equal is one id, or each span is one.
	isIDs bool
}

// All selects all documents, in the order of an index. The index may be IDIndex.
func All(index string) Where { return Where{index: index} }

// And narrows a selection to the documents with a value in the next field of the index.
func (w Where) And(value Value) Where {
	w.equal = append(w.equal[:len(w.equal):len(w.equal)], value)
	return w
}

// FromID narrows a selection, which fixes all fields of its index, to the documents whose
// integer id is at least id.
func (w Where) FromID(id int64) Where { return w.Within(Span{From: ValueOf(id)}) }

// Within narrows a selection to the documents with a value in one of the spans in the next
// field of the index. Without spans it does not narrow it.
func (w Where) Within(spans ...Span) Where {
	w.spans = spans
	return w
}

// Index is the name of the index.
func (w Where) Index() string { return w.index }

// At says that all documents of a selection are in the place that an id names. A selection that
// fixes a field of Spec.PlaceFields needs no At.
func (w Where) At(id int64) Where {
	w.at, w.isPlaced = id, true
	return w
}

// Everywhere says that the documents of a selection are on any shard. On a sharded cluster all
// of them are asked. A selection in a unique index may say so only if the index is Walked.
func (w Where) Everywhere() Where {
	w.isEverywhere = true
	return w
}

// IsEverywhere reports whether a selection may ask every shard.
func (w Where) IsEverywhere() bool { return w.isEverywhere }

// WithIDs selects the documents that have one of the ids. On a sharded cluster only the shards of
// the ids are asked.
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
