package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// covers reports whether the index has all fields that a scan wants, and they are integers. Such
// a scan reads no documents: it builds them from the entries, which are together in the file.
func (ix *index) covers(wanted []string) bool {
	if ix == nil || wanted == nil {
		return false
	}
	for _, field := range ix.fields {
		if field.Kind != docstore.Int64 {
			return false
		}
	}
	return !slices.ContainsFunc(wanted, func(name string) bool {
		return !slices.ContainsFunc(ix.fields, func(field docstore.Field) bool { return field.Name == name })
	})
}

// scanEntries is Scan with an index that covers it.
func (ix *index) scanEntries(ctx context.Context, w *walk, scan docstore.Scan) (documents []bson.Raw, more bool, err error) {
	size := ix.documentSize()
	most := scan.Limit
	if scan.MaxBytes > 0 {
		most = min(most, max(scan.MaxBytes/size, 1))
	}
	var shared []byte
	for ; w.valid(); w.next() {
		if len(documents)%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if len(documents) == most {
			return documents, true, nil
		}
		if cap(shared)-len(shared) < size {
			shared = make([]byte, 0, min(max(sharedBytes/size, 1), most)*size)
		}
		start := len(shared)
		if shared, err = ix.appendDocument(shared, w.key); err != nil {
			return nil, false, err
		}
		documents = append(documents, shared[start:len(shared):len(shared)])
	}
	return documents, false, nil
}

// documentSize returns the size of the documents that appendDocument builds.
func (ix *index) documentSize() int {
	size := 4 + 1 // the length and the end
	for _, field := range ix.fields {
		size += 1 + len(field.Name) + 1 + 8
	}
	return size
}

// appendDocument builds a document with the fields of the index from the key of an entry.
func (ix *index) appendDocument(into, key []byte) (_ []byte, err error) {
	into = binary.LittleEndian.AppendUint32(into, uint32(ix.documentSize()))
	for _, field := range ix.fields {
		var value int64
		if value, key, err = keys.CutInt64(key); err != nil {
			return nil, fmt.Errorf("the store is damaged: an entry of index %q is too short", ix.name)
		}
		into = append(into, byte(bson.TypeInt64))
		into = append(into, field.Name...)
		into = append(into, 0)
		into = binary.LittleEndian.AppendUint64(into, uint64(value))
	}
	return append(into, 0), nil
}
