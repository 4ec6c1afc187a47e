package docstore_test

import (
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// A key may contain any text, such as an old identifier that is a path.
func TestAnOwnerIsCutFromOwnedKeysOnly(t *testing.T) {
	for _, key := range []string{"", "#7", "moved:7", "moved:2008/05/12/beach.jpg", "import:123456789/x", "5b2a5a52-3b80-4a5c-8b55-0c9c6b1f2a10"} {
		if got := docstore.BareKey(key); got != key {
			t.Errorf("the key %q without an owner becomes %q", key, got)
		}
		if got := docstore.BareKey(docstore.OwnedKey(1<<53-1, key)); got != key {
			t.Errorf("the key %q of an owner becomes %q", key, got)
		}
	}
}
