package embedded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// backupPiece is how much of a copy Backup writes at a time.
const backupPiece = 256 << 10

// Backup writes a copy of the store as it is at one moment. The copy is a store file. begin
// receives its size in bytes before the first write. Writers continue in the meantime, but
// no page that they free can be used again before Backup returns, so the file grows.
//
// A write that blocks holds the store in that state. The caller bounds it.
func (e *Engine) Backup(ctx context.Context, to io.Writer, begin func(bytes int64) error) error {
	return e.view(ctx, func(tx *bolt.Tx) error {
		if err := begin(tx.Size()); err != nil {
			return err
		}
		pieces := bufio.NewWriterSize(cancellable{ctx, to}, backupPiece)
		if _, err := tx.WriteTo(pieces); err != nil {
			return err
		}
		return pieces.Flush()
	})
}

// cancellable is a writer that fails once a context is done.
type cancellable struct {
	ctx context.Context
	to  io.Writer
}

func (c cancellable) Write(piece []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.to.Write(piece)
}

// RenewFeeds makes the followers of a file start anew: it gives each feed another name. The file is a
// backup that takes the place of a store, whose followers may have seen what the backup lacks.
func RenewFeeds(ctx context.Context, path string) (err error) {
	engine, err := open(systemDisk{}, path, bolt.Options{}, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	return engine.write(ctx, 0, func(tx *bolt.Tx) (changed bool, err error) {
		catalog := tx.Bucket(catalogBucket())
		states := map[string]feedState{}
		cursor, prefix := catalog.Cursor(), feedKey("")
		for key, raw := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, raw = cursor.Next() {
			var state feedState
			if err := bson.Unmarshal(raw, &state); err != nil {
				return false, fmt.Errorf("catalog entry %q: %w", key, err)
			}
			state.Epoch = newEpoch()
			states[string(key[len(prefix):])] = state
		}
		for collection, state := range states {
			if err := writeFeedState(tx, collection, state); err != nil {
				return true, err
			}
		}
		return len(states) > 0, nil
	})
}
