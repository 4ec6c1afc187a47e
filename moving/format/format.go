// Package format reads and writes the files in which an old service's data moves into Waybook:
// NDJSON, an object in each line. The objects are the records of waybook.movein.v1: its messages
// declare the fields, and the rules of the fields are the limits. docs/moving-in.md explains the
// files.
package format

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// MaxLineBytes bounds a line.
const MaxLineBytes = 16 << 20

// Kind says what a line is about, as its field kind says it: the name of a field of
// moveinv1.Record, or KindEnd.
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

// Line is the content of a line.
type Line struct {
	// Kind is empty if the line cannot be read.
	Kind Kind
	// Record is nil if the line cannot be read, or is of the kind end. A record with faults has
	// the fields that could be read.
	Record *moveinv1.Record
	// End has the number of records of each kind that the export wrote, if the kind is end.
	End map[Kind]int64
	// Faults are the faults of the line, at most 20. A record with a fault that was not repaired
	// must not be sent.
	Faults []Fault
}

// Fault is a fault of a line.
type Fault struct {
	// Field is the field, such as vote.choices[2].description; empty for the line as a whole.
	Field string `json:"field"`
	// Class is a word for counts, such as too-long.
	Class Class `json:"class"`
	// Value is the beginning of the field's value, as the file has it, but for passwords and
	// sessions.
	Value string `json:"value"`
	// Text says what is wrong and what to do.
	Text string `json:"text"`
	// Repair is the rule by which the record was mended; empty if it was not.
	Repair Repair `json:"repair"`
}

// IsMended reports whether a record with these faults may be sent.
func IsMended(faults []Fault) bool {
	return !slices.ContainsFunc(faults, func(f Fault) bool { return f.Repair == "" })
}

// Class is a kind of faults.
type Class string

// The classes.
const (
	Unreadable   Class = "unreadable"    // the line is no object of a known kind
	UnknownField Class = "unknown-field" // the kind does not have the field
	Missing      Class = "missing"       // a required field is absent
	WrongType    Class = "wrong-type"    // the value has another JSON type or form
	OutOfRange   Class = "out-of-range"  // a number, or the number of items
	TooLong      Class = "too-long"      // a text
	Blank        Class = "blank"         // a text is empty, or a name has no visible character
	Characters   Class = "characters"    // XML cannot carry a character of the text
	Charset      Class = "charset"       // the text is in another charset, or has entities; no fault without repairs
	Conflict     Class = "conflict"      // fields exclude each other, or need each other
)

// Decoder reads lines. It is safe for concurrent use.
type Decoder struct {
	// Zone is the time zone of times that name none.
	Zone *time.Location
	// Repair mends what a rule mends.
	Repair bool
}

// Kinds returns the kinds, in the order in which their records refer to each other.
func Kinds() (kinds []Kind) {
	fields := (*moveinv1.Record)(nil).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		kinds = append(kinds, Kind(fields.Get(i).Name()))
	}
	return append(kinds, KindEnd)
}

// contentOf returns the message of a record, with its plan; nil if the record is empty.
func contentOf(record *moveinv1.Record) (protoreflect.Message, *plan) {
	message := record.ProtoReflect()
	which := message.WhichOneof(message.Descriptor().Oneofs().Get(0))
	if which == nil {
		return nil, nil
	}
	return message.Get(which).Message(), plans()[Kind(which.Name())]
}

// Subject is what a record is about.
type Subject struct {
	// ID identifies the record for people: its identifier, or those of its parent and user.
	ID string
	// Parent and ParentID are the content that a photo, a comment, a ballot or a recommendation
	// belongs to.
	Parent   Kind
	ParentID string
	// UserField is the field that refers to a user, if it does, and UserID the user.
	UserField, UserID string
}

// SubjectOf returns what a record is about, which may be nil.
func SubjectOf(record *moveinv1.Record) (s Subject) {
	message, p := contentOf(record)
	if p == nil {
		return s
	}
	for _, f := range p.fields {
		if f.form != formID && f.form != formUser || !message.Has(f.FieldDescriptor) {
			continue
		}
		id := message.Get(f.FieldDescriptor)
		switch {
		case f.name == "id":
			s.ID = id.String()
		case f.parent != "":
			s.Parent, s.ParentID = f.parent, id.String()
		case f.form == formUser:
			s.UserField, s.UserID = f.name, id.String()
		}
	}
	s.ID = cmp.Or(s.ID, strings.TrimPrefix(s.ParentID+"/"+s.UserID, "/"))
	return s
}

// Complete sets the times that a mended record lacks: a required create_time to that of its
// parent, and the planned date of an entry to the day of its creation.
func (d Decoder) Complete(record *moveinv1.Record, parent time.Time) {
	message, p := contentOf(record)
	if p == nil {
		return
	}
	if created := p.byName["create_time"]; created != nil && created.required &&
		!message.Has(created.FieldDescriptor) {
		message.Set(created.FieldDescriptor, protoreflect.ValueOfMessage(timestamppb.New(parent).ProtoReflect()))
	}
	if entry := record.GetEntry(); entry != nil && entry.PostDate == nil {
		entry.PostDate = dateOf(entry.GetCreateTime().AsTime().In(d.Zone))
	}
}

// Encode appends a record as a line of a file. Fields that are not set are left out.
func Encode(line []byte, record *moveinv1.Record) []byte {
	content, p := contentOf(record)
	if p == nil {
		return line
	}
	return append(p.append(line, fmt.Sprintf(`{"kind":%q,`, p.kind), content), '\n')
}

// EncodeEnd appends the line that ends an export, with the number of records of each kind.
func EncodeEnd(line []byte, counts map[Kind]int64) []byte {
	line = append(line, `{"kind":"end",`...)
	for _, kind := range Kinds() {
		if count := counts[kind]; count != 0 {
			line = fmt.Appendf(line, "%q:%d,", kind, count)
		}
	}
	return append(bytes.TrimSuffix(line, []byte(",")), "}\n"...)
}

// append appends an object that begins with a text and has the fields that are set.
func (p *plan) append(line []byte, begin string, message protoreflect.Message) []byte {
	line = append(line, begin...)
	for _, f := range p.fields {
		if message.Has(f.FieldDescriptor) {
			line = fmt.Appendf(line, "%q:", f.name)
			line = append(f.append(line, message.Get(f.FieldDescriptor)), ',')
		}
	}
	return append(bytes.TrimSuffix(line, []byte(",")), '}')
}

func (f *field) append(line []byte, value protoreflect.Value) []byte {
	switch f.form {
	case formInteger, formUser:
		return strconv.AppendInt(line, value.Int(), 10)
	case formDecimal:
		return strconv.AppendFloat(line, value.Float(), 'g', -1, 64)
	case formWord:
		if number := int(value.Enum()); number > 0 && number < len(f.words) {
			return quoted(line, f.words[number])
		}
		return strconv.AppendInt(line, int64(value.Enum()), 10) // of a newer contract: no reader takes it for a word
	case formTime:
		at, _ := value.Message().Interface().(*timestamppb.Timestamp)
		return quoted(line, at.AsTime().Format(time.RFC3339Nano))
	case formDay:
		day, _ := value.Message().Interface().(*typev1.Date)
		return fmt.Appendf(line, `"%04d-%02d-%02d"`, day.GetYear(), day.GetMonth(), day.GetDay())
	case formObject:
		return f.object.append(line, "{", value.Message())
	case formList:
		line = append(line, '[')
		for i := range value.List().Len() {
			line = append(f.object.append(line, "{", value.List().Get(i).Message()), ',')
		}
		return append(bytes.TrimSuffix(line, []byte(",")), ']')
	case formID:
		// A number that every JSON reader keeps exactly is written as such.
		if id := value.String(); onlyHas(id, digits) && id[0] != '0' && len(id) <= 15 {
			return append(line, id...)
		}
	}
	return quoted(line, value.String())
}

// quoted appends a text as a JSON string.
func quoted(line []byte, value string) []byte {
	line, _ = jsontext.AppendQuote(line, value) // a text that is not UTF-8 gets U+FFFD
	return line
}
