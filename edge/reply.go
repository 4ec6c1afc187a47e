package edge

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// reply is the document of one answer being written, in the order of the calls.
// Every element has a name; a list's items are told apart by their position,
// from 1. Names come from this package and need no escaping.
//
// There are two: xmlReply and jsonReply. Both append to one document, so that
// writing costs no allocation once its buffer has grown.
type reply interface {
	// contentType is the Content-Type of the whole document.
	contentType() string

	// start and finish enclose the document.
	start()
	finish()
	// begin and end enclose an element's children.
	begin(name string)
	end(name string)
	// beginList and endList enclose items, beginItem and endItem the children of one.
	beginList(name string)
	beginItem(name string, position int)
	endItem(name string, position int)
	endList(name string)

	text(name, value string)
	integer(name string, value int64)
	decimal(name string, value float64)
	// twoDigits writes a month or a day, zero-padded where numbers are text (contract 2.2).
	twoDigits(name string, value int)
	// moment writes YYYY-MM-DD HH:MM:SS in the document's zone.
	moment(name string, at *timestamppb.Timestamp)
	// day writes the children year, month and day, in the document's zone.
	day(name string, at *timestamppb.Timestamp)
}

// document is what a reply appends to.
type document struct {
	bytes []byte
	zone  *time.Location
}

func (d *document) appendMoment(at *timestamppb.Timestamp) {
	d.bytes = at.AsTime().In(d.zone).AppendFormat(d.bytes, time.DateTime)
}

// writeDate writes a date of the calendar.
func writeDate(out reply, name string, year, month, day int) {
	out.begin(name)
	out.integer("year", int64(year))
	out.twoDigits("month", month)
	out.twoDigits("day", day)
	out.end(name)
}

// writeSuccess starts a reply that says SUCCESS; finish ends it.
func writeSuccess(out reply) {
	out.start()
	out.text("status", "SUCCESS")
}

// writeFailure writes a whole reply that says FAILED (contract 7.1).
func writeFailure(out reply, info string) {
	out.start()
	out.text("status", "FAILED")
	out.text("info", info)
	out.finish()
}
