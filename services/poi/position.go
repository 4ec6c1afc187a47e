package poi

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/waybook/waybook/internal/docstore"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// position is a place in the order of SearchNearby: by distance in metres, then by id.
type position struct {
	distance float64
	id       int64
}

// start is before every landmark.
var start = position{distance: -1}

func comparePositions(a, b position) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id))
}

// A page token consists of its search's origin, the distance and the id.
const (
	originBytes = 4
	tokenBytes  = originBytes + 8 + 8
)

// originOf ties page tokens to a search, because a position is valid in one area only.
func originOf(a area, category poiv1.PoiCategory) uint32 {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%v %v %v", a.middle, a.radius, category)
	if a.box != nil {
		_, _ = fmt.Fprintf(sum, " %v", *a.box)
	}
	return sum.Sum32()
}

func (p position) token(origin uint32) string {
	token := binary.BigEndian.AppendUint32(make([]byte, 0, tokenBytes), origin)
	token = binary.BigEndian.AppendUint64(token, math.Float64bits(p.distance))
	token = binary.BigEndian.AppendUint64(token, uint64(p.id))
	return base64.RawURLEncoding.EncodeToString(token)
}

// parsePosition reads a page token. It fails with docstore.ErrBadToken. The empty token
// means start.
func parsePosition(text string, origin uint32) (position, error) {
	if text == "" {
		return start, nil
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(token) != tokenBytes || binary.BigEndian.Uint32(token) != origin {
		return position{}, docstore.ErrBadToken
	}
	p := position{
		distance: math.Float64frombits(binary.BigEndian.Uint64(token[originBytes:])),
		id:       int64(binary.BigEndian.Uint64(token[originBytes+8:])),
	}
	// NaN fails the comparisons.
	if !(p.distance >= 0 && p.distance <= math.Pi*earthRadius) || math.Signbit(p.distance) || p.id < 1 {
		return position{}, docstore.ErrBadToken
	}
	return p, nil
}
