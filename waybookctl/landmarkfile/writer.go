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

// Writer writes places one by one, each on a line of its own. Read returns the same places.
// Only one goroutine may use it.
type Writer struct {
	out    *bufio.Writer
	layout layout
	ids    IDs
	count  int64
}

// layout describes how a format is written.
type layout struct {
	head, separator, foot string
	// encode appends a place, without a line break.
	encode func(*bytes.Buffer, Place) error
	// headWithIDs replaces head WithIDs, if it is not empty.
	headWithIDs string
}

// IDs says whether a file has the identifiers of landmarks and their owners.
type IDs int

// The choices of IDs.
const (
	// WithoutIDs leaves them out: equal landmarks make equal files, whoever owns them.
	WithoutIDs IDs = iota
	// WithIDs writes them as owner_id and poi_id. Every place has them.
	WithIDs
)

var layouts = map[Format]layout{
	GeoJSON: {"{\"type\":\"FeatureCollection\",\"features\":[\n", ",\n", "\n]}\n", encodeFeature, ""},
	JSON:    {"[\n", ",\n", "\n]\n", encodeObject, ""},
	NDJSON:  {"", "\n", "\n", encodeObject, ""},
	CSV:     {"key,name,category,lat,lng\n", "\n", "\n", encodeRow, "key,name,category,lat,lng,owner_id,poi_id\n"},
}

// NewWriter returns a writer of a file. The file is complete only after Close.
func NewWriter(file io.Writer, format Format, ids IDs) *Writer {
	layout := layouts[format]
	if ids == WithIDs && layout.headWithIDs != "" {
		layout.head = layout.headWithIDs
	}
	return &Writer{out: bufio.NewWriterSize(file, 64<<10), layout: layout, ids: ids}
}

// Write writes a place.
func (w *Writer) Write(p Place) error {
	if p.Lat == 0 {
		p.Lat = 0 // not -0
	}
	if p.Lng == 0 {
		p.Lng = 0
	}
	if w.ids == WithoutIDs {
		p.OwnerID, p.PoiID = 0, 0
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
	OwnerID  int64    `json:"owner_id,omitempty"`
	PoiID    int64    `json:"poi_id,omitempty"`
}

func encodeObject(line *bytes.Buffer, p Place) error {
	return encodeJSON(line, object{
		Key: p.Key, Name: p.Name, Category: p.Category, Lat: p.Lat, Lng: p.Lng, OwnerID: p.OwnerID, PoiID: p.PoiID,
	})
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
	OwnerID  int64    `json:"owner_id,omitempty"`
	PoiID    int64    `json:"poi_id,omitempty"`
}

func encodeFeature(line *bytes.Buffer, p Place) error {
	return encodeJSON(line, pointFeature{
		Type: "Feature", ID: p.Key,
		Geometry:   pointGeometry{Type: "Point", Coordinates: [2]float64{p.Lng, p.Lat}},
		Properties: pointProperties{Name: p.Name, Category: p.Category, OwnerID: p.OwnerID, PoiID: p.PoiID},
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
	row := []string{
		p.Key, p.Name, strconv.Itoa(int(p.Category)),
		strconv.FormatFloat(p.Lat, 'f', -1, 64), strconv.FormatFloat(p.Lng, 'f', -1, 64),
	}
	if p.OwnerID != 0 {
		row = append(row, strconv.FormatInt(p.OwnerID, 10), strconv.FormatInt(p.PoiID, 10))
	}
	if err := table.Write(row); err != nil {
		return err
	}
	table.Flush()
	line.Truncate(line.Len() - 1) // the line break of Write
	return table.Error()
}
