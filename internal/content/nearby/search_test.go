package nearby

import (
	"errors"
	"math"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

var world = Box{south: -90, west: -180, north: 90, east: 180}

// A token is either rejected as bad or read as a position that produces the same token
// again.
func FuzzParseToken(f *testing.F) {
	s, other := search[int]{area: world}, search[int]{area: world, Query: Query{Filter: Filter{Category: 1}}}
	key := Key{Cell: CellOf(25, 121), Day: 20260501, Category: 3, ID: 7}
	for _, seed := range []string{
		s.tokenOf(position{0, key}), s.tokenOf(position{12345, Key{ID: math.MaxInt64}}), other.tokenOf(position{0, key}),
		s.tokenOf(position{away: -1}), s.tokenOf(position{away: 1e9}),
	} {
		raw, err := docstore.DecodeToken(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)-1])
		f.Add(append(raw, 0))
	}
	if p, err := s.parse(""); p != nil || err != nil {
		f.Errorf("no token is %v, %v", p, err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		token := docstore.EncodeToken(raw)
		p, err := s.parse(token)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case s.tokenOf(*p) != token || p.away < 0:
			t.Fatalf("%q was read as %v", token, p)
		}
	})
}
