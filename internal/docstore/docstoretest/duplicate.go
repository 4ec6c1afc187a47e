package docstoretest

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func duplicateCases() []testCase {
	return []testCase{
		{"a duplicate both in its id and in a key names the id", takenTwice},
		{"a key may contain the text of an error message", wordyKey},
		{"of documents in one InsertMany that exclude each other the first is stored", excludeEachOther},
	}
}

func takenTwice(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	wantDuplicate(t, c.Insert(t.Context(), somePlace(1)), docstore.IDIndex)
}

// wordyKey is for engines that parse the name of the index from an error message. The
// message also contains the key, which is user data.
func wordyKey(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	p := somePlace(1)
	p.Code = `x index: owner_slot dup key: { : 1 } UNIQUE constraint failed: index 'places_owner_slot'`
	must(t, c.Insert(t.Context(), p))
	q := somePlace(2)
	q.Code = p.Code
	wantDuplicate(t, c.Insert(t.Context(), q), "code")
	must(t, c.Insert(t.Context(), somePlace(2)))
	_, err := c.Update(t.Context(), int64(2), func(q *place) error { q.Code = p.Code; return nil })
	wantDuplicate(t, err, "code")
}

func excludeEachOther(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	sameID, sameCode, sameSlot := somePlace(2), somePlace(3), somePlace(5)
	sameID.Code, sameID.Slot = "another", 100
	sameCode.Code = somePlace(2).Code
	sameSlot.Slot = 2
	documents := []place{somePlace(2), sameID, sameCode, somePlace(4), sameSlot, somePlace(1), somePlace(6)}
	errs, err := c.InsertMany(t.Context(), documents)
	must(t, err)
	want := []string{"", docstore.IDIndex, "code", "", "owner_slot", docstore.IDIndex, ""}
	for i, index := range want {
		if index == "" {
			must(t, errs[i])
		} else {
			wantDuplicate(t, errs[i], index)
		}
	}
	wantContents(t, c, []place{somePlace(1), somePlace(2), somePlace(4), somePlace(6)})
}
