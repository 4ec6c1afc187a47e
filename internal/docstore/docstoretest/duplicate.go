package docstoretest

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func duplicateCases() []testCase {
	return []testCase{
		{"inserting an existing id is a duplicate", takenID},
		{"inserting an existing key of a unique index is a duplicate that names the index", takenKey},
		{"a duplicate both in its id and in a key names the id", takenTwice},
		{"a key may contain the text of an error message", wordyKey},
		{"of documents in one InsertMany that exclude each other the first is stored", excludeEachOther},
		{"an update to the key of another document is a duplicate and changes nothing", updateToTaken},
		{"an update may keep its own unique keys", updateKeeps},
		{"a key is free again when its document was deleted or changed", freedKeys},
		{"a refused insert leaves nothing in any index", refusedInsert},
	}
}

func takenID(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	other := somePlace(2)
	other.ID = 1
	wantDuplicate(t, c.Insert(t.Context(), other), docstore.IDIndex)
	wantContents(t, c, []place{somePlace(1)})
}

func takenKey(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	code := somePlace(2)
	code.Code = somePlace(1).Code
	wantDuplicate(t, c.Insert(t.Context(), code), "code")
	slot := somePlace(4)
	slot.Slot = 1
	wantDuplicate(t, c.Insert(t.Context(), slot), "owner_slot")
	slot.Owner = 2
	must(t, c.Insert(t.Context(), slot))
	wantContents(t, c, []place{somePlace(1), slot})
}

func takenTwice(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
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
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
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

func updateToTaken(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 4))
	_, err := c.Update(t.Context(), int64(2), func(p *place) error {
		p.Title, p.Code = "moved", "code 3"
		return nil
	})
	wantDuplicate(t, err, "code")
	_, err = c.Update(t.Context(), int64(4), func(p *place) error {
		p.Title, p.Code, p.Slot = "moved", "free", 1
		return nil
	})
	wantDuplicate(t, err, "owner_slot")
	wantContents(t, c, somePlaces(1, 4))
}

func updateKeeps(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 2))
	got, err := c.Update(t.Context(), int64(1), func(p *place) error {
		p.Title, p.Note = "moved", "changed"
		return nil
	})
	must(t, err)
	wantContents(t, c, []place{got, somePlace(2)})
}

func freedKeys(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	insertAll(t, c, somePlaces(1, 2))
	must(t, c.Delete(t.Context(), int64(1)))
	must(t, c.Insert(t.Context(), somePlace(1)))
	moved, err := c.Update(t.Context(), int64(2), func(p *place) error {
		p.Code, p.Slot = "elsewhere", 77
		return nil
	})
	must(t, err)
	successor := somePlace(2)
	successor.ID = 5
	must(t, c.Insert(t.Context(), successor))
	wantContents(t, c, []place{somePlace(1), moved, successor})
}

func refusedInsert(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(1)))
	refused := somePlace(4)
	refused.Slot = 1
	wantDuplicate(t, c.Insert(t.Context(), refused), "owner_slot")
	wantContents(t, c, []place{somePlace(1)})
	// Its code is still free, although the index code precedes owner_slot.
	another := somePlace(7)
	another.Code = refused.Code
	must(t, c.Insert(t.Context(), another))
	wantContents(t, c, []place{somePlace(1), another})
}
