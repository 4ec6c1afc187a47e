package edge

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/internal/platform/admission"
)

const (
	// pageBytes is docstore.MaxPageBytes, the most that a page of a service has.
	pageBytes = 128 << 10
	// listBytes is what a reply holds that is sent in pieces: a page of photos and one of
	// comments, or a page of summaries, and the piece that its client reads, which may be
	// compressed besides.
	listBytes = 2*pageBytes + 2*sendAt
	// zips is the most replies that are compressed at a time. Each takes most of a megabyte, for
	// as long as its client reads.
	zips = 32
)

// goLong moves the request to LongReplyBytes, if there is room for so many bytes, and for a long
// reply of this client.
func (t *turn) goLong(bytes int) error {
	if t.isLong {
		return nil
	}
	t.findClient()
	if !t.load.ClientLongReplies.TryEnter(t.client) {
		return failure.Temporary("TOO_MANY_LONG_REPLIES", failure.TooMany, nil)
	}
	if !t.load.LongReplyBytes.TryEnter(int64(bytes)) {
		t.load.ClientLongReplies.Leave(t.client)
		return admission.ErrFull
	}
	t.made()
	t.isLong, t.bytes = true, int64(bytes)
	return nil
}

// zip takes a slot in Zips and reports whether there was one.
func (t *turn) zip() bool {
	t.isZip = t.isZip || t.load.Zips.TryEnter(1)
	return t.isZip
}

// unzip leaves Zips.
func (t *turn) unzip() {
	if t.isZip {
		t.load.Zips.Leave(1)
		t.isZip = false
	}
}

// countMisses does a read, or rejects it if earlier reads of the address found nothing too often.
// Another rejection than that of all reads would still tell what exists.
func (l *Load) countMisses(t *turn, read func() error) error {
	if l.Misses == nil {
		return read()
	}
	if t.findClient(); t.client == "" {
		return read() // a Unix socket
	}
	if err := tooOften("TOO_MANY_MISSES", l.Misses.Wait(t.client)); err != nil {
		return err
	}
	err := read()
	if status.Code(err) == codes.NotFound {
		l.Misses.Charge(t.client)
	}
	return err
}
