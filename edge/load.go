package edge

import (
	"context"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
)

const (
	// smallFormBytes is the size up to which a form, its query and its body, needs no slot in
	// FormPieces. A small form that arrives slowly costs little more than its connection. A slot
	// allows formPieceBytes more.
	smallFormBytes = 8 << 10
	formPieceBytes = 64 << 10
	// formPieces bounds memory: all forms together have 16 MiB while they are read, and take a
	// few times as much with their copies.
	formPieces = 256
	// clientFormPieces has room for the largest form of an address, or for many small ones. It
	// leaves three quarters of the memory of forms to others.
	clientFormPieces = 64
	// readBytes and writeBytes are what a request holds in memory until its reply is made: its
	// message, as it arrives and decoded, and its reply. The longest entry takes 400 kB in each.
	readBytes  = 768 << 10
	writeBytes = 64 << 10
	// longestWait is how long a request waits at a concurrency limit.
	longestWait = 500 * time.Millisecond
	// clientBurst and userBurst are the bursts of Clients and Users, as the time in which the
	// rate allows as many. A user may write a minute's worth at once.
	clientBurst = 10 * time.Second
	userBurst   = time.Minute
	// readsPerRequest is how many entries and documents count as one request more of an address:
	// about as many as a search reads for a small page.
	readsPerRequest = 2500
	// missBurst has room for a page, or a crawler, that asks for many deleted contents at once.
	missBurst = 5 * time.Minute
)

// Load holds the concurrency limits and rate limits of the edge. A nil limit does not limit.
type Load struct {
	// Requests limits the requests in flight: the form has been read, the reply is being made.
	// ReplyBytes limits their memory. LongReplyBytes limits that of the replies of sendAt bytes or
	// more, from when they are sent, which takes as long as their clients read. FormPieces limits
	// the memory of forms: a form holds a slot for each piece of it. Zips limits the replies that
	// are compressed; others are sent plain.
	Requests, ReplyBytes, LongReplyBytes, FormPieces, Zips *admission.Gate
	// ClientLongReplies limits the long replies of an address.
	ClientLongReplies *admission.PerKey
	// ClientFormPieces limits the pieces of the forms of an address.
	ClientFormPieces *admission.PerKey
	// Uploads limits the requests with a file, which hold no slot in Requests, and ClientUploads
	// those of an address.
	Uploads       *admission.Gate
	ClientUploads *admission.PerKey
	// Clients limits the rate of requests per address, Users the rate of writes per user. Misses
	// limits the reads that find nothing, per address: a guess of an identifier may find a planned
	// entry.
	Clients, Users, Misses *admission.Rate
}

// newLoad returns a Load with the limits of the flags.
func newLoad(f *Flags) Load {
	share := debug.SetMemoryLimit(-1) / 3 // for replies that are made, and as much for those that are sent
	return Load{
		Requests: admission.New(admission.Limits{Slots: int64(f.MaxRequests), Queue: f.MaxRequests,
			Wait: longestWait}),
		ReplyBytes:        admission.New(admission.Limits{Slots: share, Queue: math.MaxInt, Wait: longestWait}),
		LongReplyBytes:    admission.New(admission.Limits{Slots: min(share, int64(f.MaxLongReplies)*listBytes)}),
		FormPieces:        admission.New(admission.Limits{Slots: formPieces, Queue: formPieces, Wait: longestWait}),
		ClientFormPieces:  admission.NewPerKey(clientFormPieces),
		Zips:              admission.New(admission.Limits{Slots: zips}),
		ClientLongReplies: admission.NewPerKey(f.ClientLongReplies),
		Uploads: admission.New(admission.Limits{Slots: int64(f.MaxUploads), Queue: f.MaxUploads,
			Wait: longestWait}),
		ClientUploads: admission.NewPerKey(f.ClientUploads),
		Clients:       admission.NewRate(f.ClientRate, clientBurst, time.Now),
		Users:         admission.NewRate(f.UserWrites/60, userBurst, time.Now),
		Misses:        admission.NewRate(f.ClientMisses/60, missBurst, time.Now),
	}
}

// refuseClient rejects a request of an address that exceeds its rate limit.
func (l *Load) refuseClient(proxies TrustedProxies, r *http.Request) error {
	if l.Clients == nil {
		return nil
	}
	key := admission.ClientKey(proxies.client(r))
	if key == "" {
		return nil // a Unix socket: its clients have no addresses to count by
	}
	return tooOften("TOO_MANY_REQUESTS", l.Clients.Take(key))
}

// refuseUser rejects a request of a user who exceeds the rate limit of writes. Call it only
// after the session check. Otherwise anybody could use up the rate of another user with an
// invented cookie.
func (l *Load) refuseUser(user operation.UserID) error {
	return tooOften("TOO_MANY_WRITES", l.Users.Take(strconv.FormatInt(int64(user), 10)))
}

// chargeReads counts what the services read for a reply against the rate limit of requests, as far
// as one request of the address does not have it.
func (t *turn) chargeReads(count int32) {
	if t.load.Clients == nil {
		return
	}
	t.reads += int(count)
	for t.findClient(); t.reads >= readsPerRequest && t.client != ""; t.reads -= readsPerRequest {
		t.load.Clients.Charge(t.client)
	}
}

func tooOften(reason string, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	f := failure.New(reason)
	f.Kind, f.RetryAfter = failure.TooMany, wait
	return f
}

// turn holds the slots that one request takes under the concurrency limits.
type turn struct {
	load *Load
	// address returns the key of the client, or "" if it has none. client is its result, once a
	// limit per client has needed it.
	address func() string
	client  string
	isBegun bool
	isLong  bool
	isZip   bool
	// isUpload says that the request holds a slot in Uploads, and one in ClientUploads.
	isUpload bool
	// bytes is what the request holds of ReplyBytes or, if it is long, of LongReplyBytes.
	bytes int64
	// pieces is the number of slots in FormPieces, and of the client in ClientFormPieces.
	pieces int
	// reads are the entries and documents that were read and not yet charged.
	reads int
}

// begin waits for a slot in Requests, and for memory.
func (t *turn) begin(ctx context.Context, effect operation.Effect) error {
	if err := t.load.Requests.Enter(ctx, 1); err != nil {
		return err
	}
	bytes := [...]int64{operation.Reads: readBytes, operation.Writes: writeBytes}[effect]
	if err := t.load.ReplyBytes.Enter(ctx, bytes); err != nil {
		t.load.Requests.Leave(1)
		return err
	}
	t.isBegun, t.bytes = true, bytes
	return nil
}

// beginUpload is begin for a request with a file. A slow client holds its slots for minutes.
func (t *turn) beginUpload(ctx context.Context, _ operation.Effect) error {
	t.findClient()
	if !t.load.ClientUploads.TryEnter(t.client) {
		return failure.Temporary("TOO_MANY_UPLOADS", failure.TooMany, nil)
	}
	if err := t.load.Uploads.Enter(ctx, 1); err != nil {
		t.load.ClientUploads.Leave(t.client)
		return err
	}
	t.isUpload = true
	return nil
}

// growForm waits for slots in FormPieces until the form may have this size in bytes.
func (t *turn) growForm(ctx context.Context, size int) error {
	for size > smallFormBytes+t.pieces*formPieceBytes {
		t.findClient()
		if !t.load.ClientFormPieces.TryEnter(t.client) {
			return admission.ErrFull
		}
		if err := t.load.FormPieces.Enter(ctx, 1); err != nil {
			t.load.ClientFormPieces.Leave(t.client)
			return err
		}
		t.pieces++
	}
	return nil
}

// read appends bytes to a buffer until reading fails, io.EOF included. besides is the rest of the
// form.
func (t *turn) read(ctx context.Context, from io.Reader, buffer []byte, besides int) ([]byte, error) {
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
			if err := t.growForm(ctx, besides+cap(buffer)); err != nil {
				return buffer, err
			}
		}
		n, err := from.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			return buffer, err
		}
	}
}

func (t *turn) findClient() {
	if t.client == "" {
		t.client = t.address()
	}
}

// made leaves Requests and ReplyBytes: the reply is made, though perhaps not sent.
func (t *turn) made() {
	if t.isBegun {
		t.load.Requests.Leave(1)
		t.load.ReplyBytes.Leave(t.bytes)
		t.isBegun = false
	}
}

// end releases all slots of the request.
func (t *turn) end() {
	t.made()
	if t.isLong {
		t.load.LongReplyBytes.Leave(t.bytes)
		t.load.ClientLongReplies.Leave(t.client)
	}
	if t.isUpload {
		t.load.Uploads.Leave(1)
		t.load.ClientUploads.Leave(t.client)
	}
	t.unzip()
	for range t.pieces {
		t.load.FormPieces.Leave(1)
		t.load.ClientFormPieces.Leave(t.client)
	}
	*t = turn{load: t.load, address: t.address}
}
