package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// tokenBytes is the size of the secret of a session or a device: 128 random bits (rule 3.5).
const tokenBytes = 16

func newToken() string { return randomHex(tokenBytes) }

// tokenID returns the id under which a secret is stored. The lookup needs no constant-time
// comparison, because a caller who cannot guess the secret cannot choose the hash.
func tokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// randomHex returns n random bytes as lowercase hexadecimal digits.
func randomHex(n int) string {
	random := make([]byte, n)
	_, _ = rand.Read(random) // never fails; it would crash the program
	return hex.EncodeToString(random)
}
