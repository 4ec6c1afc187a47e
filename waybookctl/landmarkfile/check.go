package landmarkfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// maxPlaces bounds a file, and with it the memory of a check: some 70 MB for a million
// places, which is what tells exactly which keys were there before.
const maxPlaces = 10_000_000

// Checked is what a first pass over a file has found.
type Checked struct {
	// Places is how many places there are to import.
	Places int64
	// Duplicates is how many places without a key are exactly like one before them.
	// They are one place and no problem.
	Duplicates int64
	// ProblemCount is how many records can't be imported, and Problems why not the
	// first of them: *RecordError, and *FileError at last if the file can't be read to
	// its end.
	ProblemCount int64
	Problems     []error
	// Broken, unless nil, is why the file can't be read to its end.
	Broken *FileError

	// begins tells where each place begins, by a hash of its key.
	begins map[keyHash]Position
}

type keyHash [16]byte

func hashOf(key string) keyHash {
	sum := sha256.Sum256([]byte(key))
	return keyHash(sum[:])
}

// Check reads a file to its end and keeps at most maxProblems problems. Its error is one
// of reading or of ctx; what is wrong with the file is in Checked.
func Check(ctx context.Context, reader *Reader, maxProblems int) (*Checked, error) {
	c := &Checked{begins: make(map[keyHash]Position)}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		place, err := reader.Next()
		var record *RecordError
		switch {
		case errors.Is(err, io.EOF):
			return c, nil
		case errors.As(err, &c.Broken):
			c.problem(c.Broken, maxProblems)
			return c, nil
		case errors.As(err, &record):
			c.problem(record, maxProblems)
		case err != nil:
			return nil, err
		case c.Places == maxPlaces:
			c.Broken = fileErrorf(place.At, "the file has more than %d places; split it", maxPlaces)
			c.problem(c.Broken, maxProblems)
			return c, nil
		default:
			c.add(place, maxProblems)
		}
	}
}

func (c *Checked) add(place Place, maxProblems int) {
	hash := hashOf(place.Key)
	before, isTaken := c.begins[hash]
	switch {
	case !isTaken:
		c.begins[hash] = place.At
		c.Places++
	case place.KeyIsDerived:
		c.Duplicates++
	default:
		c.problem(&RecordError{At: place.At, Problem: fmt.Sprintf(
			"the key %s is that of %s already; give each place a key of its own", quoted(place.Key), before)}, maxProblems)
	}
}

// problem keeps one of the first problems, or the one that ends a check, and counts all.
func (c *Checked) problem(err error, maxProblems int) {
	c.ProblemCount++
	if len(c.Problems) < maxProblems || c.Broken != nil {
		c.Problems = append(c.Problems, err)
	}
}

// ErrChanged says that a file is not the one that was checked.
var ErrChanged = errors.New("the file was changed while it was being read; try again when nobody writes to it")

// Selection reads the places to import of a file that has been checked: each key once,
// and without the records that have a problem.
type Selection struct {
	reader  *Reader
	checked *Checked
	count   int64
}

// Select returns what is to be imported of the file that was checked; reader stands at
// its beginning again.
func (c *Checked) Select(reader *Reader) *Selection {
	return &Selection{reader: reader, checked: c}
}

// Next returns the next place, or io.EOF behind the last. It fails with ErrChanged when
// the file has other places than it had.
func (s *Selection) Next() (Place, error) {
	for {
		place, err := s.reader.Next()
		var record *RecordError
		var file *FileError
		switch {
		case errors.As(err, &record):
			continue
		case errors.As(err, &file), errors.Is(err, io.EOF) && s.count != s.checked.Places:
			return Place{}, ErrChanged
		case err != nil:
			return Place{}, err
		}
		begins, ok := s.checked.begins[hashOf(place.Key)]
		if !ok {
			return Place{}, ErrChanged
		}
		if begins == place.At {
			s.count++
			return place, nil
		}
	}
}
