package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// The feed of a collection is a bucket with an entry for each document and each tombstone, of its latest
// change: moment and encoded _id → nothing. Its moments are stored behind it. The catalog has the state of
// the feed.

// feedState is the state of a feed in the catalog.
type feedState struct {
	// Forgotten is the moment of the last tombstone that was deleted, or that when the feed began.
	Forgotten int64 `bson:"forgotten"`
}

func feedBucket(collection string) []byte { return []byte("feed/" + collection) }

// feedKey is the key of a feed's state in the catalog.
func feedKey(collection string) []byte { return []byte("feed/" + collection) }

// momentBytes is the length of a moment in a key.
const momentBytes = 8

func entryKey(at docstore.Moment, id []byte) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, momentBytes+len(id)), uint64(at))
	return append(key, id...)
}

// readFeedState returns the state of a feed, if there is one.
func readFeedState(tx *bolt.Tx, collection string) (state feedState, found bool, err error) {
	raw := tx.Bucket(catalogBucket()).Get(feedKey(collection))
	if raw == nil {
		return state, false, nil
	}
	if err := bson.Unmarshal(raw, &state); err != nil {
		return state, false, damage("catalog entry of the feed of %q: %v", collection, err)
	}
	return state, true, nil
}

func writeFeedState(tx *bolt.Tx, collection string, state feedState) error {
	raw, err := bson.Marshal(state)
	if err != nil {
		return err
	}
	return tx.Bucket(catalogBucket()).Put(feedKey(collection), raw)
}

// stamp gives a document, which has the moments of the one before, its new ones, and moves its entry.
func (b buckets) stamp(id []byte, before record, now *record) error {
	moments := &b.table.engine.commit.moments
	now.changed = moments.next()
	if before.bson == nil {
		now.made = now.changed
	}
	if b.feed == nil {
		return nil
	}
	moments.shown = now.changed
	if err := b.table.engine.beginChapter(b.tx); err != nil {
		return err
	}
	if before.bson != nil {
		if err := b.feed.Delete(entryKey(before.changed, id)); err != nil {
			return err
		}
	}
	return b.feed.Put(entryKey(now.changed, id), nil)
}

// openFeed makes the feed of a collection without documents, if there is none.
func (t *table) openFeed(ctx context.Context) error {
	if t.engine.db.IsReadOnly() {
		return nil
	}
	return t.engine.write(ctx, 0, func(tx *bolt.Tx) (changed bool, err error) {
		if _, found, err := readFeedState(tx, t.spec.Name); err != nil || found {
			return false, err
		}
		if first, _ := tx.Bucket(t.documents).Cursor().First(); first != nil {
			return false, errors.New("it has documents that no feed shows")
		}
		if _, err := tx.CreateBucket(t.feed); err != nil {
			return true, err
		}
		moments := &t.engine.commit.moments
		moments.shown = moments.next()
		if err := t.engine.beginChapter(tx); err != nil {
			return true, err
		}
		return true, writeFeedState(tx, t.spec.Name, feedState{Forgotten: int64(moments.shown)}) // #nosec G115 -- the same bits
	})
}

// errNotDurable: what readers see may be undone when the file is opened again.
var errNotDurable = fmt.Errorf("%w: the last commit may not be durable", docstore.ErrUnavailable)

// Feed walks the feed up to the last moment that was durable a settling time ago.
func (t *table) Feed(ctx context.Context, scan docstore.FeedScan) (batch docstore.FeedBatch, err error) {
	if err := t.spec.CheckFeed(scan); err != nil {
		return batch, err
	}
	if scan.IsUnsettled {
		return t.readFeed(ctx, scan, math.MaxUint64)
	}
	durable := func(context.Context) (docstore.Moment, error) {
		if t.engine.commit.failure() != nil {
			return 0, errNotDurable
		}
		return docstore.Moment(t.engine.commit.moments.durable.Load()), nil
	}
	return t.settled.Read(ctx, t.spec.SettlingTime(), durable, func(settled, _ docstore.Moment) (docstore.FeedBatch, error) {
		return t.readFeed(ctx, scan, settled)
	})
}

func (t *table) readFeed(ctx context.Context, scan docstore.FeedScan, settled docstore.Moment) (docstore.FeedBatch, error) {
	batch := docstore.FeedBatch{Until: settled}
	h := t.engine.history
	if scan.Chapter != 0 && scan.Chapter != h.at(scan.Seen) {
		batch.IsElsewhere = true
		return batch, nil
	}
	if scan.Since == 0 {
		scan.Since = settled
	}
	err := t.engine.view(ctx, func(tx *bolt.Tx) error {
		state, _, err := readFeedState(tx, t.spec.Name)
		if err != nil {
			return err
		}
		batch.Forgotten = docstore.Moment(state.Forgotten) // #nosec G115 -- the same bits
		documents, size, n := tx.Bucket(t.documents), 0, 0
		defer func() { t.engine.scanned(tx, n, size) }()
		entries := tx.Bucket(t.feed).Cursor()
		if last, _ := entries.Last(); len(last) >= momentBytes {
			batch.Seen = docstore.Moment(binary.BigEndian.Uint64(last))
		}
		for key, _ := entries.Seek(seekFeed(scan.After)); key != nil; key, _ = entries.Next() {
			if n++; n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			change, err := t.entryOf(key)
			if err != nil || change.At > settled {
				return err
			}
			if change.At == scan.After.At && change.ID == scan.After.ID {
				continue
			}
			id := key[momentBytes:]
			found := documents.Get(id)
			if found == nil {
				return fmt.Errorf("the store is damaged: feed entry %x refers to a missing document", key)
			}
			r := recordOf(found)
			if r.isTombstone && change.At <= scan.Since {
				continue
			}
			if len(batch.Changes) == scan.Limit {
				batch.More = true
				return nil
			}
			change.Made = r.made
			if !r.isTombstone && !scan.IsUnsettled {
				if size += r.size(); scan.MaxBytes > 0 && len(batch.Changes) > 0 && size > scan.MaxBytes {
					batch.More = true
					return nil
				}
				if change.Document, err = t.whole(tx, id, r, scan.Fields); err != nil {
					return err
				}
			}
			batch.Changes = append(batch.Changes, change)
			batch.Next = docstore.FeedPosition{At: change.At, ID: change.ID}
		}
		return nil
	})
	if !scan.IsUnsettled {
		if !batch.More {
			batch.Next = docstore.FeedPosition{At: settled}
		}
		batch.Seen = max(batch.Seen, batch.Next.At, scan.Since)
	}
	batch.Chapter = h.at(batch.Seen)
	return batch, err
}

// seekFeed returns the first key that may be behind a position.
func seekFeed(after docstore.FeedPosition) []byte {
	if after.ID.IsNone() {
		return entryKey(after.At+min(after.At, 1), nil)
	}
	return entryKey(after.At, docstore.AppendValues(nil, after.ID))
}

// entryOf decodes an entry: a moment and an encoded _id.
func (t *table) entryOf(key []byte) (change docstore.RawChange, err error) {
	if len(key) < momentBytes {
		return change, errors.New("the store is damaged: an entry with a moment is too short")
	}
	change.At = docstore.Moment(binary.BigEndian.Uint64(key))
	if t.spec.ID == docstore.Int64 {
		var number int64
		number, _, err = keys.CutInt64(key[momentBytes:])
		change.ID = docstore.ValueOf(number)
	} else {
		var text string
		text, _, err = keys.CutString(key[momentBytes:])
		change.ID = docstore.ValueOf(text)
	}
	return change, err
}

// moments stamps the writes of a file. Each stamp is higher than all before, also those of earlier
// processes, whatever the clock does. Only the committer stamps, so the order of the stamps is that
// of the commits.
type moments struct {
	now  func() time.Time
	last docstore.Moment
	// shown is the last stamp in a feed, and durable that of the commits that have succeeded.
	shown   docstore.Moment
	durable atomic.Uint64
}

func (m *moments) next() docstore.Moment {
	m.last = max(m.last+1, docstore.MomentOf(m.now()))
	return m.last
}

// current is the time of the store: that of the clock, or the last stamp if the clock is behind it.
func (m *moments) current() docstore.Moment { return max(m.last, docstore.MomentOf(m.now())) }

// raise makes later stamps higher than a stored one.
func (m *moments) raise(stored docstore.Moment) {
	m.last, m.shown = max(m.last, stored), max(m.shown, stored)
	m.durable.Store(max(m.durable.Load(), uint64(stored)))
}

func (m *moments) committed() { m.durable.Store(uint64(m.shown)) }
