package landmarkfile

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Writer writes landmarks one by one, each on a line of its own. Read returns the same landmarks;
// in a table, the line ends in names become LF. Only one goroutine may use it.
type Writer struct {
	out    *bufio.Writer
	format Format
	count  int64
}

// NewWriter returns a writer of a file. The file is complete only after Close.
func NewWriter(file io.Writer, format Format) *Writer {
	return &Writer{out: bufio.NewWriterSize(file, 64<<10), format: format}
}

// heads are the first lines.
var heads = map[Format]string{
	GeoJSON: "{\"type\":\"FeatureCollection\",\"features\":[\n", CSV: strings.Join(columns, ",") + "\n",
}

func (w *Writer) Write(p *poiv1.ImportedPoi) (err error) {
	if w.count == 0 {
		_, _ = w.out.WriteString(heads[w.format]) // Flush reports its error
	} else if w.format == GeoJSON {
		_, _ = w.out.WriteString(",\n")
	}
	w.count++
	category, lat, lng := strconv.Itoa(int(p.GetCategory())), degrees(p.GetLocation().GetLat()), degrees(p.GetLocation().GetLng())
	var cells []string
	var members strings.Builder
	for _, field := range textFields {
		value := p.ProtoReflect().Get(field).String()
		cells = append(cells, value)
		if isID := w.format == GeoJSON && field.Name() == "key"; !isID && value != "" {
			fmt.Fprintf(&members, "%q:%s,", field.Name(), inJSON(value))
		}
	}
	switch w.format {
	case GeoJSON:
		_, err = fmt.Fprintf(w.out, `{"type":"Feature","id":%s,"geometry":{"type":"Point","coordinates":[%s,%s]},"properties":{%s"category":%s}}`,
			inJSON(p.GetKey()), lng, lat, &members, category)
	case NDJSON:
		_, err = fmt.Fprintf(w.out, `{%s"category":%s,"lat":%s,"lng":%s}`+"\n", &members, category, lat, lng)
	case CSV:
		table := csv.NewWriter(w.out)
		err = table.Write(append(cells, category, lat, lng))
		table.Flush()
	}
	return err
}

// Close completes the file. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.count == 0 {
		_, _ = w.out.WriteString(heads[w.format]) // Flush reports its error
	}
	if w.format == GeoJSON {
		_, _ = w.out.WriteString("\n]}\n")
	}
	return w.out.Flush()
}

func degrees(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// inJSON returns a text as JSON, in which <, > and & stay readable.
func inJSON(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string never fails
	return strings.TrimSpace(out.String())
}
