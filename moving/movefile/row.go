package movefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
)

// RowOptions say what a RowWriter may guess.
type RowOptions struct {
	// HasEntities says that the old service stored texts as HTML, such as &amp;.
	HasEntities bool
	// HasBig5 says that it stored Big5 in columns of Latin-1.
	HasBig5 bool
}

// RowWriter writes the rows of an old database as records. Columns have the names of the fields, and kind; vote.description
// names a field within the vote. Rows of the kind choice, with entry_id, description and votes, come before
// their entries. A row with one column is a JSON object with these names.
type RowWriter struct {
	out     *bytes.Buffer
	to      io.Writer
	options RowOptions
	plans   map[Kind]*plan
	choices map[string][]json.RawMessage
	end     End
	// Repairs counts what was repaired.
	Repairs map[Repair]int64
}

// kindChoice is the kind of the rows of choices, which become a part of their entries.
const kindChoice Kind = "choice"

// maxRowChoices bounds the choices, and with them the memory: about 200 bytes for each.
const maxRowChoices = 5_000_000

// NewRowWriter returns a RowWriter.
func NewRowWriter(to io.Writer, options RowOptions) *RowWriter {
	w := &RowWriter{
		out: &bytes.Buffer{}, to: to, options: options, plans: plans(), choices: map[string][]json.RawMessage{}, Repairs: map[Repair]int64{},
	}
	w.plans[kindChoice] = w.choicePlan()
	return w
}

// choicePlan returns the plan of a row of a choice: the fields of a choice, and its entry.
func (w *RowWriter) choicePlan() *plan {
	vote := w.plans[KindEntry].field("vote").object
	choice := *vote.field("choices").object
	choice.fields = append(slices.Clone(choice.fields), *w.plans[KindBallot].field("entry_id"))
	return &choice
}

// field returns a field by its name, or nil.
func (p *plan) field(name string) *field {
	for i := range p.fields {
		if p.fields[i].name == name {
			return &p.fields[i]
		}
	}
	return nil
}

// Column is a column of a row.
type Column struct {
	Name string
	// HasZone says that its times have a zone.
	HasZone bool
	// Value is nil, a []byte, a string, a bool, an int64, a float64 or a time.Time.
	Value any
}

// Write writes a row.
func (w *RowWriter) Write(row []Column) error {
	if len(row) == 1 {
		var err error
		if row, err = columnsOf(row[0]); err != nil {
			return err
		}
	}
	n := slices.IndexFunc(row, func(c Column) bool { return c.Name == "kind" })
	if n < 0 {
		return fmt.Errorf("the row has no kind; want a column such as 'album' as kind, or one column with a JSON object")
	}
	kind := Kind(bytesOf(row[n].Value))
	p := w.plans[kind]
	if p == nil || kind == KindEnd {
		return fmt.Errorf("%q is no kind of a row; want one of %v or %s", kind, Kinds()[:len(Kinds())-1], kindChoice)
	}
	fields := map[string]json.RawMessage{}
	vote := map[string]json.RawMessage{}
	for i, c := range row {
		into, of, name := fields, p, c.Name
		if rest, isNested := strings.CutPrefix(name, "vote."); isNested && kind == KindEntry {
			into, of, name = vote, p.field("vote").object, rest
		}
		f := of.field(name)
		switch {
		case i == n || c.Value == nil:
			continue
		case f == nil:
			return fmt.Errorf("the column %s is no field of the kind %s; want some of %s", c.Name, kind, of.names())
		}
		if value := w.value(f, c); value != nil {
			into[name] = value
		}
	}
	if kind == kindChoice {
		return w.keep(fields)
	}
	if vote["description"] != nil {
		if choices := w.choices[string(fields["id"])]; choices != nil {
			vote["choices"] = marshalled(choices)
		}
		fields["vote"] = marshalled(vote)
	}
	*w.end.number(kind)++
	return w.line(kind, p, fields)
}

// keep keeps a choice for its entry.
func (w *RowWriter) keep(fields map[string]json.RawMessage) error {
	entry := string(fields["entry_id"])
	delete(fields, "entry_id")
	w.choices[entry] = append(w.choices[entry], marshalled(fields))
	if *w.end.number(KindEnd)++; *w.end.number(KindEnd) > maxRowChoices {
		return fmt.Errorf("more than %d choices", maxRowChoices)
	}
	return nil
}

// line writes the fields in the order of the format.
func (w *RowWriter) line(kind Kind, p *plan, fields map[string]json.RawMessage) error {
	w.out.Reset()
	fmt.Fprintf(w.out, `{"kind":%q`, kind)
	for _, f := range p.fields {
		if value := fields[f.name]; value != nil {
			fmt.Fprintf(w.out, ",%q:%s", f.name, value)
		}
	}
	w.out.WriteString("}\n")
	_, err := w.to.Write(w.out.Bytes())
	return err
}

// End writes how many records were written, and returns it.
func (w *RowWriter) End() (map[Kind]int64, error) {
	return w.end.Counts(), NewWriter(w.to).Write(&w.end)
}

// columnsOf returns the fields of a JSON object as columns.
func columnsOf(c Column) ([]Column, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytesOf(c.Value)))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, fmt.Errorf("the only column of a row is not a JSON object: %w", err)
	}
	var row []Column
	for name, value := range fields {
		switch given := value.(type) {
		case json.Number:
			value = given.String()
		case map[string]any, []any:
			value = []byte(marshalled(given))
		}
		row = append(row, Column{Name: name, Value: value})
	}
	return row, nil
}

// marshalled returns a value as JSON. It has come from JSON, or is a text or a finite number.
func marshalled(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// bytesOf returns a value as databases print it.
func bytesOf(value any) []byte {
	switch value := value.(type) {
	case []byte:
		return value
	case string:
		return []byte(value)
	case bool:
		if value {
			return []byte("1")
		}
		return []byte("0")
	}
	return fmt.Append(nil, value)
}

// value returns the value of a field as JSON, or nil for none. What a file must not have stays as it is, for move
// check to report.
func (w *RowWriter) value(f *field, c Column) json.RawMessage {
	if at, isTime := c.Value.(time.Time); isTime {
		switch {
		case f.rule.form == formDay:
			return marshalled(at.Format(time.DateOnly))
		case c.HasZone:
			return marshalled(at.UTC().Format(time.RFC3339Nano))
		}
		return marshalled(at.Format(time.DateTime))
	}
	switch f.rule.form {
	case formObject, formList:
		text, line := w.text(bytesOf(c.Value)), bytes.Buffer{}
		if json.Compact(&line, []byte(text)) != nil {
			return marshalled(text)
		}
		return line.Bytes()
	case formText:
		return marshalled(w.text(bytesOf(c.Value)))
	}
	text := string(bytesOf(c.Value))
	trimmed := strings.TrimSpace(text)
	if trimmed != text {
		w.Repairs[Blanks]++
	}
	switch f.rule.form {
	case formMoment, formDay:
		if strings.HasPrefix(trimmed, "0000-00-00") {
			w.Repairs[ZeroTimes]++
			return nil
		}
		if day, _, isLonger := strings.Cut(trimmed, " "); isLonger && f.rule.form == formDay {
			trimmed = day
		}
		if seconds, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
			return marshalled(seconds)
		}
		return marshalled(trimmed)
	case formID:
		if number, err := strconv.ParseInt(trimmed, 10, 64); err == nil && number > 0 && strconv.FormatInt(number, 10) == trimmed {
			return marshalled(number)
		}
		return marshalled(w.text([]byte(trimmed)))
	}
	if number, err := strconv.ParseInt(trimmed, 10, 64); err == nil {
		return marshalled(number)
	}
	if number, err := strconv.ParseFloat(trimmed, 64); err == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
		return marshalled(number)
	}
	return marshalled(w.text([]byte(trimmed)))
}

// Repair names what a RowWriter repairs.
type Repair string

// The repairs.
const (
	// Doubled: UTF-8 in a column of Latin-1, which the database has converted to UTF-8 once more.
	Doubled Repair = "UTF-8 stored as Latin-1"
	// Big5: bytes in Big5, beside UTF-8.
	Big5 Repair = "Big5"
	// Latin1: bytes in Windows-1252, which contains Latin-1.
	Latin1 Repair = "Latin-1"
	// Entities: entities of HTML.
	Entities Repair = "entities"
	// Blanks: blanks around a number, a time or an identifier.
	Blanks Repair = "blanks"
	// ZeroTimes: 0000-00-00, which becomes no time.
	ZeroTimes Repair = "0000-00-00"
)

// Repairs returns all repairs.
func Repairs() []Repair { return []Repair{Doubled, Big5, Latin1, Entities, Blanks, ZeroTimes} }

// text repairs the charset of a text, and entities. Each text is looked at alone: old tables have several charsets.
func (w *RowWriter) text(value []byte) string {
	repaired := w.charset(value)
	if w.options.HasEntities {
		if plain := html.UnescapeString(repaired); plain != repaired {
			w.Repairs[Entities]++
			repaired = plain
		}
	}
	return repaired
}

func (w *RowWriter) charset(value []byte) string {
	if !utf8.Valid(value) {
		if text, isBig5 := fromBig5(value); isBig5 {
			w.Repairs[Big5]++
			return text
		}
		w.Repairs[Latin1]++
		return fromLatin1(value)
	}
	text := string(value)
	raw, isLatin1 := toLatin1(text)
	switch {
	case !isLatin1:
	case utf8.Valid(raw):
		w.Repairs[Doubled]++
		return string(raw)
	case w.options.HasBig5:
		if fixed, isBig5 := fromBig5(raw); isBig5 {
			w.Repairs[Big5]++
			return fixed
		}
	}
	return text
}

// fromBig5 returns a text from Big5, and whether all of it is.
func fromBig5(raw []byte) (string, bool) {
	text, err := traditionalchinese.Big5.NewDecoder().Bytes(raw)
	return string(text), err == nil && !strings.ContainsRune(string(text), utf8.RuneError)
}

// fromLatin1 returns a text from Windows-1252. Bytes that it does not have are control characters, as in Latin-1 and in
// MySQL.
func fromLatin1(raw []byte) string {
	var text strings.Builder
	for _, b := range raw {
		r := charmap.Windows1252.DecodeByte(b)
		if r == utf8.RuneError {
			r = rune(b)
		}
		text.WriteRune(r)
	}
	return text.String()
}

// toLatin1 returns the bytes that a text was before it was taken for Windows-1252, or for Latin-1. It reports false if
// it was not, or if all are ASCII.
func toLatin1(text string) (raw []byte, ok bool) {
	isASCII := true
	for _, r := range text {
		b, isThere := charmap.Windows1252.EncodeRune(r)
		switch {
		case isThere:
		case r >= 0x80 && r < 0xA0:
			b = byte(r)
		default:
			return nil, false
		}
		isASCII = isASCII && b < utf8.RuneSelf
		raw = append(raw, b)
	}
	return raw, !isASCII
}
