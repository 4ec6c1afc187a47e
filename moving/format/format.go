// Package format reads and writes the files in which an old service's data moves into Waybook: NDJSON, an object in
// each line. docs/moving-in.md explains them. The objects are the records of waybook.movein.v1.
package format

import (
	"time"

	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// MaxLineBytes bounds a line.
const MaxLineBytes = 1 << 20

// Kind says what a line is about, as its field kind says it: the name of a field of moveinv1.Record, or KindEnd.
type Kind string

// The kinds.
const (
	KindUser           Kind = "user"
	KindSession        Kind = "session"
	KindReward         Kind = "reward"
	KindAlbum          Kind = "album"
	KindEntry          Kind = "entry"
	KindLandmark       Kind = "landmark"
	KindPhoto          Kind = "photo"
	KindComment        Kind = "comment"
	KindBallot         Kind = "ballot"
	KindRecommendation Kind = "recommendation"
	KindEnd            Kind = "end"
)

// Line is what a line holds.
type Line struct {
	// Kind is empty if the line cannot be read.
	Kind Kind
	// Record is nil if the line cannot be read, or of the kind end. A record with faults has the fields that could
	// be read.
	Record *moveinv1.Record
	// End is how many records of each kind the export wrote, of the kind end.
	End map[Kind]int64
	// Faults are what is wrong. A record with a fault that was not repaired must not be sent.
	Faults []Fault
}

// Fault is something wrong with a line.
type Fault struct {
	// Class is a word for counts, such as too-long.
	Class Class
	// Field is the field, such as vote.choices[2].description; empty for the line as a whole. Value is the beginning of its
	// value, as the file has it. Text says what is wrong and what to do.
	Field, Value, Text string
	// Repair is the rule by which the record was mended; empty if it was not.
	Repair Repair
}

// Class is a kind of faults.
type Class string

// Repair is a rule by which a record is mended. docs/moving-in.md lists them.
type Repair string

// Options say how lines are read.
type Options struct {
	// Zone is the time zone of times that name none.
	Zone *time.Location
	// Repair says that what can be mended is.
	Repair bool
}

// Decoder reads lines. It is safe for concurrent use.
type Decoder struct{ options Options }

// NewDecoder returns a Decoder.
func NewDecoder(options Options) *Decoder { return &Decoder{options} }

// Decode reads a line.
func (d *Decoder) Decode(line []byte) Line { return Line{} }

// ID returns what identifies a record for people: the identifier, or that of its parent and user.
func ID(record *moveinv1.Record) string { return "" }

// Parent returns the content that a photo, a comment, a ballot or a recommendation is of, by its kind and old
// identifier; and "" for other records.
func Parent(record *moveinv1.Record) (Kind, string) { return "", "" }

// Complete gives a record with --repair the times that it lacks: those of its parent, and an entry the day of its
// creation.
func (d *Decoder) Complete(record *moveinv1.Record, parent time.Time) {}

// Encode appends a record as a line of a file.
func Encode(line []byte, record *moveinv1.Record) []byte { return line }
