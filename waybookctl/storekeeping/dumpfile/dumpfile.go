// Package dumpfile defines the file format of a store dump. A file has these parts:
//
//   - a line that names the format
//   - a BSON document that names the collections
//   - for each collection, its documents in the order of their ids, then a zero length
//   - a BSON document with the number of documents of each collection
//   - the SHA-256 of everything before it
//
// Equal stores produce equal files, because a file holds no time and nothing random.
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

// magic is the first line. Its number is docstore.Format.
const magic = "Waybook store dump 4\n"

// maxListBytes bounds the lists of collections.
const maxListBytes = 1 << 20

// A batch has at most batchDocuments documents and, unless it is a single document, batchBytes
// bytes.
const (
	batchDocuments = 500
	batchBytes     = 4 << 20
)

// header begins the file, after the first line.
type header struct {
	Collections []string `bson:"collections"`
}

// Contents describe the contents of a file, and end it.
type Contents struct {
	Collections []Collection `bson:"collections"`
	// Sum is the SHA-256 of the file.
	Sum [sha256.Size]byte `bson:"-"`
}

// Collection is the number of documents of a collection.
type Collection struct {
	Name      string `bson:"name" json:"name"`
	Documents int64  `bson:"documents" json:"documents"`
}

// Documents returns the total number of documents.
func (c Contents) Documents() (sum int64) {
	for _, each := range c.Collections {
		sum += each.Documents
	}
	return sum
}

// Batch is a run of consecutive documents of one collection.
type Batch struct {
	Collection string
	// First reports whether they are the first documents of the collection.
	First     bool
	Documents []bson.Raw
}

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
