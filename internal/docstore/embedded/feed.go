package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// The feed of a collection is two buckets: one with the entries of the documents, and one with the
// tombstones, both moment and encoded _id → nothing. A document has one entry, of its latest change.
// Its moments are stored behind it. The catalog has the state of the feed.

// feedState is the state of a feed in the catalog.
type feedState struct {
	Epoch int64 `bson:"epoch"`
	// Forgotten is the moment of the last tombstone that was deleted, or that when the feed began.
	Forgotten int64 `bson:"forgotten"`
}

func feedBucket(collection string) []byte { return []byte("feed/" + collection) }

func tombstonesBucket(collection string) []byte { return []byte("tombstones/" + collection) }

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
		return state, false, fmt.Errorf("catalog entry of the feed of %q: %w", collection, err)
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
	now.changed = b.table.engine.commit.moments.next()
	if before.bson == nil {
		now.made = now.changed
	} else if err := b.feed.Delete(entryKey(before.changed, id)); err != nil {
		return err
	}
	return b.feed.Put(entryKey(now.changed, id), nil)
}

// bury replaces the entry of a document by a tombstone.
func (b buckets) bury(id []byte, before record) error {
	if err := b.feed.Delete(entryKey(before.changed, id)); err != nil {
		return err
	}
	tombstones := b.tx.Bucket(tombstonesBucket(b.table.spec.Name))
	return tombstones.Put(entryKey(b.table.engine.commit.moments.next(), id), nil)
}

// openFeed makes the feed of a collection without documents, if there is none. It continues the moments
// of the file.
func (t *table) openFeed(ctx context.Context) error {
	if t.engine.db.IsReadOnly() {
		return nil
	}
	return t.engine.write(ctx, 0, func(tx *bolt.Tx) (changed bool, err error) {
		state, found, err := readFeedState(tx, t.spec.Name)
		if err != nil {
			return false, err
		}
		if found {
			moments := &t.engine.commit.moments
			for _, bucket := range t.feedBuckets() {
				if last, _ := tx.Bucket(bucket).Cursor().Last(); len(last) >= momentBytes {
					moments.raise(docstore.Moment(binary.BigEndian.Uint64(last)))
				}
			}
			moments.raise(docstore.Moment(state.Forgotten)) // #nosec G115 -- the same bits
			return false, nil
		}
		if first, _ := tx.Bucket(t.documents).Cursor().First(); first != nil {
			return false, errors.New("it has documents that no feed shows")
		}
		for _, bucket := range t.feedBuckets() {
			if _, err := tx.CreateBucket(bucket); err != nil {
				return true, err
			}
		}
		begun := t.engine.commit.moments.next()
		return true, writeFeedState(tx, t.spec.Name, feedState{Epoch: newEpoch(), Forgotten: int64(begun)}) // #nosec G115 -- the same bits
	})
}

func (t *table) feedBuckets() [][]byte { return [][]byte{t.feed, tombstonesBucket(t.spec.Name)} }

// newEpoch draws the name of a feed.
func newEpoch() int64 {
	var random [8]byte
	_, _ = rand.Read(random[:])                      // never fails
	return int64(binary.BigEndian.Uint64(random[:])) // #nosec G115 -- the same bits
}

// errNotDurable: what readers see may be undone when the file is opened again.
var errNotDurable = fmt.Errorf("%w: the last commit may not be durable", docstore.ErrUnavailable)

// Feed walks the feed up to the last moment that was durable a settling time ago.
func (t *table) Feed(ctx context.Context, scan docstore.FeedScan) (batch docstore.FeedBatch, err error) {
	if err := t.spec.CheckFeed(scan); err != nil {
		return batch, err
	}
	durable := func(context.Context) (docstore.Moment, error) {
		if t.engine.commit.failure() != nil {
			return 0, errNotDurable
		}
		return docstore.Moment(t.engine.commit.moments.durable.Load()), nil
	}
	err = t.settled.Read(ctx, t.spec.SettlingTime(), scan.GoesOn, durable, func(settled docstore.Moment) (isFull bool, err error) {
		batch, err = t.readFeed(ctx, scan, settled)
		return batch.More, err
	})
	return batch, err
}

func (t *table) readFeed(ctx context.Context, scan docstore.FeedScan, settled docstore.Moment) (docstore.FeedBatch, error) {
	batch := docstore.FeedBatch{Until: settled}
	if scan.Since == 0 {
		scan.Since = settled
	}
	err := t.engine.view(ctx, func(tx *bolt.Tx) error {
		state, _, err := readFeedState(tx, t.spec.Name)
		if err != nil {
			return err
		}
		batch.Epoch, batch.Forgotten = state.Epoch, docstore.Moment(state.Forgotten) // #nosec G115 -- the same bits
		documents, size, n := tx.Bucket(t.documents), 0, 0
		defer func() { t.engine.scanned(tx, n, size) }()
		for w := t.walkFeed(tx, scan); w.key != nil; w.next() {
			if n++; n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			change, err := t.entryOf(w.key)
			if err != nil || change.At > settled {
				return err
			}
			if change.At == scan.After.At && change.ID == scan.After.ID {
				continue
			}
			if len(batch.Changes) == scan.Limit {
				batch.More = true
				return nil
			}
			if !w.isTombstone {
				id := w.key[momentBytes:]
				found := documents.Get(id)
				if found == nil {
					return fmt.Errorf("the store is damaged: feed entry %x refers to a missing document", w.key)
				}
				r := recordOf(found)
				if size += r.size(); scan.MaxBytes > 0 && len(batch.Changes) > 0 && size > scan.MaxBytes {
					batch.More = true
					return nil
				}
				change.Made = r.made
				if change.Document, err = t.whole(tx, id, r, scan.Fields); err != nil {
					return err
				}
			}
			batch.Changes = append(batch.Changes, change)
			batch.Next = docstore.FeedPosition{At: change.At, ID: change.ID}
		}
		return nil
	})
	if !batch.More {
		batch.Next = docstore.FeedPosition{At: settled}
	}
	return batch, err
}

// feedWalk walks over the entries and the tombstones of a feed in their common order.
type feedWalk struct {
	entries, tombstones *bolt.Cursor
	entry, tombstone    []byte
	// key is the present one.
	key         []byte
	isTombstone bool
}

func (t *table) walkFeed(tx *bolt.Tx, scan docstore.FeedScan) *feedWalk {
	w := &feedWalk{entries: tx.Bucket(t.feed).Cursor(), tombstones: tx.Bucket(tombstonesBucket(t.spec.Name)).Cursor()}
	start := seekFeed(scan.After)
	w.entry, _ = w.entries.Seek(start)
	if since := entryKey(scan.Since+1, nil); bytes.Compare(start, since) < 0 {
		start = since
	}
	w.tombstone, _ = w.tombstones.Seek(start)
	w.choose()
	return w
}

func (w *feedWalk) next() {
	if w.isTombstone {
		w.tombstone, _ = w.tombstones.Next()
	} else {
		w.entry, _ = w.entries.Next()
	}
	w.choose()
}

func (w *feedWalk) choose() {
	w.isTombstone = w.entry == nil || w.tombstone != nil && bytes.Compare(w.tombstone, w.entry) < 0
	w.key = w.entry
	if w.isTombstone {
		w.key = w.tombstone
	}
}

// seekFeed returns the first key that may be behind a position.
func seekFeed(after docstore.FeedPosition) []byte {
	if after.ID.IsNone() {
		return entryKey(after.At+min(after.At, 1), nil)
	}
	return entryKey(after.At, docstore.AppendValues(nil, after.ID))
}

// entryOf decodes an entry of the feed.
func (t *table) entryOf(key []byte) (change docstore.RawChange, err error) {
	if len(key) < momentBytes {
		return change, errors.New("the store is damaged: an entry of the feed is too short")
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

// Forget deletes tombstones in chunks. It notes the last one in the same transaction.
func (t *table) Forget(ctx context.Context, keep time.Duration) (total int64, err error) {
	if err := t.spec.CheckFeed(docstore.FeedScan{Limit: 1}); err != nil {
		return 0, err
	}
	for {
		forgotten := int64(0)
		err := t.engine.write(ctx, deleteChunkBytes, func(tx *bolt.Tx) (_ bool, err error) {
			forgotten, err = t.forgetChunk(tx, docstore.MomentOf(t.engine.commit.moments.now().Add(-keep)))
			return forgotten > 0, err
		})
		total += forgotten
		if err != nil || forgotten < deleteChunkDocuments {
			return total, err
		}
	}
}

func (t *table) forgetChunk(tx *bolt.Tx, horizon docstore.Moment) (forgotten int64, err error) {
	tombstones := tx.Bucket(tombstonesBucket(t.spec.Name))
	var doomed [][]byte
	cursor := tombstones.Cursor()
	end := entryKey(horizon+1, nil)
	for key, _ := cursor.First(); key != nil && bytes.Compare(key, end) < 0 && len(doomed) < deleteChunkDocuments; key, _ = cursor.Next() {
		doomed = append(doomed, bytes.Clone(key))
	}
	if len(doomed) == 0 {
		return 0, nil
	}
	for _, key := range doomed {
		if err := tombstones.Delete(key); err != nil {
			return 0, err
		}
	}
	state, _, err := readFeedState(tx, t.spec.Name)
	if err != nil {
		return 0, err
	}
	state.Forgotten = int64(binary.BigEndian.Uint64(doomed[len(doomed)-1])) // #nosec G115 -- the same bits
	return int64(len(doomed)), writeFeedState(tx, t.spec.Name, state)
}

// checkFeed checks that each document has its entry, and that the feed has no others.
func (t *table) checkFeed(ctx context.Context, tx *bolt.Tx) error {
	_, hasFeed, err := readFeedState(tx, t.spec.Name)
	if err != nil || !hasFeed {
		return err
	}
	feed, n := tx.Bucket(t.feed), 0
	for w := t.walk(tx, nil, docstore.Bounds{}); w.valid(); w.next() {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		wanted := entryKey(recordOf(w.value).changed, w.key)
		if key, _ := feed.Cursor().Seek(wanted); !bytes.Equal(key, wanted) {
			return fmt.Errorf("document %x has no entry", w.key)
		}
	}
	cursor := feed.Cursor()
	for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
		n--
	}
	if n != 0 {
		return fmt.Errorf("there are %d more documents than entries", n)
	}
	return nil
}

// moments stamps the writes of a file. Each stamp is higher than all before, also those of earlier
// processes, whatever the clock does. Only the committer stamps, so the order of the stamps is that
// of the commits.
type moments struct {
	now  func() time.Time
	last docstore.Moment
	// durable is the last stamp of the commits that have succeeded.
	durable atomic.Uint64
}

func (m *moments) next() docstore.Moment {
	m.last = max(m.last+1, docstore.MomentOf(m.now()))
	return m.last
}

// raise makes later stamps higher than a stored one.
func (m *moments) raise(stored docstore.Moment) {
	m.last = max(m.last, stored)
	m.durable.Store(max(m.durable.Load(), uint64(stored)))
}

func (m *moments) committed() { m.durable.Store(uint64(m.last)) }
