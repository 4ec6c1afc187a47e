package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// The history of a file has chapters: each opening for writing begins one. A file that is put back, in
// whatever way, goes on with a chapter of its own, so a follower that has seen more than the file has is
// noticed: its position is in a chapter that the file does not have, or behind the end of one.

// chapter is a part of the history. Its moments are those from Begin up to the next chapter.
type chapter struct {
	ID    int64 `bson:"id"`
	Begin int64 `bson:"begin"`
}

func (c chapter) begin() docstore.Moment { return docstore.Moment(c.Begin) } // #nosec G115 -- the same bits

// history has chapters in their order. The first one has all moments before it, too.
type history struct {
	Chapters []chapter `bson:"chapters"`
}

// maxChapters bounds a history. The followers of older chapters start anew.
const maxChapters = 1000

// historyKey is the key of the history in the catalog.
func historyKey() []byte { return []byte("history") }

// at returns the id of the chapter that has a moment.
func (h history) at(moment docstore.Moment) (id int64) {
	for i, c := range h.Chapters {
		if i == 0 || c.begin() <= moment {
			id = c.ID
		}
	}
	return id
}

// beginChapter makes moments of the file higher than all that it has, and begins a chapter.
func (e *Engine) beginChapter(ctx context.Context) error {
	return e.write(ctx, 0, func(tx *bolt.Tx) (bool, error) {
		last, err := lastStamp(tx)
		if err != nil {
			return false, err
		}
		e.commit.moments.raise(last)
		catalog := tx.Bucket(catalogBucket())
		if raw := catalog.Get(historyKey()); raw != nil {
			if err := bson.Unmarshal(raw, &e.history); err != nil {
				return false, fmt.Errorf("catalog entry of the history: %w", err)
			}
		}
		chapters := e.history.Chapters
		if n := len(chapters); n > 0 && chapters[n-1].begin() > last {
			chapters = chapters[:n-1] // nothing happened in it, so no follower knows it
		}
		chapters = append(chapters, chapter{ID: newChapter(), Begin: int64(last + 1)}) // #nosec G115 -- the same bits
		e.history.Chapters = chapters[max(0, len(chapters)-maxChapters):]
		raw, err := bson.Marshal(e.history)
		if err != nil {
			return false, err
		}
		return true, catalog.Put(historyKey(), raw)
	})
}

// lastStamp returns the highest moment of a feed in a file.
func lastStamp(tx *bolt.Tx) (last docstore.Moment, err error) {
	cursor, prefix := tx.Bucket(catalogBucket()).Cursor(), feedKey("")
	for key, raw := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, raw = cursor.Next() {
		var state feedState
		if err := bson.Unmarshal(raw, &state); err != nil {
			return 0, fmt.Errorf("catalog entry %q: %w", key, err)
		}
		last = max(last, docstore.Moment(state.Forgotten)) // #nosec G115 -- the same bits
		if entry, _ := tx.Bucket(key).Cursor().Last(); len(entry) >= momentBytes {
			last = max(last, docstore.Moment(binary.BigEndian.Uint64(entry)))
		}
	}
	return last, nil
}

// newChapter draws the id of a chapter.
func newChapter() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}
