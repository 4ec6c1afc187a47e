package landmarkfile

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/waybook/waybook/internal/text"
)

// fields are the members of a JSON object with the fields themselves.
type fields map[string]json.RawMessage

func (f fields) text(field string) (string, error) { return textOf(f[field]) }

// feature is a GeoJSON Feature.
type feature struct {
	fields // its properties
	own    map[string]json.RawMessage
}

func newFeature(object map[string]json.RawMessage) feature {
	f := feature{own: object}
	// Properties that are not an object count as none.
	_ = json.Unmarshal(object["properties"], &f.fields)
	return f
}

// text returns a property, or the Feature's own id.
func (f feature) text(field string) (string, error) {
	if field == "id" {
		if id, err := textOf(f.own["id"]); id != "" || err != nil {
			return id, err
		}
	}
	return f.fields.text(field)
}

// point returns the coordinates.
func (f feature) point() (lng, lat string, err error) {
	var geometry struct {
		Type        string            `json:"type"`
		Coordinates []json.RawMessage `json:"coordinates"`
	}
	raw := f.own["geometry"]
	if len(raw) == 0 || string(raw) == "null" {
		return "", "", errors.New("the geometry is missing; a landmark needs a Point")
	}
	err = json.Unmarshal(raw, &geometry)
	if geometry.Type != "" && geometry.Type != "Point" {
		return "", "", errors.New("the geometry is a " + quoted(geometry.Type) + "; only a Point can be a landmark")
	}
	if err != nil || geometry.Type == "" || len(geometry.Coordinates) < 2 {
		return "", "", errors.New(`the geometry is not one like {"type":"Point","coordinates":[121.5645,25.034]}, longitude first`)
	}
	return string(geometry.Coordinates[0]), string(geometry.Coordinates[1]), nil
}

// textOf returns a string, or the digits of a number. null and a missing value are empty.
func textOf(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	switch b := raw[0]; {
	case b == '"':
		var value string
		err := json.Unmarshal(raw, &value)
		if text.IsHalved(raw, value) {
			err = errors.New(`an escape such as \ud800 is half a character; write the whole character`)
		}
		return value, err
	case b == '-' || '0' <= b && b <= '9':
		return string(raw), nil
	}
	return "", errors.New("this is neither a text nor a number")
}
