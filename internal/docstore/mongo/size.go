package mongo

import (
	"cmp"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// unknownWhole is the assumed size of a document before the first scan, in bytes, and
// unknownPart that of some of its fields.
const unknownWhole, unknownPart = 64 << 10, 1 << 10

// sizes are the average sizes of the documents of the last scans, in bytes; 0 before the
// first.
type sizes struct{ whole, parts atomic.Int64 }

// averageSize is one of the sizes of a table.
type averageSize struct {
	known   *atomic.Int64
	assumed int
}

// of returns the size of the documents of scans that ask for the given fields; nil are all.
func (s *sizes) of(fields []string) averageSize {
	if fields == nil {
		return averageSize{&s.whole, unknownWhole}
	}
	return averageSize{&s.parts, unknownPart}
}

// likelyToFit returns how many of the wanted documents are likely to fit into the rest of a
// budget, and one more. A budget of 0 has no limit.
func (s averageSize) likelyToFit(wanted, budget, used int) int {
	wanted = min(wanted, maxFind)
	if budget == 0 {
		return wanted
	}
	return min(wanted, max(budget-used, 0)/cmp.Or(int(s.known.Load()), s.assumed)+1)
}

// learn notes the average size of the documents found. A collection with large documents
// is remembered for some scans.
func (s averageSize) learn(found []bson.Raw) {
	if len(found) == 0 {
		return
	}
	total := int64(0)
	for _, document := range found {
		total += int64(len(document))
	}
	s.known.Store(max(total/int64(len(found)), s.known.Load()/2, 1))
}
