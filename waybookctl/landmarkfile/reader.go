package landmarkfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
)

// Options say how a file is read.
type Options struct {
	// Format is the format of the file.
	Format Format
	// Fields name the fields of the records.
	Fields Fields
	// Category is the category of records that have none. If it is 0, such a record is an error.
	Category Category
	// Delimiter separates the fields of CSV: a comma, a semicolon or a tab. 0 selects the most
	// frequent one in the first line.
	Delimiter byte
}

// Read returns the places of a file one by one. After a *RecordError, the next place follows; any other
// error, such as a *FileError, is the last. The file can be read only once.
func Read(file io.Reader, options Options) iter.Seq2[Place, error] {
	in := newInput(file)
	return func(yield func(Place, error) bool) {
		err := in.begin()
		if err == nil {
			err = in.records(options, func(r record, at Position, err error) error {
				place := Place{}
				if err == nil {
					place, err = options.place(r, at)
				}
				if !yield(place, err) {
					return errEnough
				}
				return nil
			})
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Place{}, err)
		}
	}
}

// errEnough ends reading because its caller wants no more.
var errEnough = errors.New("no more places are wanted")

// take takes a record, or the *RecordError of one. Reading ends with its error.
type take func(r record, at Position, err error) error

// records reads all records of a file.
func (in *input) records(options Options, take take) error {
	switch options.Format {
	case NDJSON:
		return in.lines(take)
	case CSV:
		t := tableReader{input: in, delimiter: options.Delimiter, named: options.Fields.named()}
		return t.read(take)
	default:
		d := documentReader{input: in}
		return d.read(take)
	}
}

// named returns the fields that have an explicit name.
func (f Fields) named() (names []string) {
	for _, name := range []string{f.Key, f.Name, f.Lat, f.Lng, f.Category, f.Owner} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Format is the format of a file.
type Format string

// The formats. In every JSON format, a record is a GeoJSON Feature or an object with the fields
// themselves.
const (
	// GeoJSON is a FeatureCollection of Points (RFC 7946).
	GeoJSON Format = "geojson"
	// JSON is an array of objects.
	JSON Format = "json"
	// NDJSON has an object in each line.
	NDJSON Format = "ndjson"
	// CSV is a table with a header line (RFC 4180).
	CSV Format = "csv"
)

// Formats returns all formats.
func Formats() []Format { return []Format{GeoJSON, JSON, NDJSON, CSV} }

// extensions maps file extensions to formats.
var extensions = map[string]Format{
	".geojson": GeoJSON, ".json": JSON,
	".ndjson": NDJSON, ".jsonl": NDJSON, ".geojsonl": NDJSON, ".geojsons": NDJSON,
	".csv": CSV, ".tsv": CSV,
}

// FormatOf derives the format of a file from its name.
func FormatOf(path string) (Format, error) {
	if format, ok := extensions[strings.ToLower(filepath.Ext(path))]; ok {
		return format, nil
	}
	var names []string
	for _, format := range Formats() {
		names = append(names, string(format))
	}
	return "", fmt.Errorf("can't derive a format from the name %s; choose one of %s", quoted(filepath.Base(path)), strings.Join(names, ", "))
}

// MaxRecordBytes bounds one record of a file. The longest record that can be imported has about
// 2,000 bytes; the rest is room for fields that are not imported.
const MaxRecordBytes = 1 << 20

// readAhead is the size of the read buffer in bytes.
const readAhead = 64 << 10

// input reads the bytes of a file and tracks their position.
type input struct {
	reader *bufio.Reader
	// at is the position of the next byte.
	at Position
}

func newInput(r io.Reader) *input {
	return &input{reader: bufio.NewReaderSize(r, readAhead), at: Position{Line: 1, Column: 1}}
}

// foreign lists how files that are not UTF-8 text begin, and what to do with them.
var foreign = []struct {
	beginning, problem string
}{
	{"\xff\xfe", "the file is UTF-16; convert it to UTF-8, as with: iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "the file is UTF-16; convert it to UTF-8, as with: iconv -f UTF-16 -t UTF-8"},
	{"\x1f\x8b", "the file is compressed; unpack it first, as with gunzip"},
	{"PK\x03\x04", "the file is an archive or a spreadsheet; unpack it, or save it as CSV in UTF-8"},
}

// begin skips a byte order mark, and refuses a file that is not text.
func (in *input) begin() error {
	beginning, err := in.reader.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return in.failed(err)
	}
	for _, f := range foreign {
		if bytes.HasPrefix(beginning, []byte(f.beginning)) {
			return &FileError{At: in.at, Problem: f.problem}
		}
	}
	if bytes.HasPrefix(beginning, []byte("\ufeff")) {
		_, err = in.reader.Discard(len("\ufeff"))
		return err
	}
	return nil
}

// next reads a byte, or returns io.EOF.
func (in *input) next() (byte, error) {
	b, err := in.reader.ReadByte()
	if err != nil {
		return 0, in.failed(err)
	}
	in.at.pass(b)
	return b, nil
}

// peek returns the next byte without reading it, or io.EOF.
func (in *input) peek() (byte, error) {
	bytes, err := in.reader.Peek(1)
	if err != nil {
		return 0, in.failed(err)
	}
	return bytes[0], nil
}

// failed describes a read error; the end of the file stays io.EOF.
func (in *input) failed(err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("%s: the file can't be read: %w", in.at, err)
}

// tooLong is the error for a record that exceeds MaxRecordBytes.
func tooLong(at Position) error {
	return fileErrorf(at, "the record that begins here is longer than %d MiB; is a quote or a line break missing?", MaxRecordBytes>>20)
}

// cutOff is the error for a file that ends within a record.
func cutOff(at Position) error {
	return fileErrorf(at, "the file ends within the record that begins here; it may have been cut off: fetch or write it again")
}

// notUTF8 is the problem of a record that is not UTF-8.
const notUTF8 = "this is not valid UTF-8; convert the file, as with: iconv -f BIG5 -t UTF-8 (or from its actual encoding)"

// Position is the start of something in a file. No two records have the same position.
type Position struct {
	// Line counts from 1 and Column counts the line's bytes from 1.
	Line, Column int64
}

// farColumn is the column from which messages add the byte to the line, as in a file of one long
// line.
const farColumn = 200

// String formats the position for people.
func (p Position) String() string {
	if p.Column < farColumn {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, byte %d", p.Line, p.Column)
}

// behind returns the position after text.
func (p Position) behind(text []byte) Position {
	for _, b := range text {
		p.pass(b)
	}
	return p
}

// pass moves the position past a byte.
func (p *Position) pass(b byte) {
	if b == '\n' {
		p.Line, p.Column = p.Line+1, 1
		return
	}
	p.Column++
}

// RecordError reports that a record can't be imported. The reader can continue after it.
type RecordError struct {
	At Position
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns the position and the problem.
func (e *RecordError) Error() string { return e.At.String() + ": " + e.Problem }

// FileError reports that the rest of a file can't be read.
type FileError struct {
	At Position
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns the position and the problem.
func (e *FileError) Error() string { return e.At.String() + ": " + e.Problem }

func fileErrorf(at Position, format string, args ...any) *FileError {
	return &FileError{At: at, Problem: fmt.Sprintf(format, args...)}
}
