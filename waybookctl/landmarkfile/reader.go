package landmarkfile

import (
	"errors"
	"fmt"
	"io"
)

// Options say how a file is read.
type Options struct {
	// Format is how the file is written.
	Format Format
	// Fields are those of the records.
	Fields Fields
	// Category is that of records that have none; 0 makes such a record an error.
	Category Category
	// Delimiter separates the fields of CSV: a comma, a semicolon or a tab. 0 means
	// the one of which the first line has most.
	Delimiter byte
}

// Reader reads places one by one. It is for one goroutine.
type Reader struct {
	input   *input
	records interface {
		// read returns the next record and where it begins.
		read() (record, Position, error)
	}
	mapping  mapping
	hasBegun bool
	// failed is the error with which reading ended.
	failed error
}

// NewReader returns a reader of a file. It fails when the options are not valid.
func NewReader(file io.Reader, options Options) (*Reader, error) {
	r := &Reader{input: newInput(file), mapping: mapping{fields: options.Fields, category: options.Category}}
	if options.Category < 0 || int(options.Category) > len(labels) {
		return nil, fmt.Errorf("%d is no category; choose one of %s", options.Category, CategoryNames())
	}
	switch options.Delimiter {
	case 0, ',', ';', '\t':
	default:
		return nil, fmt.Errorf("%q can't separate fields; choose a comma, a semicolon or a tab", options.Delimiter)
	}
	switch options.Format {
	case GeoJSON, JSON:
		r.records = newDocumentReader(r.input)
	case NDJSON:
		r.records = &lineReader{input: r.input}
	case CSV:
		r.records = &tableReader{input: r.input, delimiter: options.Delimiter, named: options.Fields.named()}
	default:
		_, err := ParseFormat(string(options.Format))
		return nil, err
	}
	return r, nil
}

// named are the fields that have been named.
func (f Fields) named() (names []string) {
	for _, name := range []string{f.Key, f.Name, f.Lat, f.Lng, f.Category} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Next returns the next place, or io.EOF behind the last. After a *RecordError it can be
// called again; any other error, such as a *FileError, is for good.
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
