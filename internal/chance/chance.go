// Package chance draws random numbers that need not be unpredictable. It takes them from
// crypto/rand all the same, because a test can seed that (testing/cryptotest) and draw the same
// numbers again.
package chance

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
)

// system is the randomness of the system.
type system struct{}

func (system) Uint64() uint64 {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return binary.NativeEndian.Uint64(random[:])
}

var source = mathrand.New(system{}) // #nosec G404 -- the numbers are those of crypto/rand

// Below returns a number from 0 on that is below n. It may be used concurrently, and panics if n
// is not positive.
func Below[T ~int64](n T) T { return T(source.Int64N(int64(n))) }
