package account

import (
	"crypto/md5"  // #nosec G501 -- old services stored MD5
	"crypto/sha1" // #nosec G505 -- and SHA-1
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"hash"
	"strings"

	"github.com/go-crypt/x/base64"
	"github.com/go-crypt/x/crypt"
	"golang.org/x/crypto/bcrypt"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// maxBcryptCost is about one second of work.
	maxBcryptCost = 14
	// bcryptBytes is how many bytes of a password bcrypt sees, with a zero byte at the end of a
	// shorter one.
	bcryptBytes = 72
	// maxOldSaltBytes bounds the salt of a sum.
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

// crypt64 are the digits, from 0 to 63, of the texts that phpass and Unix's crypt write. Bcrypt
// has the same, in another order.
const crypt64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// errOldForm reports a hash in none of the forms of docs/moving-in.md. It does not
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
	old, _ := parseOldPassword(hash) // a hash in no known form has no form
	return old.form
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
	switch prefix, _, _ := strings.Cut(strings.TrimPrefix(hash, "$"), "$"); {
	case !strings.HasPrefix(hash, "$"):
		return parseSum(hash)
	case prefix == "2a" || prefix == "2b" || prefix == "2y":
		return parseBcrypt(hash)
	case prefix == "P" || prefix == "H":
		return parsePhpass(hash)
	case prefix == "1":
		return parseMD5Crypt(hash)
	}
	return oldPassword{}, errOldForm
}

// hasSeenAll reports whether a hash that matches a password has seen all of it, and whether
// nothing but this password has that hash.
func hasSeenAll(hash, password string) bool {
	return formOf(hash) != accountv1.PasswordForm_PASSWORD_FORM_BCRYPT ||
		len(password) < bcryptBytes && !strings.Contains(password, "\x00")
}

func parseBcrypt(hash string) (oldPassword, error) {
	const saltAndKey = 22 + 31
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || cost > maxBcryptCost || len(hash) != len("$2y$05$")+saltAndKey ||
		strings.Trim(hash[len("$2y$05$"):], crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, func(password string) bool {
		seen := []byte(password)[:min(len(password), bcryptBytes)]
		return bcrypt.CompareHashAndPassword([]byte(hash), seen) == nil
	}}, nil
}

// sums are the functions of sums, by the first word of a hash.
var sums = map[string]struct {
	form accountv1.PasswordForm
	make func() hash.Hash
}{
	"md5":    {accountv1.PasswordForm_PASSWORD_FORM_MD5, md5.New},
	"sha1":   {accountv1.PasswordForm_PASSWORD_FORM_SHA1, sha1.New},
	"sha256": {accountv1.PasswordForm_PASSWORD_FORM_SHA2, sha256.New},
	"sha512": {accountv1.PasswordForm_PASSWORD_FORM_SHA2, sha512.New},
}

// ways are the ways in which a sum has the salt and the password, by the second word.
var ways = map[string]func(sum func() hash.Hash, salt, password string) []byte{
	"":       func(sum func() hash.Hash, salt, password string) []byte { return sumOf(sum, salt+password) },
	"suffix": func(sum func() hash.Hash, salt, password string) []byte { return sumOf(sum, password+salt) },
	"twice": func(sum func() hash.Hash, salt, password string) []byte {
		return sumOf(sum, hex.EncodeToString(sumOf(sum, password))+salt)
	},
}

func sumOf(sum func() hash.Hash, text string) []byte {
	made := sum()
	made.Write([]byte(text))
	return made.Sum(nil)
}

// parseSum parses hexadecimal digits of a sum, whose number says which, or one or two words, a
// salt and the digits with "$" between them. The salt may contain "$".
func parseSum(hash string) (oldPassword, error) {
	words, salt, sum := "", "", hash
	if first, last := strings.IndexByte(hash, '$'), strings.LastIndexByte(hash, '$'); first >= 0 {
		if first == last {
			return oldPassword{}, errOldForm
		}
		words, salt, sum = hash[:first], hash[first+1:last], hash[last+1:]
	}
	want, err := hex.DecodeString(sum)
	if sum == hash {
		words = map[int]string{md5.Size: "md5", sha1.Size: "sha1", sha256.Size: "sha256",
			sha512.Size: "sha512"}[len(want)]
	}
	name, wayName, _ := strings.Cut(words, "-")
	of, isSum := sums[name]
	way, isWay := ways[wayName]
	if err != nil || !isSum || !isWay || len(want) != of.make().Size() || len(salt) > maxOldSaltBytes {
		return oldPassword{}, errOldForm
	}
	return oldPassword{of.form, func(password string) bool {
		return subtle.ConstantTimeCompare(way(of.make, salt, password), want) == 1
	}}, nil
}

// parsePhpass parses a portable hash of phpass: "$P$" or "$H$", a digit for the rounds, a salt
// and the sum. The rounds are 2 to a power. 2^16 rounds take about 10 ms.
func parsePhpass(hash string) (oldPassword, error) {
	const start, saltDigits, sumDigits, minPower, maxPower = len("$P$") + 1, 8, 22, 7, 16
	if len(hash) != start+saltDigits+sumDigits || strings.Trim(hash[start-1:], crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	power := strings.IndexByte(crypt64, hash[start-1])
	if power < minPower || power > maxPower {
		return oldPassword{}, errOldForm
	}
	salt, want := hash[start:start+saltDigits], hash[start+saltDigits:]
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_PHPASS, func(password string) bool {
		sum := sumOf(md5.New, salt+password)
		for range 1 << power {
			sum = sumOf(md5.New, string(sum)+password)
		}
		return subtle.ConstantTimeCompare(base64.EncodeCrypt(sum), []byte(want)) == 1
	}}, nil
}

// parseMD5Crypt parses "$1$", a salt, "$" and the sum, as Unix's crypt writes them.
func parseMD5Crypt(hash string) (oldPassword, error) {
	const maxSalt, sumDigits = 8, 22
	salt, want, _ := strings.Cut(strings.TrimPrefix(hash, "$1$"), "$")
	if len(salt) > maxSalt || len(want) != sumDigits || strings.Trim(want, crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, func(password string) bool {
		return subtle.ConstantTimeCompare(crypt.KeyMD5Crypt([]byte(password), []byte(salt)), []byte(want)) == 1
	}}, nil
}
