package landmarkfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strconv"
)

// maxPlaces bounds the places of a file, and with them the memory of a check: about 70 MB for a
// million places, to detect exactly which keys repeat.
const maxPlaces = 10_000_000

// Checked is the result of the first pass over a file.
type Checked struct {
	// Places counts the places to import.
	Places int64
	// Duplicates counts the places without a key that equal an earlier one. They are imported once
	// and are no problem.
	Duplicates int64
	// ProblemCount counts the records that can't be imported. Problems holds the first reasons:
	// each a *RecordError, and at the end a *FileError if the file can't be read to its end.
	ProblemCount int64
	Problems     []error
	// Broken says why the file can't be read to its end; it is nil if it can.
	Broken *FileError

	// begins holds the position of each place, by a hash of its owner and key.
	begins map[keyHash]Position
}

type keyHash [16]byte

func hashOf(ownerID int64, key string) keyHash {
	sum := sha256.Sum256(append(strconv.AppendInt(nil, ownerID, 10), " "+key...))
	return keyHash(sum[:])
}

// Has reports whether a place of a file without owners has a key.
func (c *Checked) Has(key string) bool {
	_, ok := c.begins[hashOf(0, key)]
	return ok
}

// Check reads the places of a file to its end and keeps at most maxProblems problems. It fails only if
// reading fails or ctx ends; faults of the file are in Checked.
func Check(ctx context.Context, places iter.Seq2[Place, error], maxProblems int) (*Checked, error) {
	c := &Checked{begins: make(map[keyHash]Position)}
	for place, err := range places {
		var record *RecordError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &c.Broken):
			c.problem(c.Broken, maxProblems)
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
	return c, ctx.Err()
}

func (c *Checked) add(place Place, maxProblems int) {
	hash := hashOf(place.OwnerID, place.Key)
	before, isTaken := c.begins[hash]
	switch {
	case !isTaken:
		c.begins[hash] = place.At
		c.Places++
	case place.KeyIsDerived:
		c.Duplicates++
	default:
		c.problem(&RecordError{At: place.At, Problem: fmt.Sprintf(
			"the key %s is already used in %s; give each place a key of its own", quoted(place.Key), before)}, maxProblems)
	}
}

// problem counts a problem, and keeps it if it is one of the first or ends the check.
func (c *Checked) problem(err error, maxProblems int) {
	c.ProblemCount++
	if len(c.Problems) < maxProblems || c.Broken != nil {
		c.Problems = append(c.Problems, err)
	}
}

// ErrChanged reports that a file is not the one that was checked.
var ErrChanged = errors.New("the file changed while it was read; retry when no program writes to it")

// Select returns the places to import from a file that was checked: each key once, without the
// records that have a problem. Its last error is ErrChanged when the places differ from those of the check.
func (c *Checked) Select(places iter.Seq2[Place, error]) iter.Seq2[Place, error] {
	return func(yield func(Place, error) bool) {
		var count int64
		for place, err := range places {
			var record *RecordError
			var file *FileError
			begins, isKnown := c.begins[hashOf(place.OwnerID, place.Key)]
			switch {
			case errors.As(err, &record):
				continue
			case errors.As(err, &file), err == nil && !isKnown:
				err = ErrChanged
			case err == nil && begins != place.At:
				continue
			}
			if !yield(place, err) || err != nil {
				return
			}
			count++
		}
		if count != c.Places {
			yield(Place{}, ErrChanged)
		}
	}
}
