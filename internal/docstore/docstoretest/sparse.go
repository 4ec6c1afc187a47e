package docstoretest

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func sparseCases() []testCase {
	return []testCase{
		{"a sparse index has the documents that have its field, and no others", sparseHasFew},
		{"DeleteAll by a sparse index leaves the documents that lack its field", sparseDeletesFew},
		{"a deletion and an update may require that a field is missing", requiresMissing},
	}
}

// flagged returns a place with a flag; 0 for none.
func flagged(id, flag int64) place {
	p := somePlace(id)
	p.Flag = flag
	return p
}

func setFlag(t *testing.T, c *places, id, flag int64) {
	t.Helper()
	updated(t, c, id, func(p *place) { p.Flag = flag })
}

func sparseHasFew(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0), flagged(3, 7), flagged(4, -1), flagged(5, 0)})
	wantFlagged := func(want ...int64) {
		t.Helper()
		got := []int64{}
		for _, p := range walk(t, c, docstore.Query{Where: byFlag().All(), Limit: 1}) {
			got = append(got, p.ID)
		}
		wantEqual(t, "flagged", got, want)
		wantEqual(t, "count", countOf(t, c, byFlag().All()), int64(len(want)))
	}
	wantFlagged(4, 1, 3)
	setFlag(t, c, 1, 0)
	wantFlagged(4, 3)
	setFlag(t, c, 2, 7)
	must(t, c.UpdateMany(t.Context(), []int64{4, 5}, func(p *place) bool { p.Flag = p.ID % 4; return true }))
	wantFlagged(5, 2, 3)
	wantEqual(t, "with 7", walk(t, c, docstore.Query{Where: byFlag().Is(7), Limit: 1, Descending: true}), []place{flagged(3, 7), flagged(2, 7)})
	wantEqual(t, "from 3 on with 7", walk(t, c, docstore.Query{Where: byFlag().Is(7).FromID(3), Limit: 1}), []place{flagged(3, 7)})
	wantEqual(t, "up to 1", walk(t, c, docstore.Query{Where: byFlag().In(docstore.UpTo[int64](1)), Limit: 1}), []place{flagged(5, 1)})
	must(t, c.Delete(t.Context(), 3))
	must(t, c.Delete(t.Context(), 4))
	wantFlagged(5, 2)
	wantContents(t, c, []place{flagged(1, 0), flagged(2, 7), flagged(5, 1)})
}

func sparseDeletesFew(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0), flagged(3, -1)})
	wantEqual(t, "deleted", deleteWhere(t, c, byFlag().All()), int64(2))
	wantContents(t, c, []place{flagged(2, 0)})
}

func requiresMissing(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, []place{flagged(1, 7), flagged(2, 0)})
	lacks := docstore.Lacks("flag")
	for id, want := range map[int64]error{1: docstore.ErrConflict, 2: nil, 3: docstore.ErrNotFound} {
		_, err := c.Set(t.Context(), id, map[string]any{"note": "changed"}, nil, lacks)
		wantError(t, err, want)
		wantError(t, c.Delete(t.Context(), id, lacks, docstore.Is("note", "changed")), want)
	}
	wantContents(t, c, []place{flagged(1, 7)})
}
