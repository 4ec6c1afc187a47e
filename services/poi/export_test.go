package poi

import (
	"fmt"
	"testing"

	"github.com/waybook/waybook/internal/id"
)

func FuzzOwnID(f *testing.F) {
	for _, key := range []string{"poi:1", "poi:01", "poi:+1", "poi:0", "poi:-1", "poi:", "1", "poi:9007199254740991", "poi:9007199254740992", "poi:99999999999999999999"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		poiID, ok := ownID(key)
		if ok && (poiID < 1 || poiID > id.Max || exportKey(poi{ID: poiID}) != key) {
			t.Errorf("%q is read as landmark %d", key, poiID)
		}
	})
}

func TestTheExportKeyHoldsTheLandmarksID(t *testing.T) {
	for _, want := range []int64{1, 890387685358236, id.Max} {
		if got, ok := ownID(fmt.Sprint("poi:", want)); got != want || !ok {
			t.Errorf("%d is read as %d, %v", want, got, ok)
		}
	}
}
