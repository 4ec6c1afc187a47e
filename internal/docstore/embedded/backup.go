package embedded

import (
	"bufio"
	"context"
	"io"

	bolt "go.etcd.io/bbolt"
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
