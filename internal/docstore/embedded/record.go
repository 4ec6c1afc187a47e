package embedded

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// record is a document as it is stored: the BSON, and behind it the moments that it has.
type record struct {
	bson bson.Raw
	// changed and made are the moments of the latest change and of the insert; 0 if the document
	// is not stamped.
	changed, made docstore.Moment
	// due is when a sweep has something to do for a tombstone, which has all three moments.
	isTombstone bool
	due         docstore.Moment
}

// stampBytes is the size of the two moments of a stored document, tombstoneBytes that of the three
// of a tombstone.
const stampBytes, tombstoneBytes = 16, 24

func recordOf(stored []byte) record {
	if len(stored) < 4 {
		return record{bson: stored}
	}
	n := int(binary.LittleEndian.Uint32(stored))
	moments := len(stored) - n
	if moments != stampBytes && moments != tombstoneBytes {
		return record{bson: stored}
	}
	r := record{
		bson:    stored[:n],
		changed: docstore.Moment(binary.BigEndian.Uint64(stored[n:])),
		made:    docstore.Moment(binary.BigEndian.Uint64(stored[n+8:])),
	}
	if moments == tombstoneBytes {
		r.isTombstone, r.due = true, docstore.Moment(binary.BigEndian.Uint64(stored[n+stampBytes:]))
	}
	return r
}

// stored returns the bytes to store.
func (r record) stored() []byte {
	if r.changed == 0 {
		return r.bson
	}
	into := make([]byte, 0, len(r.bson)+tombstoneBytes)
	into = append(into, r.bson...)
	into = binary.BigEndian.AppendUint64(into, uint64(r.changed))
	into = binary.BigEndian.AppendUint64(into, uint64(r.made))
	if r.isTombstone {
		into = binary.BigEndian.AppendUint64(into, uint64(r.due))
	}
	return into
}
