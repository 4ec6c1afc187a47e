package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
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

// The feed of a collection is a part with an entry for each document and each tombstone, of its
// latest change: moment and encoded _id → nothing. Its moments are stored behind it. The catalog
// has the state of the feed, and the identifier of the store.

// feedState is the state of a feed in the catalog.
type feedState struct {
	// Forgotten is the moment of the last tombstone that was deleted, or that when the feed began.
	Forgotten int64 `bson:"forgotten"`
}

// feedKey is the key of a feed's state in the catalog.
func feedKey(collection string) []byte { return []byte("feed/" + collection) }

// storeKey is the key of the identifier of the store in the catalog, and storeBytes the length of
// the identifier.
func storeKey() []byte { return []byte("store") }

const storeBytes = 8

// momentBytes is the length of a moment in a key.
const momentBytes = 8

// at returns the key of an entry with a moment, of the document with a key; of the first one at
// that moment for nil.
func (p part) at(moment docstore.Moment, document []byte) []byte {
	key := append(make([]byte, 0, momentBytes+max(len(document), partBytes)), p[:]...)
	key = binary.BigEndian.AppendUint64(key, uint64(moment))
	return append(key, document[min(partBytes, len(document)):]...)
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

// Renew draws another identifier.
func (e *Engine) Renew(ctx context.Context) error {
	return e.write(ctx, 0, func(tx *bolt.Tx) (bool, error) { return true, renew(tx) })
}

// RenewFile is Engine.Renew for a file that no engine has open.
func RenewFile(path string) error {
	db, err := openBolt(path, bolt.Options{}, 0)
	if err != nil {
		return err
	}
	db.NoFreelistSync = false
	return errors.Join(db.Update(renew), db.Close())
}

func renew(tx *bolt.Tx) error {
	var id [storeBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return tx.Bucket(catalogBucket()).Put(storeKey(), id[:])
}

// readStore returns the identifier of the store.
func readStore(tx *bolt.Tx) (int64, error) {
	id := tx.Bucket(catalogBucket()).Get(storeKey())
	if len(id) != storeBytes {
		return 0, damage("the identifier of the store has another length")
	}
	return int64(binary.BigEndian.Uint64(id)), nil // #nosec G115 -- the same bits
}

// stamp gives a document, which has the moments of the one before, its new ones, and moves its
// entry.
func (w writer) stamp(key []byte, before record, now *record) error {
	moments := &w.table.engine.commit.moments
	now.changed = moments.next()
	if before.bson == nil {
		now.made = now.changed
	}
	if w.table.spec.Feed == nil {
		return nil
	}
	moments.shown = now.changed
	if before.bson != nil {
		if err := w.data.Delete(w.table.feed.at(before.changed, key)); err != nil {
			return err
		}
	}
	return w.data.Put(w.table.feed.at(now.changed, key), nil)
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
		if t.documents.last(data(tx).Cursor()) != nil {
			return false, errors.New("it has documents that no feed shows")
		}
		if tx.Bucket(catalogBucket()).Get(storeKey()) == nil {
			if err := renew(tx); err != nil {
				return true, err
			}
		}
		moments := &t.engine.commit.moments
		moments.shown = moments.next()
		return true, writeFeedState(tx, t.spec.Name, feedState{Forgotten: int64(moments.shown)}) // #nosec G115 -- the same bits
	})
}

// Changes walks the feed.
func (t *table) Changes(ctx context.Context, scan docstore.ChangeScan) (batch docstore.ChangeBatch, err error) {
	if err := t.spec.CheckChanges(scan); err != nil {
		return batch, err
	}
	began, durable := time.Now(), docstore.Moment(t.engine.commit.moments.durable.Load())
	err = t.engine.view(ctx, func(tx *bolt.Tx) error {
		state, _, err := readFeedState(tx, t.spec.Name)
		if err != nil {
			return err
		}
		batch.Forgotten = docstore.Moment(state.Forgotten) // #nosec G115 -- the same bits
		if batch.Store, err = readStore(tx); err != nil {
			return err
		}
		return t.walkFeed(ctx, tx, scan, &batch)
	})
	if err == nil {
		err = t.engine.makeDurable(ctx)
	}
	if err != nil {
		return docstore.ChangeBatch{}, err
	}
	batch.Known = math.MaxUint64
	batch.Settled = t.settled.Settled(durable, began, t.spec.SettlingTime())
	return batch, nil
}

// makeDurable waits until what a reader has seen is durable. It may have seen the commit in
// progress, which has succeeded when the next operation begins.
func (e *Engine) makeDurable(ctx context.Context) error {
	return e.write(ctx, 0, func(*bolt.Tx) (changed bool, err error) { return false, nil })
}

// walkFeed adds the changes of a scan to a batch.
func (t *table) walkFeed(ctx context.Context, tx *bolt.Tx, scan docstore.ChangeScan,
	batch *docstore.ChangeBatch) error {
	all, size := data(tx), 0
	defer func() { t.engine.scanned(tx, len(batch.Changes), size) }()
	from := t.feed.at(scan.From.At, nil)
	if !scan.From.ID.IsNone() {
		from = docstore.AppendValues(from, scan.From.ID)
	}
	entries := all.Cursor()
	for key, _ := entries.Seek(from); bytes.HasPrefix(key, t.feed[:]); key, _ = entries.Next() {
		if len(batch.Changes) == scan.Limit {
			batch.More = true
			return nil
		}
		if len(batch.Changes)%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		change, document, err := t.entryOf(key)
		if err != nil {
			return err
		}
		found := all.Get(document)
		if found == nil {
			return fmt.Errorf("the store is damaged: feed entry %x refers to a missing document", key)
		}
		r := recordOf(found)
		size += len(r.bson)
		change.Made, change.IsGone = r.made, r.isTombstone
		batch.Changes = append(batch.Changes, change)
	}
	return nil
}

// entryOf decodes the key of an entry with a moment, and returns that of its document.
func (t *table) entryOf(key []byte) (change docstore.RawChange, document []byte, err error) {
	if len(key) < partBytes+momentBytes {
		return change, nil, errors.New("the store is damaged: an entry with a moment is too short")
	}
	id := key[partBytes+momentBytes:]
	change.At = docstore.Moment(binary.BigEndian.Uint64(key[partBytes:]))
	if t.spec.ID == docstore.Int64 {
		var number int64
		number, _, err = keys.CutInt64(id)
		change.ID = docstore.ValueOf(number)
	} else {
		var text string
		text, _, err = keys.CutString(id)
		change.ID = docstore.ValueOf(text)
	}
	return change, t.documents.key(id...), err
}

// readMoments makes moments higher than all that the file has, and returns the highest.
func (e *Engine) readMoments(ctx context.Context) (last docstore.Moment, err error) {
	err = e.view(ctx, func(tx *bolt.Tx) error {
		cursor, prefix := tx.Bucket(catalogBucket()).Cursor(), feedKey("")
		for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
			state, _, err := readFeedState(tx, string(key[len(prefix):]))
			if err != nil {
				return err
			}
			last = max(last, docstore.Moment(state.Forgotten)) // #nosec G115 -- the same bits
			found, err := readDeclaration(tx, string(key[len(prefix):]))
			if err != nil {
				return err
			}
			feed := part{byte(found.Number), feedPart}
			if entry := feed.last(data(tx).Cursor()); len(entry) >= partBytes+momentBytes {
				last = max(last, docstore.Moment(binary.BigEndian.Uint64(entry[partBytes:])))
			}
		}
		e.commit.moments.raise(last)
		return nil
	})
	return last, err
}

// moments stamps the writes of a file. Each stamp is higher than all before, also those of earlier
// processes, whatever the clock does. Only the committer stamps, so the order of the stamps is
// that of the commits.
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

// current is the time of the store: that of the clock, or the last stamp if the clock is behind
// it.
func (m *moments) current() docstore.Moment { return max(m.last, docstore.MomentOf(m.now())) }

// raise makes later stamps higher than a stored one.
func (m *moments) raise(stored docstore.Moment) {
	m.last, m.shown = max(m.last, stored), max(m.shown, stored)
	m.durable.Store(max(m.durable.Load(), uint64(stored)))
}

func (m *moments) committed() { m.durable.Store(uint64(m.shown)) }
