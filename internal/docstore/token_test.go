package docstore

import (
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FuzzParseToken checks that any token either is refused as a bad one or decodes to
// values that encode to the same token.
func FuzzParseToken(f *testing.F) {
	fields := []Field{{Name: "title", Kind: String}, {Name: "seen", Kind: Int64}, {Name: "_id", Kind: Int64}}
	origin := []byte("0000")
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(5)}, {Key: "title", Value: "山\x00"}, {Key: "seen", Value: int64(-1)}})
	must(f, err)
	good, err := tokenOf(document, origin, fields)
	must(f, err)
	raw, err := DecodeToken(good)
	must(f, err)
	f.Add(raw)
	f.Add(raw[:len(raw)-2])
	f.Add(append(raw[:len(raw):len(raw)], 0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		token := EncodeToken(raw)
		values, err := parseToken(token, origin, fields)
		if err != nil {
			if !errors.Is(err, ErrBadToken) {
				t.Fatalf("got error %v, want ErrBadToken", err)
			}
			return
		}
		key := AppendValues(origin[:len(origin):len(origin)], values...)
		if EncodeToken(key) != token {
			t.Fatalf("token %q decodes to %v, which does not encode to the same token", token, values)
		}
	})
}

// A reader gets INVALID_ARGUMENT for a token that was changed on its way, instead of another page.
func TestATokenWithAChangedCharacterIsRefused(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, bad := range []string{"", "!", EncodeToken(nil) + "\n"} {
		if _, err := DecodeToken(bad); !errors.Is(err, ErrBadToken) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, raw := range [][]byte{{}, {0}, []byte("a position in a list"), make([]byte, 60)} {
		text := EncodeToken(slices.Clone(raw))
		if got, err := DecodeToken(text); err != nil || !slices.Equal(got, raw) {
			t.Fatalf("%x: got %x, %v", raw, got, err)
		}
		for at := range text {
			for _, other := range []byte(alphabet) {
				changed := []byte(text)
				changed[at] = other
				if string(changed) == text {
					continue
				}
				if _, err := DecodeToken(string(changed)); !errors.Is(err, ErrBadToken) {
					t.Errorf("%s for %s: %v", changed, text, err)
				}
			}
		}
	}
}
