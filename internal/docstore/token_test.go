package docstore

import (
	"encoding/base64"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FuzzParseToken checks that any token either is refused as a bad one or decodes to
// values that encode to the same token.
func FuzzParseToken(f *testing.F) {
	fields := []Field{{Name: "title", Kind: String}, {Name: "seen", Kind: Int64}, {Name: "_id", Kind: Int64}}
	origin := []byte("0000")
	document, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(5)}, {Key: "title", Value: "山\x00"}, {Key: "seen", Value: int64(-1)}})
	if err != nil {
		f.Fatal(err)
	}
	good, err := tokenOf(document, origin, fields)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-2])
	f.Add(good + "\n")
	f.Add("")
	f.Add("!")
	f.Fuzz(func(t *testing.T, token string) {
		values, err := parseToken(token, origin, fields)
		if err != nil {
			if !errors.Is(err, ErrBadToken) {
				t.Fatalf("got error %v, want ErrBadToken", err)
			}
			return
		}
		key := AppendValues(origin[:len(origin):len(origin)], values...)
		if base64.RawURLEncoding.EncodeToString(key) != token {
			t.Fatalf("token %q decodes to %v, which does not encode to the same token", token, values)
		}
	})
}
