package id

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// PlaceBits is how many low bits of an identifier name its place, and Places is the number of
// places.
const (
	PlaceBits = 16
	Places    = 1 << PlaceBits
)

// Place is where a document lies among the shards of a store. A document has the place of the
// document that it belongs to: an album that of its owner, a photo that of its album. So what
// is read together lies together.
type Place uint16

// PlaceOf returns the place that an identifier names.
func PlaceOf(id int64) Place { return Place(id & (Places - 1)) }

// PlaceOfKey returns the place of a document that an owner names by a key. Documents of one
// owner spread over all places. The result never changes: it is in stored identifiers.
func PlaceOfKey(ownerID int64, key string) Place {
	hash := fnv.New64a()
	_, _ = hash.Write(binary.BigEndian.AppendUint64(nil, uint64(ownerID)))
	_, _ = hash.Write([]byte(key))
	sum := hash.Sum64()
	return Place(sum ^ sum>>16 ^ sum>>32 ^ sum>>48)
}

// AnyPlace returns a random place, for a document that belongs to no other.
func AnyPlace() Place { return Place(rand.Uint32()) } // #nosec G404 -- no secret
