package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// The history of a file has chapters: the first stamp after each opening begins one. A file that is put
// back, in whatever way, goes on with a chapter of its own, so a follower that has seen more than the file
// has is noticed: its position is in a chapter that the file does not have, or behind the end of one. The
// catalog has an entry for each chapter: its first moment → its id.

// chapter is a part of the history: the moments from begin up to the next chapter.
type chapter struct {
	begin docstore.Moment
	id    int64
}

// history has chapters in their order. The first one has all moments before it, too. The last one begins
// with the next stamp, until there is one.
type history []chapter

// maxChapters bounds a history. The followers of older chapters start anew.
const maxChapters = 1000

// chapterPrefix begins the keys of chapters in the catalog.
func chapterPrefix() []byte { return []byte("chapter/") }

func (c chapter) key() []byte { return binary.BigEndian.AppendUint64(chapterPrefix(), uint64(c.begin)) }

// at returns the id of the chapter that has a moment.
func (h history) at(moment docstore.Moment) (id int64) {
	for i, c := range h {
		if i == 0 || c.begin <= moment {
			id = c.id
		}
	}
	return id
}

// readHistory makes moments higher than all that the file has, and returns its chapters and the next one.
func (e *Engine) readHistory(ctx context.Context) (h history, err error) {
	err = e.view(ctx, func(tx *bolt.Tx) error {
		last, err := lastStamp(tx)
		if err != nil {
			return err
		}
		e.commit.moments.raise(last)
		cursor := tx.Bucket(catalogBucket()).Cursor()
		for key, value := cursor.Seek(chapterPrefix()); bytes.HasPrefix(key, chapterPrefix()); key, value = cursor.Next() {
			begin := key[len(chapterPrefix()):]
			if len(begin) != momentBytes || len(value) != chapterBytes {
				return damage("the history has an entry of another length")
			}
			h = append(h, chapter{docstore.Moment(binary.BigEndian.Uint64(begin)), int64(binary.BigEndian.Uint64(value))}) // #nosec G115 -- the same bits
		}
		h = append(h, chapter{last + 1, newChapter()})
		return nil
	})
	return h[max(0, len(h)-maxChapters):], err
}

// beginChapter stores the chapter of this opening, if that has not been done.
func (e *Engine) beginChapter(tx *bolt.Tx) error {
	catalog, own := tx.Bucket(catalogBucket()), e.history[len(e.history)-1]
	if catalog.Get(own.key()) != nil {
		return nil
	}
	cursor := catalog.Cursor()
	for key, _ := cursor.Seek(chapterPrefix()); key != nil && bytes.Compare(key, e.history[0].key()) < 0; key, _ = cursor.Seek(chapterPrefix()) {
		if err := catalog.Delete(slices.Clone(key)); err != nil {
			return err
		}
	}
	return catalog.Put(own.key(), binary.BigEndian.AppendUint64(nil, uint64(own.id))) // #nosec G115 -- the same bits
}

// lastStamp returns the highest moment of a feed in a file.
func lastStamp(tx *bolt.Tx) (last docstore.Moment, err error) {
	cursor, prefix := tx.Bucket(catalogBucket()).Cursor(), feedKey("")
	for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
		state, _, err := readFeedState(tx, string(key[len(prefix):]))
		if err != nil {
			return 0, err
		}
		last = max(last, docstore.Moment(state.Forgotten)) // #nosec G115 -- the same bits
		if entry, _ := tx.Bucket(key).Cursor().Last(); len(entry) >= momentBytes {
			last = max(last, docstore.Moment(binary.BigEndian.Uint64(entry)))
		}
	}
	return last, nil
}

// chapterBytes is the length of an id of a chapter.
const chapterBytes = 8

// newChapter draws the id of a chapter.
func newChapter() int64 {
	var random [chapterBytes]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}
