package edge

import (
	"crypto/rand"
	"encoding/hex"
)

// newRequestID returns a random UUID (RFC 9562, version 4). A create carries
// one so that a transport that sends it twice has it done once.
func newRequestID() string {
	var random [16]byte
	rand.Read(random[:]) // never fails: it ends the program instead
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80

	var text [36]byte
	at := 0
	for i, octet := range random {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text[at] = '-'
			at++
		}
		hex.Encode(text[at:], []byte{octet})
		at += 2
	}
	return string(text[:])
}
