package service

import (
	"crypto/sha256"
	"encoding/binary"

	"google.golang.org/protobuf/proto"
)

// Digest returns a digest of a request, for docstore.Request. Requests that ask for the same have
// the same digest: the caller sets defaults before, and clears the fields that do not count. It is
// stored, so the encoding must stay as it is; a test compares digests with earlier ones.
func Digest(request proto.Message) int64 {
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return 0 // none; the encoding of a valid request does not fail
	}
	sum := sha256.Sum256(encoded)
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
