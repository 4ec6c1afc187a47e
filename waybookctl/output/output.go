// Package output prints results: as aligned tables for people, as JSON and YAML for programs.
// Results go to standard output. Notes go to standard error.
package output

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Format is the format of results.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// Printer prints results in one format.
type Printer struct {
	Format Format
	Out    io.Writer
	// Notes receives messages that are not results.
	Notes io.Writer
}

// Note prints a message that is not part of the result.
func (p *Printer) Note(format string, args ...any) {
	// A note that can't be written is lost; there is no better place to report it.
	_, _ = fmt.Fprintf(p.Notes, format+"\n", args...)
}

// Value prints one value. In the table format, layout writes it.
func (p *Printer) Value(value any, layout func(*Page)) error {
	switch p.Format {
	case JSON:
		return p.json(value)
	case YAML:
		return p.yaml(value)
	}
	page := &Page{out: p.Out}
	layout(page)
	return page.err
}

func (p *Printer) json(value any) error {
	encoded, err := marshalJSON(value, "")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", encoded)
	return err
}

func (p *Printer) yaml(value any) error {
	encoder := yaml.NewEncoder(p.Out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return encoder.Close()
}
