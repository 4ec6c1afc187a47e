package movefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Writer writes records.
type Writer struct {
	out  io.Writer
	line bytes.Buffer
}

// NewWriter returns a Writer.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes a record as a line.
func (w *Writer) Write(record Record) error {
	w.line.Reset()
	fmt.Fprintf(&w.line, `{"kind":%q,`, record.Kind())
	begin := w.line.Len()
	encoder := json.NewEncoder(&w.line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return err
	}
	line := w.line.Bytes()
	// The object's own brace gives way to the kind.
	copy(line[begin:], line[begin+1:])
	_, err := w.out.Write(line[:len(line)-1])
	return err
}
