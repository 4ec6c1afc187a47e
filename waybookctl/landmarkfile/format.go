package landmarkfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is how a file is written.
type Format string

// The formats. Whichever of the JSON formats is read, a record may be a GeoJSON
// Feature or an object with the fields themselves.
const (
	// GeoJSON is a FeatureCollection of Points (RFC 7946).
	GeoJSON Format = "geojson"
	// JSON is an array of objects.
	JSON Format = "json"
	// NDJSON is an object in each line.
	NDJSON Format = "ndjson"
	// CSV is a table with a header line (RFC 4180).
	CSV Format = "csv"
)

// Formats are all formats.
func Formats() []Format { return []Format{GeoJSON, JSON, NDJSON, CSV} }

// extensions are those by which a format is told.
var extensions = map[string]Format{
	".geojson": GeoJSON, ".json": JSON,
	".ndjson": NDJSON, ".jsonl": NDJSON, ".geojsonl": NDJSON, ".geojsons": NDJSON,
	".csv": CSV, ".tsv": CSV,
}

// FormatOf tells the format of a file by its name.
func FormatOf(path string) (Format, error) {
	if format, ok := extensions[strings.ToLower(filepath.Ext(path))]; ok {
		return format, nil
	}
	return "", fmt.Errorf("the name %s does not tell the format; say which it is: %s", quoted(filepath.Base(path)), formatNames())
}

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	if format := Format(strings.ToLower(name)); slices.Contains(Formats(), format) {
		return format, nil
	}
	return "", fmt.Errorf("%s is no format; choose one of %s", quoted(name), formatNames())
}

func formatNames() string {
	names := make([]string, len(Formats()))
	for i, format := range Formats() {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}
