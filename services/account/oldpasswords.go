package account

import (
	"crypto/md5" // #nosec G501 -- old services stored MD5
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// maxBcryptCost is about one second of work.
	maxBcryptCost = 14
	// bcryptBytes is how many bytes of a password bcrypt sees, with a zero byte at the end of a
	// shorter one.
	bcryptBytes = 72
	// maxOldSaltBytes bounds the salt of an MD5 hash.
	maxOldSaltBytes = 100
	// maxMovedMemoryKiB, maxMovedPasses and maxMovedLanes bound the work of argon2id hashes of
	// other programs. PHP's default is 64 MiB and 4 passes.
	maxMovedMemoryKiB = 64 * 1024
	maxMovedPasses    = 8
	maxMovedLanes     = 8
	// maxMovedSaltBytes and maxMovedKeyBytes bound the other parts of those hashes.
	maxMovedSaltBytes = 64
	maxMovedKeyBytes  = 64
)

// errOldForm reports a hash in none of the forms of MovedUser.password_hash. It does not
// include the hash.
var errOldForm = errors.New("account: a password hash has no known form")

// oldPassword is a password hash in the form of an old service.
type oldPassword struct {
	form accountv1.PasswordForm
	// isMatch reports whether a password is the right one. The time of its comparison
	// depends on neither of them.
	isMatch func(password string) bool
}

// isOldForm reports whether a stored hash is not argon2id.
func isOldForm(hash string) bool {
	return hash != "" && !strings.HasPrefix(hash, "$argon2id$")
}

// formOf returns the form of a stored hash.
func formOf(hash string) accountv1.PasswordForm {
	switch {
	case hash == "":
		return accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED
	case !isOldForm(hash):
		return accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID
	}
	old, err := parseOldPassword(hash)
	if err != nil {
		return accountv1.PasswordForm_PASSWORD_FORM_UNSPECIFIED
	}
	return old.form
}

// oldForms are the names under which the old forms are stored.
var oldForms = map[accountv1.PasswordForm]string{
	accountv1.PasswordForm_PASSWORD_FORM_BCRYPT:    "bcrypt",
	accountv1.PasswordForm_PASSWORD_FORM_MD5:       "md5",
	accountv1.PasswordForm_PASSWORD_FORM_PHPASS:    "phpass",
	accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT: "md5-crypt",
}

// checkMovedHash refuses a hash that is in no known form or takes too much work.
func checkMovedHash(hash string) error {
	if hash == "" {
		return nil
	}
	if isOldForm(hash) {
		_, err := parseOldPassword(hash)
		return err
	}
	h, err := parseHash(hash)
	if err != nil || h.memoryKiB > maxMovedMemoryKiB || h.passes > maxMovedPasses || h.lanes > maxMovedLanes ||
		len(h.salt) > maxMovedSaltBytes || len(h.key) > maxMovedKeyBytes {
		return errOldForm
	}
	return nil
}

// parseOldPassword parses a hash in one of the old forms.
func parseOldPassword(hash string) (oldPassword, error) {
	switch {
	case hasAnyPrefix(hash, "$2a$", "$2b$", "$2y$"):
		return parseBcrypt(hash)
	case hasAnyPrefix(hash, "$P$", "$H$"):
		return parsePhpass(hash)
	case strings.HasPrefix(hash, "$1$"):
		return parseMD5Crypt(hash)
	}
	return parseMD5(hash)
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// hasSeenAll reports whether a hash that matches a password has seen all of it, and whether nothing
// but this password has that hash.
func hasSeenAll(hash, password string) bool {
	return formOf(hash) != accountv1.PasswordForm_PASSWORD_FORM_BCRYPT ||
		len(password) < bcryptBytes && !strings.Contains(password, "\x00")
}

func parseBcrypt(hash string) (oldPassword, error) {
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || cost > maxBcryptCost || !isBcrypt64(hash[7:]) {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, func(password string) bool {
		seen := []byte(password)[:min(len(password), bcryptBytes)]
		return bcrypt.CompareHashAndPassword([]byte(hash), seen) == nil
	}}, nil
}

// isBcrypt64 reports whether a text is a salt and a key of bcrypt.
func isBcrypt64(s string) bool {
	const saltAndKey = 22 + 31
	return len(s) == saltAndKey && strings.Trim(s, "./"+letters+digits) == ""
}

const (
	digits  = "0123456789"
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// md5Rounds are the ways in which MD5 is applied, by the word before the salt.
var md5Rounds = map[string]func(salt, password string) [md5.Size]byte{
	"md5":        func(salt, password string) [md5.Size]byte { return md5Of(salt + password) },
	"md5-suffix": func(salt, password string) [md5.Size]byte { return md5Of(password + salt) },
	"md5-twice": func(salt, password string) [md5.Size]byte {
		once := md5Of(password)
		return md5Of(hex.EncodeToString(once[:]) + salt)
	},
}

// parseMD5 parses 32 hexadecimal digits, or a word, a salt and the digits with "$" between
// them. The salt may contain "$".
func parseMD5(hash string) (oldPassword, error) {
	word, salt, sum := "md5", "", hash
	if first, last := strings.IndexByte(hash, '$'), strings.LastIndexByte(hash, '$'); first >= 0 {
		if first == last {
			return oldPassword{}, errOldForm
		}
		word, salt, sum = hash[:first], hash[first+1:last], hash[last+1:]
	}
	round, isKnown := md5Rounds[word]
	want, err := hex.DecodeString(sum)
	if !isKnown || err != nil || len(want) != md5.Size || len(salt) > maxOldSaltBytes {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_MD5, func(password string) bool {
		got := round(salt, password)
		return subtle.ConstantTimeCompare(got[:], want) == 1
	}}, nil
}

func md5Of(text string) [md5.Size]byte {
	return md5.Sum([]byte(text)) // #nosec G401 -- the old service's form
}

// crypt64 are the digits, from 0 to 63, of the texts that phpass and Unix's crypt write.
const crypt64 = "./" + digits + letters

const (
	// The rounds of phpass are 2 to a power. 2^16 rounds take about 10 ms.
	minPhpassPower, maxPhpassPower = 7, 16
	phpassSalt                     = 8
	// cryptDigits are the digits of 128 bits.
	cryptDigits = 22
	// cryptRounds and maxCryptSalt are fixed by the form.
	cryptRounds, maxCryptSalt = 1000, 8
)

// parsePhpass parses a portable hash of phpass: "$P$" or "$H$", a digit for the rounds, a salt
// and the sum.
func parsePhpass(hash string) (oldPassword, error) {
	const start = len("$P$") + 1
	if len(hash) != start+phpassSalt+cryptDigits || strings.Trim(hash[start-1:], crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	power := strings.IndexByte(crypt64, hash[start-1])
	if power < minPhpassPower || power > maxPhpassPower {
		return oldPassword{}, errOldForm
	}
	salt, want := hash[start:start+phpassSalt], hash[start+phpassSalt:]
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_PHPASS, func(password string) bool {
		sum := md5Of(salt + password)
		round := append(sum[:], password...)
		for range 1 << power {
			sum = md5.Sum(round) // #nosec G401 -- the old service's form
			copy(round, sum[:])
		}
		return subtle.ConstantTimeCompare(appendCrypt64(nil, sum[:]), []byte(want)) == 1
	}}, nil
}

// parseMD5Crypt parses "$1$", a salt, "$" and the sum.
func parseMD5Crypt(hash string) (oldPassword, error) {
	salt, want, ok := strings.Cut(strings.TrimPrefix(hash, "$1$"), "$")
	if !ok || len(salt) > maxCryptSalt || len(want) != cryptDigits || strings.Trim(want, crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, func(password string) bool {
		return subtle.ConstantTimeCompare(md5Crypt(salt, password), []byte(want)) == 1
	}}, nil
}

// md5Crypt returns the sum of the MD5 form of Unix's crypt, as FreeBSD introduced it in 1994.
func md5Crypt(salt, password string) []byte {
	sum := md5Of(password + salt + password)
	first := []byte(password + "$1$" + salt)
	for left := len(password); left > 0; left -= md5.Size {
		first = append(first, sum[:min(left, md5.Size)]...)
	}
	for bits := len(password); bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			first = append(first, 0)
		} else {
			first = append(first, password[0])
		}
	}
	sum = md5.Sum(first) // #nosec G401 -- the old service's form
	var round []byte
	for n := range cryptRounds {
		even, odd := sum[:], []byte(password)
		if n%2 == 1 {
			even, odd = odd, even
		}
		round = append(round[:0], even...)
		if n%3 != 0 {
			round = append(round, salt...)
		}
		if n%7 != 0 {
			round = append(round, password...)
		}
		sum = md5.Sum(append(round, odd...)) // #nosec G401 -- the old service's form
	}
	// The form writes the bytes in this order.
	ordered := make([]byte, 0, md5.Size)
	for n := range 5 {
		ordered = append(ordered, sum[[]int{12, 13, 14, 15, 5}[n]], sum[n+6], sum[n])
	}
	return appendCrypt64(nil, append(ordered, sum[11]))
}

// appendCrypt64 appends bytes as digits, of each three bytes the lowest six bits first.
func appendCrypt64(text, bytes []byte) []byte {
	for group := range slices.Chunk(bytes, 3) {
		value := 0
		for n, b := range group {
			value |= int(b) << (8 * n)
		}
		for range len(group) + 1 {
			text = append(text, crypt64[value&63])
			value >>= 6
		}
	}
	return text
}
