package account

import (
	"crypto/md5" // #nosec G501 -- old services stored MD5
	"crypto/subtle"
	"slices"
	"strings"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

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
