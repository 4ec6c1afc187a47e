// Package reply writes the values of a reply as XML or JSON, whole or in pieces. It depends on
// neither the operations nor HTTP.
package reply

import (
	"math"
	"strconv"
	"time"
)

// Writer writes the document of one reply, in the order of the calls. Every element has a name;
// items of a list also have a position, from 1. Names come from the edge's own code and need no
// escaping. A Writer is not safe for concurrent use.
//
// The two writers are XML and JSON. Both append to a Document, so that they allocate nothing
// once its buffer has grown.
type Writer interface {
	// ContentType is the Content-Type of the whole document.
	ContentType() string

	// Start and Finish enclose the document.
	Start()
	Finish()
	// Begin and End enclose an element's children.
	Begin(name string)
	End(name string)
	// BeginList and EndList enclose the items of a list. BeginItem and EndItem enclose the
	// children of one item.
	BeginList(name string)
	BeginItem(name string, position int)
	EndItem(name string, position int)
	EndList(name string)

	Text(name, value string)
	Integer(name string, value int64)
	// ID writes an identifier of content, a photo or a comment. If the document shows old ones,
	// it writes that of what was moved in from an old service: oldID, or if that is empty, the one
	// that the identifier tells.
	ID(name string, value int64, oldID string)
	Decimal(name string, value float64)
	// TwoDigits writes a month or a day. XML pads it with a zero (rules 4.5 and 8.11); JSON
	// writes a number.
	TwoDigits(name string, value int)
	// Moment writes YYYY-MM-DD HH:MM:SS in the document's zone.
	Moment(name string, at time.Time)
	// Day writes the children year, month and day, in the document's zone.
	Day(name string, at time.Time)
}

// Document is the buffer that a Writer appends to.
type Document struct {
	// Bytes are the bytes that were written and not sent yet.
	Bytes []byte
	// Zone is the time zone of all times in the document.
	Zone *time.Location
	// OldID, unless nil, makes ID write the old identifiers of what was moved in. It returns the
	// one that an identifier tells.
	OldID func(id int64) (old int64, ok bool)
}

// writeID is Writer.ID with the methods of a writer.
func (d *Document) writeID(out Writer, name string, value int64, oldID string) {
	if d.OldID != nil {
		if oldID != "" {
			out.Text(name, oldID)
			return
		}
		if old, ok := d.OldID(value); ok {
			value = old
		}
	}
	out.Integer(name, value)
}

// appendMoment writes a moment as time.DateTime does, in half the time for the usual years.
func (d *Document) appendMoment(at time.Time) {
	at = at.In(d.Zone)
	year, month, day := at.Date()
	if year < 0 || year > 9999 {
		d.Bytes = at.AppendFormat(d.Bytes, time.DateTime)
		return
	}
	hour, minute, second := at.Clock()
	b := appendTwoDigits(d.Bytes, year/100)
	b = append(appendTwoDigits(b, year%100), '-')
	b = append(appendTwoDigits(b, int(month)), '-')
	b = append(appendTwoDigits(b, day), ' ')
	b = append(appendTwoDigits(b, hour), ':')
	b = append(appendTwoDigits(b, minute), ':')
	d.Bytes = appendTwoDigits(b, second)
}

// appendTwoDigits appends a number from 0 to 99.
func appendTwoDigits(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// Date writes a calendar date.
func Date(out Writer, name string, year, month, day int) {
	out.Begin(name)
	out.Integer("year", int64(year))
	out.TwoDigits("month", month)
	out.TwoDigits("day", day)
	out.End(name)
}

// StartSuccess starts a reply with the status SUCCESS; Finish ends it.
func StartSuccess(out Writer) {
	out.Start()
	out.Text("status", "SUCCESS")
}

// WriteFailure writes a whole reply with the status FAILED (rule 10.1).
func WriteFailure(out Writer, info string) {
	out.Start()
	out.Text("status", "FAILED")
	out.Text("info", info)
	out.Finish()
}

// Reply is a reply that is being written: its document, and the Sink that sends it. It is not
// safe for concurrent use.
type Reply struct {
	Writer
	Sink Sink
}

// Sink sends a document while it is written.
type Sink interface {
	// ItemDone may send the gathered bytes. It is called between two items of a list. An error
	// ends the reply.
	ItemDone() error
	// BatchDone sends the gathered bytes if the reply is already sent in pieces.
	BatchDone() error
	// Wait says that the reply waits for more until Resume. In between, another goroutine may
	// send the gathered bytes.
	Wait()
	// Resume says that the wait is over.
	Resume()
}

// List describes how a list of a reply is written.
type List[Item any] struct {
	// Name is the name of the list. Item is the name of its items, before their position.
	Name, Item string
	WriteItem  func(Writer, Item)
}

// Write writes items whose positions follow position, and returns the last position.
func (l List[Item]) Write(out *Reply, items []Item, position int) (int, error) {
	for _, item := range items {
		position++
		out.BeginItem(l.Item, position)
		l.WriteItem(out.Writer, item)
		out.EndItem(l.Item, position)
		if err := out.Sink.ItemDone(); err != nil {
			return position, err
		}
	}
	return position, out.Sink.BatchDone()
}

// WritePages writes an optional list: the given items, then pages from next until one has no
// page token.
func (l List[Item]) WritePages(
	out *Reply, items []Item, token string, next func(token string) (items []Item, nextToken string, err error),
) error {
	for len(items) == 0 { // a page may be short
		if token == "" {
			return nil
		}
		var err error
		if items, token, err = next(token); err != nil {
			return err
		}
	}
	out.BeginList(l.Name)
	position, err := l.Write(out, items, 0)
	for err == nil && token != "" {
		out.Sink.Wait()
		items, token, err = next(token)
		out.Sink.Resume()
		if err == nil {
			position, err = l.Write(out, items, position)
		}
	}
	out.EndList(l.Name)
	return err
}

// appendDecimal appends the shortest plain decimal that reads back the same. It writes 0 for NaN
// and infinities, which no service sends.
func appendDecimal(b []byte, value float64) []byte {
	if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return append(b, '0')
	}
	return strconv.AppendFloat(b, value, 'f', -1, 64)
}
