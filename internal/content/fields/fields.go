// Package fields copies the fields that its owner gives content between the document and the
// messages that have them. A kind of content has one list of these fields. What a list lacks does
// not compile, or is lost, which a test of e2e/operations notices.
package fields

import (
	"github.com/waybook/waybook/internal/content/nearby"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// Messages are those that have the fields: of a reply, of the requests that create and change the
// content, and of a record that moves in. A copy is about one of them; the others are empty.
type Messages[Shown, Create, Update, Record any] struct {
	Shown  *Shown
	Create *Create
	Update *Update
	Record *Record
}

// List copies the fields of documents of type P. It may be used concurrently.
type List[P, S, C, U, R any] struct {
	each func(Copy, *P, Messages[S, C, U, R])
	none Messages[S, C, U, R]
}

// New returns a list. each names each field once, by a call of Value, Number, Message or Location.
func New[P, S, C, U, R any](each func(Copy, *P, Messages[S, C, U, R])) List[P, S, C, U, R] {
	return List[P, S, C, U, R]{each, Messages[S, C, U, R]{new(S), new(C), new(U), new(R)}}
}

// Show copies the fields of a document to a reply.
func (l List[P, S, C, U, R]) Show(document *P, to *S) {
	m := l.none
	m.Shown = to
	l.each(Copy{way: toReply}, document, m)
}

// Create copies the fields of a request to a new document. An optional one that is not set leaves
// the document's.
func (l List[P, S, C, U, R]) Create(document *P, from *C) {
	m := l.none
	m.Create = from
	l.each(Copy{way: fromCreate}, document, m)
}

// Change returns the values of the fields that a request sets, by their names in the store. The
// document is as it was; it may be empty if the request needs nothing of it.
func (l List[P, S, C, U, R]) Change(was *P, from *U) map[string]any {
	m, set := l.none, map[string]any{}
	m.Update = from
	l.each(Copy{fromUpdate, set}, was, m)
	return set
}

// Take copies the fields of a record to a new document, as Create does.
func (l List[P, S, C, U, R]) Take(document *P, from *R) {
	m := l.none
	m.Record = from
	l.each(Copy{way: fromRecord}, document, m)
}

// Record copies the fields of a document to a record, which must have its optional fields set.
func (l List[P, S, C, U, R]) Record(document *P, to *R) {
	m := l.none
	m.Record = to
	l.each(Copy{way: toRecord}, document, m)
}

type way int

const (
	toReply way = iota
	fromCreate
	fromUpdate
	fromRecord
	toRecord
)

// Copy says what to copy. Its functions take the name of a field, in contracts and in the store,
// and where the document and the messages have it. A nil pointer is a field that is not set.
type Copy struct {
	way way
	// set gets the values of a change.
	set map[string]any
}

// Value copies a field that has one type everywhere.
func Value[T any](c Copy, name string, document, shown, create, update, record *T) {
	switch {
	case c.way == toReply:
		*shown = *document
	case c.way == fromCreate && create != nil:
		*document = *create
	case c.way == fromUpdate && update != nil:
		c.set[name] = *update
	case c.way == fromRecord && record != nil:
		*document = *record
	case c.way == toRecord:
		*record = *document
	}
}

// Number copies a number, or a value of an enumeration. The contract has its bounds, so that it
// fits into each type.
func Number[D, M, R ~int32 | ~int64](c Copy, name string, document *D, shown, create, update *M, record *R) {
	switch {
	case c.way == toReply:
		*shown = M(*document)
	case c.way == fromCreate && create != nil:
		*document = D(*create)
	case c.way == fromUpdate && update != nil:
		c.set[name] = D(*update)
	case c.way == fromRecord && record != nil:
		*document = D(*record)
	case c.way == toRecord:
		*record = R(*document)
	}
}

// Message copies a field that is a message M in the contracts, and a D in the store.
func Message[D, M any](c Copy, name string, document *D, shown **M, create, update *M, record **M, read func(*M) D,
	write func(D) *M) {
	switch {
	case c.way == toReply:
		*shown = write(*document)
	case c.way == fromCreate:
		*document = read(create)
	case c.way == fromUpdate && update != nil:
		c.set[name] = read(update)
	case c.way == fromRecord:
		*document = read(*record)
	case c.way == toRecord:
		*record = write(*document)
	}
}

// Location copies the location of content, which the store has as lat, lng and cell, and a record
// as lat and lng.
func Location(c Copy, lat, lng *float64, cell *int64, shown **typev1.Location, create, update *typev1.Location,
	recordLat, recordLng **float64) {
	switch {
	case c.way == toReply:
		*shown = &typev1.Location{Lat: *lat, Lng: *lng}
	case c.way == fromCreate:
		*lat, *lng = create.GetLat(), create.GetLng()
		*cell = nearby.CellOf(*lat, *lng)
	case c.way == fromUpdate && update != nil:
		nearby.SetLocation(c.set, update.GetLat(), update.GetLng())
	case c.way == fromRecord:
		*lat, *lng = **recordLat, **recordLng
		*cell = nearby.CellOf(*lat, *lng)
	case c.way == toRecord:
		*recordLat, *recordLng = lat, lng
	}
}
