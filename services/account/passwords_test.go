package account

import (
	"errors"
	"strings"
	"testing"
)

func TestAPasswordMatchesItsHashAndNoOther(t *testing.T) {
	p := newPasswords()
	hash, err := p.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") || hash == again {
		t.Errorf("got hashes %s and %s, want different ones with the current cost", hash, again)
	}
	for password, want := range map[string]bool{"correct horse": true, "correct hors": false, "Correct horse": false, "": false} {
		if got, err := p.match(t.Context(), password, hash); got != want || err != nil {
			t.Errorf("%q: match returned %v, %v; want %v", password, got, err, want)
		}
		if got, err := p.match(t.Context(), password, ""); got || err != nil {
			t.Errorf("%q with an empty hash: match returned %v, %v; want false", password, got, err)
		}
	}
}

// The hash is from the tests of argon2's reference implementation.
func TestAHashFromAnotherProgramWithAnotherCostIsAccepted(t *testing.T) {
	const hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	p := newPasswords()
	for password, want := range map[string]bool{"password": true, "differentpassword": false} {
		if got, err := p.match(t.Context(), password, hash); got != want || err != nil {
			t.Errorf("%q: match returned %v, %v; want %v", password, got, err, want)
		}
	}
}

func TestAMalformedHashMatchesNothingAndIsNotInTheError(t *testing.T) {
	const salt, key = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		"x", "$$$$$", "$argon2id$v=19$m=65536,t=2,p=1$" + salt,
		"$argon2i$v=19$m=65536,t=2,p=1$" + salt + "$" + key,
		"$argon2id$v=16$m=65536,t=2,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=0,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=0$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=256$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=1,x$" + salt + "$" + key,
		"$argon2id$v=19$m=+65536,t=2,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=1$c29t$" + key,
		"$argon2id$v=19$m=65536,t=2,p=1$" + salt + "$",
		"$argon2id$v=19$m=65536,t=2,p=1$" + salt + "$" + key + "=",
		"$argon2id$v=19$m=65536,t=2,p=1$" + salt + "$" + key + "$",
	} {
		isRight, err := newPasswords().match(t.Context(), "password", hash)
		if isRight || !errors.Is(err, errHash) || strings.Contains(err.Error(), "$") {
			t.Errorf("%s: match returned %v, %v; want false and errHash", hash, isRight, err)
		}
	}
}

// FuzzAStoredHashIsReadOnlyAsItIsWritten checks that an accepted hash has only one
// spelling, a cost that argon2 supports, and a key of full length.
func FuzzAStoredHashIsReadOnlyAsItIsWritten(f *testing.F) {
	const salt, key = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		newHash().String(), "$argon2id$v=19$m=65536,t=2,p=1$" + salt + "$" + key, "$argon2id$v=19$m=1,t=0,p=0$" + salt + "$" + key,
		"$argon2id$v=19$m=+65536,t=2,p=1$" + salt + "$" + key, "$$$$$", "",
	} {
		f.Add(hash)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHash(text)
		if err != nil {
			if !errors.Is(err, errHash) {
				t.Errorf("%q: got error %v, want errHash", text, err)
			}
			return
		}
		if h.String() != text || h.passes < 1 || h.lanes < 1 || len(h.key) < keyBytes || len(h.salt) < leastSaltBytes {
			t.Errorf("%q was parsed as %+v", text, h)
		}
	})
}
