package account

import (
	"crypto/md5" // #nosec G501 -- old services stored MD5
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/crypto/bcrypt"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// maxBcryptCost is about one second of work.
	maxBcryptCost = 14
	// bcryptBytes is how many bytes of a password bcrypt sees.
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
