package account

import (
	"crypto/md5" // #nosec G501 -- old services stored MD5
	"crypto/pbkdf2"
	"crypto/sha1" // #nosec G505 -- and SHA-1
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"strconv"
	"strings"

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
	// maxOldSaltBytes bounds the salt of a sum and of PBKDF2.
	maxOldSaltBytes = 100
	// maxPBKDF2Rounds and maxCryptRounds bound the work of PBKDF2 and of Unix's crypt: on one core of 2026, 0.3 s with
	// SHA-256 and up to 1.5 s with the others, and 0.2 s, or 2.4 s for a password of 1,000 bytes. Django 6.0 has
	// 1,200,000 rounds, and the usual number of crypt is 5,000.
	maxPBKDF2Rounds = 1_500_000
	maxCryptRounds  = 500_000
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
	accountv1.PasswordForm_PASSWORD_FORM_BCRYPT:     "bcrypt",
	accountv1.PasswordForm_PASSWORD_FORM_MD5:        "md5",
	accountv1.PasswordForm_PASSWORD_FORM_PHPASS:     "phpass",
	accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT:  "md5-crypt",
	accountv1.PasswordForm_PASSWORD_FORM_SHA1:       "sha1",
	accountv1.PasswordForm_PASSWORD_FORM_SHA2:       "sha2",
	accountv1.PasswordForm_PASSWORD_FORM_SHA_CRYPT:  "sha-crypt",
	accountv1.PasswordForm_PASSWORD_FORM_PBKDF2:     "pbkdf2",
	accountv1.PasswordForm_PASSWORD_FORM_MYSQL:      "mysql",
	accountv1.PasswordForm_PASSWORD_FORM_BCRYPT_MD5: "bcrypt-md5",
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
	case strings.HasPrefix(hash, bcryptOfMD5):
		return parseBcryptOfMD5(strings.TrimPrefix(hash, bcryptOfMD5))
	case hasAnyPrefix(hash, "$P$", "$H$"):
		return parsePhpass(hash)
	case hasAnyPrefix(hash, "$1$", "$5$", "$6$"):
		return parseCrypt(hash)
	case strings.HasPrefix(hash, "pbkdf2"):
		return parsePBKDF2(hash)
	case strings.HasPrefix(hash, "*"):
		return parseMySQL(hash[1:])
	}
	return parseSum(hash)
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

// bcryptOfMD5 begins a bcrypt hash of the digits of MD5 of a password.
const bcryptOfMD5 = "bcrypt-md5$"

func parseBcryptOfMD5(hash string) (oldPassword, error) {
	old, err := parseBcrypt(hash)
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT_MD5, func(password string) bool {
		return old.isMatch(digitsOf(md5.New, password))
	}}, err
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
		return sumOf(sum, digitsOf(sum, password)+salt)
	},
	"both": func(sum func() hash.Hash, salt, password string) []byte {
		return sumOf(sum, digitsOf(sum, salt)+digitsOf(sum, password))
	},
}

func sumOf(sum func() hash.Hash, text string) []byte {
	made := sum()
	made.Write([]byte(text))
	return made.Sum(nil)
}

// digitsOf returns the hexadecimal digits of a sum.
func digitsOf(sum func() hash.Hash, text string) string { return hex.EncodeToString(sumOf(sum, text)) }

// parseSum parses hexadecimal digits of a sum, whose number says which, or one or two words, a salt and the
// digits with "$" between them. The salt may contain "$".
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
		words = map[int]string{md5.Size: "md5", sha1.Size: "sha1", sha256.Size: "sha256", sha512.Size: "sha512"}[len(want)]
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

// parseMySQL parses the digits of SHA-1 of SHA-1, as PASSWORD() of MySQL 4.1 to 5.7 and of MariaDB writes them after
// a star.
func parseMySQL(digits string) (oldPassword, error) {
	want, err := hex.DecodeString(digits)
	if err != nil || len(want) != sha1.Size {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_MYSQL, func(password string) bool {
		return subtle.ConstantTimeCompare(sumOf(sha1.New, string(sumOf(sha1.New, password))), want) == 1
	}}, nil
}

// minPBKDF2KeyBytes and maxPBKDF2KeyBytes bound the key of PBKDF2.
const minPBKDF2KeyBytes, maxPBKDF2KeyBytes = 16, 64

// parsePBKDF2 parses a hash by Django (pbkdf2_sha256$ROUNDS$SALT$BASE64) or Werkzeug (pbkdf2:sha256:ROUNDS$SALT$HEX).
func parsePBKDF2(hash string) (oldPassword, error) {
	parts := strings.Split(hash, "$")
	decode := base64.StdEncoding.DecodeString
	if werkzeug := strings.Split(parts[0], ":"); len(parts) == 3 && len(werkzeug) == 3 {
		parts = []string{werkzeug[0] + "_" + werkzeug[1], werkzeug[2], parts[1], parts[2]}
		decode = hex.DecodeString
	}
	if len(parts) != 4 {
		return oldPassword{}, errOldForm
	}
	of, isKnown := sums[strings.TrimPrefix(parts[0], "pbkdf2_")]
	rounds, err := strconv.ParseUint(parts[1], 10, 32)
	want, keyErr := decode(parts[3])
	if !isKnown || err != nil || keyErr != nil || rounds < 1 || rounds > maxPBKDF2Rounds || len(parts[2]) > maxOldSaltBytes ||
		len(want) < minPBKDF2KeyBytes || len(want) > maxPBKDF2KeyBytes {
		return oldPassword{}, errOldForm
	}
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_PBKDF2, func(password string) bool {
		key, err := pbkdf2.Key(of.make, password, []byte(parts[2]), int(rounds), len(want)) // #nosec G115 -- bounded
		return err == nil && subtle.ConstantTimeCompare(key, want) == 1
	}}, nil
}

// crypt64 are the digits, from 0 to 63, of the texts that phpass and Unix's crypt write.
const crypt64 = "./" + digits + letters

const (
	// The rounds of phpass are 2 to a power. 2^16 rounds take about 10 ms.
	minPhpassPower, maxPhpassPower = 7, 16
	phpassSalt                     = 8
	// phpassDigits are the digits of 128 bits.
	phpassDigits = 22
)

// parsePhpass parses a portable hash of phpass: "$P$" or "$H$", a digit for the rounds, a salt
// and the sum.
func parsePhpass(hash string) (oldPassword, error) {
	const start = len("$P$") + 1
	if len(hash) != start+phpassSalt+phpassDigits || strings.Trim(hash[start-1:], crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	power := strings.IndexByte(crypt64, hash[start-1])
	if power < minPhpassPower || power > maxPhpassPower {
		return oldPassword{}, errOldForm
	}
	salt, want := hash[start:start+phpassSalt], hash[start+phpassSalt:]
	return oldPassword{accountv1.PasswordForm_PASSWORD_FORM_PHPASS, func(password string) bool {
		sum := sumOf(md5.New, salt+password)
		for range 1 << power {
			sum = sumOf(md5.New, string(sum)+password)
		}
		return subtle.ConstantTimeCompare(appendCrypt64(nil, sum), []byte(want)) == 1
	}}, nil
}

// crypts are the forms of Unix's crypt that are known.
var crypts = map[string]struct {
	form            accountv1.PasswordForm
	digits, maxSalt int
	key             func(password, salt []byte, rounds int) []byte
}{
	"1": {accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT, 22, 8, func(password, salt []byte, _ int) []byte { return crypt.KeyMD5Crypt(password, salt) }},
	"5": {accountv1.PasswordForm_PASSWORD_FORM_SHA_CRYPT, 43, 16, func(password, salt []byte, rounds int) []byte {
		return crypt.KeySHACrypt(sha256.New, password, salt, rounds)
	}},
	"6": {accountv1.PasswordForm_PASSWORD_FORM_SHA_CRYPT, 86, 16, func(password, salt []byte, rounds int) []byte {
		return crypt.KeySHACrypt(sha512.New, password, salt, rounds)
	}},
}

// The rounds of SHA-crypt that a hash does not name, and the least that it may name.
const usualCryptRounds, minCryptRounds = 5000, 1000

// parseCrypt parses "$", the number of a form, perhaps "$rounds=" and a number, "$", a salt, "$" and the sum.
func parseCrypt(hash string) (oldPassword, error) {
	parts := strings.Split(hash[1:], "$")
	of, rounds := crypts[parts[0]], uint64(usualCryptRounds)
	if text, isGiven := strings.CutPrefix(parts[1], "rounds="); isGiven && of.form == accountv1.PasswordForm_PASSWORD_FORM_SHA_CRYPT {
		var err error
		if rounds, err = strconv.ParseUint(text, 10, 32); err != nil || rounds < minCryptRounds || rounds > maxCryptRounds {
			return oldPassword{}, errOldForm
		}
		parts = parts[1:]
	}
	if len(parts) != 3 || len(parts[1]) > of.maxSalt || len(parts[2]) != of.digits || strings.Trim(parts[2], crypt64) != "" {
		return oldPassword{}, errOldForm
	}
	return oldPassword{of.form, func(password string) bool {
		key := of.key([]byte(password), []byte(parts[1]), int(rounds)) // #nosec G115 -- bounded
		return subtle.ConstantTimeCompare(key, []byte(parts[2])) == 1
	}}, nil
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
