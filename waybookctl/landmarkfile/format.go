package landmarkfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

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
	return "", fmt.Errorf("can't derive a format from the name %s; choose one of %s", quoted(filepath.Base(path)), formatNames())
}

// ParseFormat parses the name of a format.
func ParseFormat(name string) (Format, error) {
	if format := Format(strings.ToLower(name)); slices.Contains(Formats(), format) {
		return format, nil
	}
	return "", fmt.Errorf("%s is not a format; choose one of %s", quoted(name), formatNames())
}

func formatNames() string {
	names := make([]string, len(Formats()))
	for i, format := range Formats() {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}
