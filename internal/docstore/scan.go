package docstore

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Consistency says which writes a read shows.
type Consistency time.Duration

const (
	// Present shows the latest state. It may miss a write while the servers do not agree which of
	// them is the primary, and show one that their failure undoes.
	Present Consistency = 0
	// Durable shows only what no later failure of a server undoes. It may miss what was written a
	// moment ago, and show what was deleted then.
	Durable Consistency = -1
	// Linearizable shows every write that was acknowledged before the read, and whatever it shows
	// is durable. It takes about as long as a write.
	Linearizable Consistency = -2
	// Listed is Durable, and shows at least what Changes has listed in this process. Followers
	// read this way.
	Listed Consistency = -3
)

// Recent is Present, and shows every write that was durable longer than staleness ago. While the
// servers do not agree which of them is the primary, the read fails. It is mostly as fast as
// Present. It serves only a document by its id, and if staleness is 0, it is Linearizable.
func Recent(staleness time.Duration) Consistency {
	if staleness <= 0 {
		return Linearizable
	}
	return Consistency(staleness)
}

// Staleness returns that of Recent, and 0 for any other consistency.
func (c Consistency) Staleness() time.Duration { return max(0, time.Duration(c)) }

// Scan asks an engine for documents in the order of an index.
type Scan struct {
	Where
	// After, unless nil, is the position after which the scan starts: the values of the
	// fields that Where does not fix, and _id. It may lie outside the ranges. In a unique
	// index, a document that differs from it in _id only may be returned or not.
	After []Value
	// Descending reverses the order.
	Descending bool
	// Limit is the maximum number of documents returned, 1 or more.
	Limit int
	// MaxBytes ends the scan before the document that would exceed this size in total; the
	// first document is always returned. 0 means no limit.
	MaxBytes int
	// Fields, unless nil, are the top-level fields that the caller reads, a set: neither order nor
	// repetition matters. Others may be missing from the documents.
	Fields []string
	// WithTombstones includes tombstones, in an index that has them: that of _id, or a unique one.
	WithTombstones bool
	// As says which writes the scan shows.
	As Consistency
	// Loan, unless nil, lets the engine lend the documents. Otherwise the caller owns them.
	Loan *Loan
}

// Verb names the kind of read, for metrics and hooks.
func (s Scan) Verb() string {
	_, isOne := s.OneID()
	switch {
	case !s.IsIDs():
		return "scan"
	case s.As == Durable, s.As == Listed:
		return "get_durable"
	case s.As == Linearizable:
		return "get_linearizable"
	case s.As.Staleness() > 0:
		return "get_recent"
	case isOne:
		return "get"
	}
	return "get_many"
}

// Loan lets an engine lend the documents of a scan instead of copying them. They are good until
// End, and so is the slice that holds them. A loan serves one goroutine, which calls no store
// before it ends.
type Loan struct {
	// isLent: the documents are the engine's. Otherwise they are the caller's.
	isLent bool
	room   []bson.Raw
	ends   []func()
}

var loans = sync.Pool{New: func() any { return new(Loan) }}

func newLoan() *Loan { return loans.Get().(*Loan) }

// Room returns an empty slice for documents, which may grow beyond its capacity. Each scan of the
// loan has its own.
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
	// mostRoom is how many documents a loan that waits for its next scan has room for. append
	// grows to that for a page of 1,000.
	mostRoom = 1280
	// sharedTextBytes bounds an allocation that texts share, so that a text which is kept keeps
	// few others.
	sharedTextBytes = 8 << 10
	// firstTextBytes bounds the first one, whose documents show how much of them is text.
	firstTextBytes = 512
)

// Bounds is a selection in the form that engines serve.
type Bounds struct {
	// Equal are the values of the first fields.
	Equal []Value
	// Rest are the other fields, with _id last.
	Rest []Field
	// Spans are the ranges of the first field of Rest: ascending, apart from each other, and
	// not wholly before After in the order of the scan. Nil means all values.
	Spans []Span
	// After is Scan.After, unless it lies before all spans in the order of the scan.
	After []Value
	// Descending is that of the scan.
	Descending bool
	// WithTombstones is that of the scan.
	WithTombstones bool
	// Empty reports that no document can match.
	Empty bool
}

// First returns the span that the scan reads first. There is one.
func (b Bounds) First() Span {
	if b.Descending {
		return b.Spans[len(b.Spans)-1]
	}
	return b.Spans[0]
}

func (s Span) endsBelow(value Value) bool { return !s.To.IsNone() && s.To.Compare(value) < 0 }

func (s Span) beginsAbove(value Value) bool { return !s.From.IsNone() && s.From.Compare(value) > 0 }

func checkKinds(fields []Field, values []Value) error {
	if len(values) > len(fields) {
		return fmt.Errorf("docstore: got %d values for %d fields", len(values), len(fields))
	}
	for i, value := range values {
		if value.kind != fields[i].Kind {
			return fmt.Errorf("docstore: field %q cannot hold the value %v", fields[i].Name, value)
		}
	}
	return nil
}

// apart returns the spans in ascending order, without empty ones. It joins those that
// overlap.
func apart(spans []Span) []Span {
	sorted := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool {
		return !s.From.IsNone() && !s.To.IsNone() && s.From.Compare(s.To) > 0
	})
	slices.SortFunc(sorted, func(a, b Span) int { return a.From.Compare(b.From) }) // none sorts first
	joined := sorted[:0]
	for _, span := range sorted {
		last := len(joined) - 1
		if last < 0 || !joined[last].To.IsNone() && joined[last].To.Compare(span.From) < 0 {
			joined = append(joined, span)
			continue
		}
		if span.To.IsNone() || !joined[last].To.IsNone() && joined[last].To.Compare(span.To) < 0 {
			joined[last].To = span.To
		}
	}
	return joined
}

// Resolve checks a selection against the sort fields of its index.
func (w Where) Resolve(fields []Field) (Bounds, error) {
	if err := checkKinds(fields, w.equal); err != nil {
		return Bounds{}, err
	}
	b := Bounds{Equal: w.equal, Rest: fields[len(w.equal):]}
	if len(w.spans) == 0 {
		b.Empty = w.isIDs && len(w.equal) == 0
		return b, nil
	}
	if len(b.Rest) == 0 {
		return Bounds{}, fmt.Errorf("docstore: index %q has no field for a range", w.index)
	}
	for _, span := range w.spans {
		if (w.isIDs || !span.From.IsNone()) && span.From.kind != b.Rest[0].Kind ||
			!span.To.IsNone() && span.To.kind != b.Rest[0].Kind {
			return Bounds{}, fmt.Errorf("docstore: field %q cannot hold a bound of %v to %v", b.Rest[0].Name,
				span.From, span.To)
		}
	}
	b.Spans = apart(w.spans)
	b.Empty = len(b.Spans) == 0
	if len(b.Spans) == 1 && b.Spans[0] == (Span{}) {
		b.Spans = nil
	}
	return b, nil
}

// Resolve checks the selection of a scan against the sort fields of its index.
func (s Scan) Resolve(fields []Field) (Bounds, error) {
	if s.Limit < 1 {
		return Bounds{}, fmt.Errorf("docstore: the limit is %d; it must be 1 or more", s.Limit)
	}
	if _, isOne := s.OneID(); !isOne && s.As.Staleness() > 0 {
		return Bounds{}, errors.New("docstore: only a document by its id can be read as recent")
	}
	b, err := s.Where.Resolve(fields)
	b.Descending, b.WithTombstones = s.Descending, s.WithTombstones
	if err != nil || s.After == nil {
		return b, err
	}
	if err := checkKinds(b.Rest, s.After); err != nil {
		return Bounds{}, err
	}
	if len(s.After) != len(b.Rest) {
		return Bounds{}, errors.New("docstore: After must have a value for each field that Where does not fix")
	}
	b.After = s.After
	b.Empty = b.Empty || len(b.Rest) == 0
	if b.Spans != nil {
		isBehind, isBefore := Span.endsBelow, Span.beginsAbove
		if s.Descending {
			isBehind, isBefore = isBefore, isBehind
		}
		b.Spans = slices.DeleteFunc(b.Spans, func(span Span) bool { return isBehind(span, s.After[0]) })
		b.Empty = b.Empty || len(b.Spans) == 0
		if !b.Empty && isBefore(b.First(), s.After[0]) {
			b.After = nil // the position lies before the range
		}
	}
	return b, nil
}
