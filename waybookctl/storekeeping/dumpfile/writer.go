package dumpfile

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Writer writes a file, one collection after another.
type Writer struct {
	out      *bufio.Writer
	sum      hash.Hash
	names    []string
	contents Contents
	count    int64
}

// NewWriter returns a writer of a file with these collections.
func NewWriter(out io.Writer, collections []string) (*Writer, error) {
	sum := sha256.New()
	w := &Writer{out: bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16), sum: sum, names: collections}
	if _, err := w.out.WriteString(magic); err != nil {
		return nil, err
	}
	return w, w.list(header{Collections: collections})
}

// Write writes the next documents of the current collection.
func (w *Writer) Write(documents []bson.Raw) error {
	for _, document := range documents {
		if _, err := w.out.Write(document); err != nil {
			return err
		}
	}
	w.count += int64(len(documents))
	return nil
}

// EndCollection ends the current collection. Later documents belong to the next one.
func (w *Writer) EndCollection() error {
	if len(w.contents.Collections) == len(w.names) {
		return errors.New("there are more collections than were named")
	}
	name := w.names[len(w.contents.Collections)]
	w.contents.Collections = append(w.contents.Collections, Collection{Name: name, Documents: w.count})
	w.count = 0
	_, err := w.out.Write(make([]byte, lengthBytes))
	return err
}

// Close completes the file and returns its contents. It does not close the underlying writer.
func (w *Writer) Close() (Contents, error) {
	if len(w.contents.Collections) < len(w.names) {
		return w.contents, errors.New("there are fewer collections than were named")
	}
	if err := w.list(w.contents); err != nil {
		return w.contents, err
	}
	if err := w.out.Flush(); err != nil {
		return w.contents, err
	}
	w.contents.Sum = [sha256.Size]byte(w.sum.Sum(nil))
	if _, err := w.out.Write(w.contents.Sum[:]); err != nil {
		return w.contents, err
	}
	return w.contents, w.out.Flush()
}

func (w *Writer) list(value any) error {
	raw, err := bson.Marshal(value)
	if err != nil {
		return err
	}
	if len(raw) > maxListBytes {
		return fmt.Errorf("a list of %d bytes is longer than %d", len(raw), maxListBytes)
	}
	_, err = w.out.Write(raw)
	return err
}
