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
func FuzzParseBoxToken(f *testing.F) {
	w := boxWalk[int]{box: world}
	for _, seed := range []string{
		w.token(cellPosition{CellOf(25, 121), 7}), w.token(cellPosition{CellOf(25, 121), 0}), w.token(cellPosition{0, 1}),
		w.token(cellPosition{CellOf(25, 121), math.MaxInt64}), boxWalk[int]{box: world, category: 1}.token(cellPosition{CellOf(25, 121), 7}),
	} {
		raw, err := docstore.DecodeToken(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(raw[:len(raw)-1])
		f.Add(append(raw, 0))
	}
	if p, err := w.parse(""); p != nil || err != nil {
		f.Errorf("no token is %v, %v", p, err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		token := docstore.EncodeToken(raw)
		p, err := w.parse(token)
		switch {
		case err != nil:
			if !errors.Is(err, docstore.ErrBadToken) {
				t.Fatalf("got error %v", err)
			}
		case w.token(*p) != token || p.id < 1 || p.id+1 < p.id || !isLeaf(p.cell):
			t.Fatalf("%q was read as %v", token, p)
		}
	})
}
