package landmarkfile

import (
	"errors"
	"fmt"
	"io"
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

// Reader reads places one by one. Only one goroutine may use it.
type Reader struct {
	input   *input
	records interface {
		// read returns the next record and its position.
		read() (record, Position, error)
	}
	mapping  mapping
	hasBegun bool
	// failed is the error that ended reading.
	failed error
}

// NewReader returns a reader of a file.
func NewReader(file io.Reader, options Options) *Reader {
	r := &Reader{input: newInput(file), mapping: mapping{fields: options.Fields, category: options.Category}}
	switch options.Format {
	case GeoJSON, JSON:
		r.records = newDocumentReader(r.input)
	case NDJSON:
		r.records = &lineReader{input: r.input}
	case CSV:
		r.records = &tableReader{input: r.input, delimiter: options.Delimiter, named: options.Fields.named()}
	}
	return r
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

// Next returns the next place, or io.EOF after the last. After a *RecordError, the caller can
// continue; any other error, such as a *FileError, is final.
func (r *Reader) Next() (Place, error) {
	if r.failed != nil {
		return Place{}, r.failed
	}
	place, err := r.read()
	var one *RecordError
	if err != nil && !errors.As(err, &one) {
		r.failed = err
	}
	return place, err
}

func (r *Reader) read() (Place, error) {
	if !r.hasBegun {
		r.hasBegun = true
		if err := r.input.begin(); err != nil {
			return Place{}, err
		}
	}
	record, at, err := r.records.read()
	if err != nil {
		return Place{}, err
	}
	return r.mapping.place(record, at)
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
