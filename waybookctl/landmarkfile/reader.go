package landmarkfile

import (
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
