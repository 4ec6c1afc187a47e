package storekeeping

import (
	"context"
	"errors"

	"github.com/waybook/waybook/internal/docstore/embedded"
)

// Compacted is what Compact did.
type Compacted struct {
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
}

// Compact returns the free space of an embedded store's file to the file system. No service may
// have the store open. Its progress is the number of documents and index entries that are copied.
func Compact(ctx context.Context, options Options) (Compacted, error) {
	if options.Store.MongoDBURI != "" {
		return Compacted{}, errors.New("only an embedded store can be compacted; MongoDB has the command compact")
	}
	done, err := embedded.Compact(ctx, options.Store.File(), func(entries int64) { options.progress("", entries) })
	return Compacted{BytesBefore: done.Before, BytesAfter: done.After}, options.explained(err)
}
