package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// RenewFeeds makes the followers of a file start anew: it gives each feed another name. The file is a
// backup that takes the place of a store, whose followers may have seen what the backup lacks.
func RenewFeeds(ctx context.Context, path string) (err error) {
	engine, err := open(path, bolt.Options{}, refuseEmpty, time.Now)
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
