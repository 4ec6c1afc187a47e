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

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

type Format string

// The formats. A record in JSON is a GeoJSON Feature or an object with a member for each column.
const (
	// GeoJSON is a FeatureCollection of Points (RFC 7946), or records as in NDJSON.
	GeoJSON Format = "geojson"
	// NDJSON has a record in each line, or behind each record separator (RFC 8142).
	NDJSON Format = "ndjson"
	// CSV is a table with a heading (RFC 4180), whose fields a comma, a semicolon or a tab
	// separates.
	CSV Format = "csv"
)

// FormatOf derives the format of a file from its name.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".geojson", ".json":
		return GeoJSON, nil
	case ".ndjson", ".jsonl", ".geojsonl", ".geojsons", ".geojsonseq":
		return NDJSON, nil
	case ".csv", ".tsv":
		return CSV, nil
	}
	return "", fmt.Errorf("can't derive a format from the name %s; choose geojson, ndjson or csv",
		quoted(filepath.Base(path)))
}

// Options say how a file is read.
type Options struct {
	Format Format
	// Category is the category of records that have none. If it is 0, such a record is an error.
	Category poiv1.PoiCategory
}

// Error reports a problem of a file.
type Error struct {
	At Position
	// Problem says what is wrong and what to do about it.
	Problem string
	// IsFatal reports that the rest of the file cannot be read. Otherwise the next record follows.
	IsFatal bool
}

func (e *Error) Error() string { return e.At.String() + ": " + e.Problem }

// Read returns the places of a file one by one. The next place follows an *Error that is not
// fatal. Any other error is the last. The file can be read only once.
func Read(file io.Reader, options Options) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		in := &input{reader: bufio.NewReaderSize(&lineEnds{from: file}, MaxRecordBytes), at: Position{Line: 1}}
		err := in.records(options, func(record texts, err error) bool {
			in.at.Record++
			place := Place{At: in.at, HasOwnKey: record["key"] != ""}
			if err == nil {
				place.ImportedPoi, err = record.poi(options.Category)
			}
			if err != nil {
				return yield(Place{}, &Error{At: in.at, Problem: err.Error()})
			}
			return yield(place, nil)
		})
		if err != nil {
			yield(Place{}, err)
		}
	}
}

// take takes the record at the input's position, or what is wrong with it, and reports whether
// more are wanted.
type take func(record texts, err error) bool

// records reads all records of a file.
func (in *input) records(options Options, take take) error {
	const mark = "\ufeff" // a byte order mark
	if ahead, _ := in.reader.Peek(len(mark)); string(ahead) == mark {
		_, _ = in.reader.Discard(len(mark)) // it is in memory
	}
	switch {
	case options.Format == CSV:
		return in.table(options.Category != 0, take)
	case options.Format == NDJSON || in.isSequence():
		return in.sequence(take)
	}
	return in.collection(take)
}

// MaxRecordBytes bounds one record of a file. The longest record that can be imported has about
// 2,000 bytes; the rest is room for fields that are not imported.
const MaxRecordBytes = 1 << 20

type input struct {
	reader *bufio.Reader
	// at is the position of the record that is read.
	at Position
}

// pass moves to the line behind what was read.
func (in *input) pass(text []byte) { in.at.Line += int64(bytes.Count(text, []byte("\n"))) }

// fatalf describes why the rest of the file cannot be read.
func (in *input) fatalf(format string, args ...any) error {
	return &Error{At: Position{Line: in.at.Line}, Problem: fmt.Sprintf(format, args...), IsFatal: true}
}

// tooLong is the error for a record that exceeds MaxRecordBytes.
func (in *input) tooLong() error {
	return in.fatalf("the record that begins here is longer than %d MiB; is a line break missing?", MaxRecordBytes>>20)
}

var errNotUTF8 = errors.New("this is not text in UTF-8; unpack the file or convert it, as with: iconv -f BIG5 -t " +
	"UTF-8 (or from its actual encoding)")

// lineEnds turns the line ends CR LF and CR into LF.
type lineEnds struct {
	from    io.Reader
	afterCR bool
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	kept := p[:0]
	for _, b := range p[:n] {
		isSecond := b == '\n' && l.afterCR
		if l.afterCR = b == '\r'; l.afterCR {
			b = '\n'
		}
		if !isSecond {
			kept = append(kept, b)
		}
	}
	return len(kept), err
}
