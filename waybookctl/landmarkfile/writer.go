package landmarkfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Writer writes places one by one, each on a line of its own. A Reader reads the same places back.
// Only one goroutine may use it.
type Writer struct {
	out    *bufio.Writer
	layout layout
	count  int64
}

// layout describes how a format is written.
type layout struct {
	head, separator, foot string
	// encode appends a place, without a line break.
	encode func(*bytes.Buffer, Place) error
}

var layouts = map[Format]layout{
	GeoJSON: {"{\"type\":\"FeatureCollection\",\"features\":[\n", ",\n", "\n]}\n", encodeFeature},
	JSON:    {"[\n", ",\n", "\n]\n", encodeObject},
	NDJSON:  {"", "\n", "\n", encodeObject},
	CSV:     {"key,name,category,lat,lng\n", "\n", "\n", encodeRow},
}

// NewWriter returns a writer of a file. The file is complete only after Close.
func NewWriter(file io.Writer, format Format) (*Writer, error) {
	layout, ok := layouts[format]
	if !ok {
		_, err := ParseFormat(string(format))
		return nil, err
	}
	return &Writer{out: bufio.NewWriterSize(file, 64<<10), layout: layout}, nil
}

// Write writes a place.
func (w *Writer) Write(p Place) error {
	if p.Lat == 0 {
		p.Lat = 0 // not -0
	}
	if p.Lng == 0 {
		p.Lng = 0
	}
	var line bytes.Buffer
	if w.count == 0 {
		line.WriteString(w.layout.head)
	} else {
		line.WriteString(w.layout.separator)
	}
	if err := w.layout.encode(&line, p); err != nil {
		return fmt.Errorf("landmark %s: %w", quoted(p.Key), err)
	}
	w.count++
	_, err := w.out.Write(line.Bytes())
	return err
}

// Close completes the file. It does not close the underlying writer.
func (w *Writer) Close() error {
	end := w.layout.foot
	if w.count == 0 {
		end = w.layout.head
		if foot := w.layout.foot; foot != "\n" {
			end += foot[1:] // the line break is in the head
		}
	}
	if _, err := w.out.WriteString(end); err != nil {
		return err
	}
	return w.out.Flush()
}

type object struct {
	Key      string   `json:"key"`
	Name     string   `json:"name"`
	Category Category `json:"category"`
	Lat      float64  `json:"lat"`
	Lng      float64  `json:"lng"`
}

func encodeObject(line *bytes.Buffer, p Place) error {
	return encodeJSON(line, object{Key: p.Key, Name: p.Name, Category: p.Category, Lat: p.Lat, Lng: p.Lng})
}

type pointFeature struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Geometry   pointGeometry   `json:"geometry"`
	Properties pointProperties `json:"properties"`
}

type pointGeometry struct {
	Type        string     `json:"type"`
	Coordinates [2]float64 `json:"coordinates"`
}

type pointProperties struct {
	Name     string   `json:"name"`
	Category Category `json:"category"`
}

func encodeFeature(line *bytes.Buffer, p Place) error {
	return encodeJSON(line, pointFeature{
		Type: "Feature", ID: p.Key,
		Geometry:   pointGeometry{Type: "Point", Coordinates: [2]float64{p.Lng, p.Lat}},
		Properties: pointProperties{Name: p.Name, Category: p.Category},
	})
}

func encodeJSON(line *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	line.Truncate(line.Len() - 1) // the line break of Encode
	return nil
}

func encodeRow(line *bytes.Buffer, p Place) error {
	table := csv.NewWriter(line)
	err := table.Write([]string{
		p.Key, p.Name, strconv.Itoa(int(p.Category)),
		strconv.FormatFloat(p.Lat, 'f', -1, 64), strconv.FormatFloat(p.Lng, 'f', -1, 64),
	})
	if err != nil {
		return err
	}
	table.Flush()
	line.Truncate(line.Len() - 1) // the line break of Write
	return table.Error()
}
