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
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// magic is the first line.
var magic = fmt.Sprintf("Waybook store dump %d\n", docstore.Format)

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

// lengthBytes is the size of the length at the start of a BSON document.
const lengthBytes = 4

// ErrForeign reports that a file is not a dump of this version.
var ErrForeign = errors.New("it is not a dump of a store, or its version is newer or was never released; dump the " +
	"store with this version")

// Read reads a file to its end and passes its documents to visit, batch by batch. visit may keep
// them. The checksum is known to be correct only when Read returns nil.
func Read(ctx context.Context, file io.Reader, visit func(Batch) error) (Contents, error) {
	sum := sha256.New()
	r := &reader{in: bufio.NewReaderSize(file, 1<<16), sum: sum}
	return r.read(ctx, visit)
}

type reader struct {
	in  *bufio.Reader
	sum hash.Hash
}

func (r *reader) read(ctx context.Context, visit func(Batch) error) (contents Contents, err error) {
	first := make([]byte, len(magic))
	if err := r.fill(first); err != nil || string(first) != magic {
		return contents, ErrForeign
	}
	var names header
	if err := r.list(&names); err != nil {
		return contents, err
	}
	for i, name := range names.Collections {
		if slices.Contains(names.Collections[:i], name) {
			return contents, fmt.Errorf("it is damaged: %q appears twice", name)
		}
		count, err := r.collection(ctx, name, visit)
		if err != nil {
			return contents, err
		}
		contents.Collections = append(contents.Collections, Collection{Name: name, Documents: count})
	}
	var told Contents
	if err := r.list(&told); err != nil {
		return contents, err
	}
	contents.Sum = [sha256.Size]byte(r.sum.Sum(nil))
	var stated [sha256.Size]byte
	if err := r.fill(stated[:]); err != nil {
		return contents, err
	}
	if _, err := r.in.ReadByte(); !errors.Is(err, io.EOF) {
		return contents, errors.Join(errors.New("data follows its end"), err)
	}
	if stated != contents.Sum || !slices.Equal(told.Collections, contents.Collections) {
		return contents, errors.New("it is damaged: its checksum does not hold")
	}
	return contents, nil
}

// collection reads the documents of one collection.
func (r *reader) collection(ctx context.Context, name string, visit func(Batch) error) (count int64, err error) {
	batch, size := Batch{Collection: name, First: true}, 0
	for {
		document, err := r.document(docstore.MaxDocumentBytes)
		if err != nil {
			return count, err
		}
		if batch.Documents != nil && (document == nil || len(batch.Documents) == batchDocuments ||
			size+len(document) > batchBytes) {
			if err := errors.Join(ctx.Err(), visit(batch)); err != nil {
				return count, err
			}
			batch, size = Batch{Collection: name}, 0
		}
		if document == nil {
			return count, nil
		}
		batch.Documents = append(batch.Documents, document)
		size += len(document)
		count++
	}
}

// list reads a list of collections.
func (r *reader) list(into any) error {
	raw, err := r.document(maxListBytes)
	if err != nil {
		return err
	}
	if err := bson.Unmarshal(raw, into); err != nil {
		return errors.New("it is damaged: a list of collections can't be read")
	}
	return nil
}

// document reads a BSON document. It returns nil for a zero length.
func (r *reader) document(maxBytes uint32) (bson.Raw, error) {
	var length [lengthBytes]byte
	if err := r.fill(length[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size == 0 {
		return nil, nil
	}
	if size <= lengthBytes || size > maxBytes {
		return nil, fmt.Errorf("it is damaged: a document of %d bytes", size)
	}
	document := make(bson.Raw, size)
	copy(document, length[:])
	if err := r.fill(document[lengthBytes:]); err != nil {
		return nil, err
	}
	if document.Validate() != nil {
		return nil, errors.New("it is damaged: it has an invalid document")
	}
	return document, nil
}

// fill fills into and adds it to the checksum.
func (r *reader) fill(into []byte) error {
	_, err := io.ReadFull(r.in, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is truncated")
	}
	if err != nil {
		return err
	}
	_, _ = r.sum.Write(into) // never fails
	return nil
}
