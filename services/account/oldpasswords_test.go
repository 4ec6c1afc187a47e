package account

import (
	"errors"
	"strings"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// oldHashes are hashes by other programs: PHP 8.2 (argon2id, bcrypt, MD5), OpenSSL ($1$), and the
// examples of hashcat.
var oldHashes = []struct {
	form           accountv1.PasswordForm
	hash, password string
}{
	{accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID, "$argon2id$v=19$m=65536,t=4,p=1$cEl0T2syWk1YZDVXd3luNg$R6ZZlz4pPPtl6bS4fitbICOrTZdqbPZfhKBbOn6Lm1k", "correct horse"},
	{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, "$2y$05$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eXu", "correct horse"},
	{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, "$2a$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5, "8743b52063cd84097a65d1633f5c74f5", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5, "8743B52063CD84097A65D1633F5C74F5", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5, "md5$1234$511f2e4b54deddc712fa31d84b11b67c", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5, "md5-suffix$54718031842521651757785603028777$19e0e8d91c722e7091ca7a6a6fb0f4fa", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5, "md5-twice$318463$25cfa547f42cebe9ff4c899de0804c5d", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_PHPASS, "$P$984478476IagS59wHZvyQMArzfx58u.", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_PHPASS, "$H$984478476IagS59wHZvyQMArzfx58u.", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, "$1$28772684$iEwNOgGugqO9.bIz5sk8k/", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, "$1$abcdefgh$y6iHhJNbuC0xpbk0w9pm80", "correct horse"},
	{accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, "$1$x$NmCNYiRRhfuffObKrU1qp.", "小旅人"},
}

func TestAPasswordInAnOldFormMatchesItsHashAndNoOther(t *testing.T) {
	p := newPasswords()
	for _, c := range oldHashes {
		if err := checkMovedHash(c.hash); err != nil {
			t.Errorf("%s is refused: %v", c.hash, err)
		}
		if form := formOf(c.hash); form != c.form {
			t.Errorf("%s is %v, want %v", c.hash, form, c.form)
		}
		for password, want := range map[string]bool{c.password: true, c.password + "x": false, strings.ToUpper(c.password) + "?": false, "": false} {
			if got, err := p.match(t.Context(), byAnybody, password, c.hash); got != want || err != nil {
				t.Errorf("%s, %q: match returned %v, %v; want %v", c.hash, password, got, err, want)
			}
		}
	}
}

// Bcrypt in PHP sees 72 bytes of a password, and so did the old service.
func TestBcryptSeesTheBeginningOfALongPassword(t *testing.T) {
	// The hash is by PHP 8.2, of 100 times "a".
	const hash = "$2y$04$oTjB2p7.vf/glOMUXK3IvezfGO/SHZoVrg8kw0fDzQkeIRJVdUHhu"
	if isRight, err := newPasswords().match(t.Context(), byAnybody, strings.Repeat("a", 100), hash); !isRight || err != nil {
		t.Errorf("match returned %v, %v", isRight, err)
	}
	if isRight, err := newPasswords().match(t.Context(), byAnybody, strings.Repeat("a", 71), hash); isRight || err != nil {
		t.Errorf("a shorter one: match returned %v, %v", isRight, err)
	}
}

func TestAHashInNoKnownFormOrOfTooMuchWorkIsRefused(t *testing.T) {
	const salt, key = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		"x", "$", "$$", "$1$", "password", "8743b52063cd84097a65d1633f5c74f", "8743b52063cd84097a65d1633f5c74fg",
		"md5$8743b52063cd84097a65d1633f5c74f5", "sha1$1234$b474d48cdfc4974d86ef4d24904cdd91", "$1234$b474d48cdfc4974d86ef4d24904cdd91",
		"md5$" + strings.Repeat("s", maxOldSaltBytes+1) + "$b474d48cdfc4974d86ef4d24904cdd91",
		"$2x$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6", "$2y$15$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eXu",
		"$2y$03$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eXu", "$2y$05$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eX", "$2y$05$",
		"$P$L84478476IagS59wHZvyQMArzfx58u.", "$P$484478476IagS59wHZvyQMArzfx58u.", "$P$984478476IagS59wHZvyQMArzfx58u", "$P$984478476IagS59wHZvyQMArzfx58u$", "$P$",
		"$1$123456789$iEwNOgGugqO9.bIz5sk8k/", "$1$28772684$iEwNOgGugqO9.bIz5sk8k", "$1$28772684",
		"$5$rounds=5000$GX7BopJZJxPc/KEK$le16UF8I2Anb.rOrn22AUPWvzUETDGefUmAV8AZkGcD",
		"$argon2id$v=19$m=65537,t=2,p=1$" + salt + "$" + key, "$argon2id$v=19$m=65536,t=9,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=9$" + salt + "$" + key, "$argon2i$v=19$m=65536,t=2,p=1$" + salt + "$" + key,
	} {
		if err := checkMovedHash(hash); !errors.Is(err, errOldForm) && !errors.Is(err, errHash) || strings.Contains(err.Error(), "$") {
			t.Errorf("%s: got error %v, want one without the hash", hash, err)
		}
	}
}

// FuzzAMovedHashHasAKnownForm checks that each hash that is accepted has a form under which it
// is found, and does not match two passwords at once.
func FuzzAMovedHashHasAKnownForm(f *testing.F) {
	for _, c := range []string{"8743b52063cd84097a65d1633f5c74f5", "md5-suffix$a$b$19e0e8d91c722e7091ca7a6a6fb0f4fa", "$1$x$NmCNYiRRhfuffObKrU1qp."} {
		f.Add(c, "hashcat")
	}
	f.Fuzz(func(t *testing.T, hash, password string) {
		if hash == "" || checkMovedHash(hash) != nil {
			return
		}
		form := formOf(hash)
		if isOldForm(hash) != (oldForms[form] != "") || form == accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED {
			t.Errorf("%q is %v", hash, form)
		}
		switch form {
		case accountv1.PasswordForm_PASSWORD_FORM_MD5, accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT:
			old, err := parseOldPassword(hash)
			if err != nil || old.isMatch(password) && old.isMatch(password+"x") {
				t.Errorf("%q: matches two passwords, %v", hash, err)
			}
		}
	})
}
