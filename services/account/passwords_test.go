package account

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/admission"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
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

const (
	md5OfHashcat  = "8743b52063cd84097a65d1633f5c74f5"
	md5OfPassword = "5f4dcc3b5aa765d61d8327deb882cf99"
)

// oldHashes are hashes by other programs: PHP 8.2 (argon2id, bcrypt, MD5, SHA-1, SHA-512), OpenSSL 3 ($1$), and the examples of
// hashcat.
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
	{accountv1.PasswordForm_PASSWORD_FORM_SHA1, "b89eaac7e61417341b710b727768294d0e6a277b", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA1, "sha1$5363620024$cac35ec206d868b7d7cb0b55f31d9425b075082b", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA1, "sha1-suffix$2014$2fc5a684737ce1bf7b3b239df432416e0dd07357", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA1, "sha1-suffix$a$b$3c2dd029f7a4bab475f2a04c81b3dfabb6dcddda", "correct horse"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA1, "sha1-twice$s$59309abc412e5018c9c810825e0ed8585dab7932", "correct horse"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA2, "127e6fbfe24a750e72930c220a8e138275656b8e5d8f48a98c3c92df2caba935", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA2, "sha256$560407001617$eb368a2dfd38b405f014118c7d9747fcc97f4f0ee75c05963cd9da6ee65ef498", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA2, "sha256-suffix$53743528$c73d08de890479518ed60cf670d17faa26a4a71f995c1dcc978165399401a6c4", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA2, "82a9dda829eb7f8ffe9fbe49e45d47d2dad9664fbb7adf72492e3c81ebd3e29134d9bc12212bf83c6840f10e8246b9db54a4859b7ccd0123d86e5872c1e5082f", "hashcat"},
	{accountv1.PasswordForm_PASSWORD_FORM_SHA2, "sha512$salty$2e61d41c03654c7e5f46b73af807f42260ed25f38d05f64134d89a6505e6fd7053c9ab7bf1b355a4661d11ed01a271f3fa6432f3579de25747e2f92d809274e1", "correct horse"},
}

func TestAPasswordInAnOldFormMatchesItsHashAndNoOther(t *testing.T) {
	p := newPasswords()
	derive := p.derive
	p.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
		if memoryKiB == hashMemoryKiB { // the work in addition, which decides nothing
			return make([]byte, keyBytes)
		}
		return derive(password, salt, passes, memoryKiB, lanes, keyBytes)
	}
	for _, c := range oldHashes {
		if err := checkMovedHash(c.hash); err != nil {
			t.Errorf("%s is refused: %v", c.hash, err)
		}
		if form := formOf(c.hash); form != c.form {
			t.Errorf("%s is %v, want %v", c.hash, form, c.form)
		}
		for password, want := range map[string]bool{c.password: true, c.password + "x": false, strings.ToUpper(c.password) + "?": false, "": false} {
			if got, err := p.match(t.Context(), password, c.hash); got != want || err != nil {
				t.Errorf("%s, %q: match returned %v, %v; want %v", c.hash, password, got, err, want)
			}
		}
	}
}

// Bcrypt in PHP sees 72 bytes of a password, and so did the old service.
func TestBcryptSeesTheBeginningOfALongPassword(t *testing.T) {
	// The hash is by PHP 8.2, of 100 times "a".
	const hash = "$2y$04$oTjB2p7.vf/glOMUXK3IvezfGO/SHZoVrg8kw0fDzQkeIRJVdUHhu"
	if isRight, err := newPasswords().match(t.Context(), strings.Repeat("a", 100), hash); !isRight || err != nil {
		t.Errorf("match returned %v, %v", isRight, err)
	}
	if isRight, err := newPasswords().match(t.Context(), strings.Repeat("a", 71), hash); isRight || err != nil {
		t.Errorf("a shorter one: match returned %v, %v", isRight, err)
	}
}

func TestAHashInNoKnownFormOrOfTooMuchWorkIsRefused(t *testing.T) {
	const salt, key = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, hash := range []string{
		"x", "$", "$$", "$1$", "password", "8743b52063cd84097a65d1633f5c74f", "8743b52063cd84097a65d1633f5c74fg",
		"md5$8743b52063cd84097a65d1633f5c74f5", "sha1$1234$b474d48cdfc4974d86ef4d24904cdd91", "sha3$1234$b474d48cdfc4974d86ef4d24904cdd91", "md5-thrice$1$b474d48cdfc4974d86ef4d24904cdd91",
		"$1234$b474d48cdfc4974d86ef4d24904cdd91",
		"md5$" + strings.Repeat("s", maxOldSaltBytes+1) + "$b474d48cdfc4974d86ef4d24904cdd91",
		"$2x$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6", "$2y$15$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eXu",
		"$2y$03$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eXu", "$2y$05$TcMAoHNCYkMGKMxyD0gImOBeengkxYTzB8FxDcIeRt2hCNVuj9eX", "$2y$05$",
		"$P$L84478476IagS59wHZvyQMArzfx58u.", "$P$484478476IagS59wHZvyQMArzfx58u.", "$P$984478476IagS59wHZvyQMArzfx58u", "$P$984478476IagS59wHZvyQMArzfx58u$", "$P$",
		"$1$123456789$iEwNOgGugqO9.bIz5sk8k/", "$1$28772684$iEwNOgGugqO9.bIz5sk8k", "$1$28772684",
		"bcrypt-md5$$2y$05$Bn6fOS8GjLYxdjEoln7wP.mgFGUN1qiuye9fZyWXKLEqCmk0djYFq", "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19", "$5$saltstring$vc6YOOogU4kWVvwga8e9zTFgKcy4tb5LaPxIiPJzqEC",
		"pbkdf2_sha256$20000$H0dPx8NeajVu$GiC4k5kqbbR9qWBlsRgDywNqC2vd9kqfk7zdorEnNas=", "md5-both$47204$8d2129083ef35f4b365d5d87487e1207",
		"$argon2id$v=19$m=65537,t=2,p=1$" + salt + "$" + key, "$argon2id$v=19$m=65536,t=9,p=1$" + salt + "$" + key,
		"$argon2id$v=19$m=65536,t=2,p=9$" + salt + "$" + key, "$argon2i$v=19$m=65536,t=2,p=1$" + salt + "$" + key,
	} {
		if err := checkMovedHash(hash); !errors.Is(err, errOldForm) && !errors.Is(err, errHash) || strings.Contains(err.Error(), "$") {
			t.Errorf("%s: got error %v, want one without the hash", hash, err)
		}
	}
}

func TestAMovedUserLogsInWithEachOldFormAndThenHasArgon2id(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.passwords = newPasswords()
	form := func(id int64) accountv1.PasswordForm {
		t.Helper()
		u, err := s.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: id})
		if err != nil {
			t.Fatal(err)
		}
		return u.GetUser().GetPasswordForm()
	}
	seen := map[accountv1.PasswordForm]bool{}
	for i, c := range oldHashes {
		if seen[c.form] {
			continue
		}
		seen[c.form] = true
		id, email := int64(i+1), fmt.Sprintf("User%d@waybook.example", i)
		s.wantResults(t, "INSERTED", &moveinv1.User{Id: id, Name: "x", Email: email, PasswordHash: c.hash})
		wantFault(t, s.logIn(t.Context(), email, "not the password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		if got := form(id); got != c.form {
			t.Errorf("%s: before the login the form is %v", c.hash, got)
		}
		renewed := ""
		for range 2 { // with the old hash, and with the new one
			if err := s.logIn(t.Context(), strings.ToLower(email), c.password, "client"); err != nil {
				t.Fatalf("%s: %v", c.hash, err)
			}
			u, err := s.users.Get(t.Context(), id)
			if err != nil || !hasPresentCost(u.PasswordHash) || u.PasswordIsMoved || renewed != "" && u.PasswordHash != renewed {
				t.Errorf("%s: after the login %s is stored, %v", c.hash, u.PasswordHash, err)
			}
			renewed = u.PasswordHash
		}
	}
}

// Bcrypt sees 72 bytes of a password. A login proves no others, so it stores none.
func TestALoginStoresNoByteOfAPasswordThatItsOldHashDidNotSee(t *testing.T) {
	s := newBench(t).newServer(t)
	s.passwords = newPasswords()
	const hash = "$2y$04$oTjB2p7.vf/glOMUXK3IvezfGO/SHZoVrg8kw0fDzQkeIRJVdUHhu" // by PHP 8.2, of 100 times "a"
	const short = "$2a$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6"
	for i, c := range []struct{ hash, password, typed string }{
		{hash, strings.Repeat("a", 100), strings.Repeat("a", 72) + "a slip"},
		{hash, strings.Repeat("a", 100), strings.Repeat("a", 72)},
		{short, "hashcat", "hashcat\x00hashcat"},
	} {
		email := fmt.Sprintf("user%d@waybook.example", i)
		s.wantResults(t, "INSERTED", &moveinv1.User{Id: int64(i + 1), Name: "x", Email: email, PasswordHash: c.hash})
		for _, typed := range []string{c.typed, c.password} {
			if err := s.logIn(t.Context(), email, typed, "client"); err != nil {
				t.Errorf("%q after %q: %v", typed, c.typed, err)
			}
		}
	}
}

func TestMD5WaitsForNoSlowHashAndAnAttemptThatWasNotJudgedCountsNowhere(t *testing.T) {
	s := newBench(t).newServer(t)
	s.passwords.slow = admission.New(admission.Limits{Slots: 1})
	if !s.passwords.slow.TryEnter(1) {
		t.Fatal("the slow place is taken")
	}
	logIn := map[accountv1.PasswordForm]func() error{}
	for i, c := range oldHashes {
		email := fmt.Sprintf("user%d@waybook.example", i)
		s.wantResults(t, "INSERTED", &moveinv1.User{Id: int64(i + 1), Name: "x", Email: email, PasswordHash: c.hash})
		logIn[c.form] = func() error { return s.logIn(t.Context(), email, c.password, "client") }
	}
	for _, form := range []accountv1.PasswordForm{
		accountv1.PasswordForm_PASSWORD_FORM_MD5, accountv1.PasswordForm_PASSWORD_FORM_PHPASS, accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT,
	} {
		if err := logIn[form](); err != nil {
			t.Errorf("%v waits for the slow place: %v", form, err)
		}
	}
	for _, form := range []accountv1.PasswordForm{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID} {
		for range 2 * s.logins.limits.pair {
			if err := logIn[form](); !errors.Is(err, admission.ErrFull) {
				t.Fatalf("%v: got %v, want %v", form, err, admission.ErrFull)
			}
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
		if isOldForm(hash) != (form > accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID) || form == accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED {
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
