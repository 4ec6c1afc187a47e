package docstore

import (
	"sync"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
)

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
