package nearby

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/waybook/waybook/internal/docstore"
)

// Position is a position in the order of a search: by distance in metres, then by id.
type Position struct {
	Distance float64
	ID       int64
}

// start is before every document.
var start = Position{Distance: -1}

// Compare compares positions.
func Compare(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
}

// A page token consists of its search's origin, the distance and the id.
const (
	originBytes = 4
	tokenBytes  = originBytes + 8 + 8
)

// originOf ties page tokens to a search, because a position is valid in one area only.
func originOf(a Area, category int64) uint32 {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%v %v %v", a.middle, a.radius, category)
	if a.box != nil {
		_, _ = fmt.Fprintf(sum, " %v", *a.box)
	}
	return sum.Sum32()
}

func (p Position) token(origin uint32) string {
	token := binary.BigEndian.AppendUint32(make([]byte, 0, tokenBytes), origin)
	token = binary.BigEndian.AppendUint64(token, math.Float64bits(p.Distance))
	token = binary.BigEndian.AppendUint64(token, uint64(p.ID))
	return docstore.EncodeToken(token)
}

// parsePosition reads a page token. It fails with docstore.ErrBadToken. The empty token
// means start.
func parsePosition(text string, origin uint32) (Position, error) {
	if text == "" {
		return start, nil
	}
	token, err := docstore.DecodeToken(text)
	if err != nil || len(token) != tokenBytes || binary.BigEndian.Uint32(token) != origin {
		return Position{}, docstore.ErrBadToken
	}
	p := Position{
		Distance: math.Float64frombits(binary.BigEndian.Uint64(token[originBytes:])),
		ID:       int64(binary.BigEndian.Uint64(token[originBytes+8:])),
	}
	// NaN fails the comparisons.
	if !(p.Distance >= 0 && p.Distance <= math.Pi*earthRadius) || math.Signbit(p.Distance) || p.ID < 1 {
		return Position{}, docstore.ErrBadToken
	}
	return p, nil
}
