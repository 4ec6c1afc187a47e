package keys_test

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybook/waybook/internal/docstore/keys"
)

func TestEncodedIntegersSortLikeTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		got := bytes.Compare(keys.AppendInt64(nil, a), keys.AppendInt64(nil, b))
		if got != cmp.Compare(a, b) {
			t.Fatalf("the keys of %d and %d compare as %d", a, b, got)
		}
	})
}

func TestEncodedStringsSortLikeTheirBytesWhateverFollows(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("\x00\x01a\u00ff山🏔")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		tail := rapid.SliceOf(rapid.Byte())
		encodedA := append(keys.AppendString(nil, a), tail.Draw(t, "tail a")...)
		encodedB := append(keys.AppendString(nil, b), tail.Draw(t, "tail b")...)
		if want := strings.Compare(a, b); want != 0 && bytes.Compare(encodedA, encodedB) != want {
			t.Fatalf("the keys of %q and %q do not compare as %d", a, b, want)
		}
	})
}

func TestAppendedValuesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, s := rapid.Int64().Draw(t, "n"), rapid.String().Draw(t, "s")
		key := keys.AppendInt64(keys.AppendString(nil, s), n)
		skipped, err := keys.SkipString(key)
		if err != nil {
			t.Fatal(err)
		}
		gotS, rest, err := keys.CutString(key)
		if err != nil || gotS != s || !bytes.Equal(rest, skipped) {
			t.Fatalf("got %q, %x, %v", gotS, rest, err)
		}
		gotN, rest, err := keys.CutInt64(rest)
		if err != nil || gotN != n || len(rest) != 0 {
			t.Fatalf("got %d, %x, %v", gotN, rest, err)
		}
	})
}

// FuzzCutStringTakesOnlyWhatAppendStringMakes checks that each string has only one
// encoding. Otherwise two different keys would have the same meaning.
func FuzzCutStringTakesOnlyWhatAppendStringMakes(f *testing.F) {
	f.Add([]byte("a\x00\x00b"))
	f.Add([]byte("a\x00\xFFb\x00\x00"))
	f.Add([]byte("\x00\x01"))
	f.Fuzz(func(t *testing.T, key []byte) {
		s, rest, err := keys.CutString(key)
		skipped, skipErr := keys.SkipString(key)
		if (err == nil) != (skipErr == nil) {
			t.Fatalf("CutString returned error %v, SkipString %v", err, skipErr)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(rest, skipped) || !bytes.Equal(append(keys.AppendString(nil, s), rest...), key) {
			t.Fatalf("%x decodes to %q and the rest %x, which do not encode to it", key, s, rest)
		}
	})
}
