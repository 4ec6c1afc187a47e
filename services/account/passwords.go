package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/waybook/waybook/internal/platform/admission"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// hashMemoryKiB and hashPasses are one of the settings that OWASP recommends for
	// argon2id. A hash takes about 20 ms.
	hashMemoryKiB = 19 * 1024
	hashPasses    = 2
	hashLanes     = 1
	saltBytes     = 16
	keyBytes      = 32
	// leastSaltBytes is the minimum salt size of argon2.
	leastSaltBytes = 8
	// hashesAtOnce bounds the memory of concurrent hashes to 4 times 19 MiB. The queue holds
	// about one second of work. A longer one would occupy the concurrency limit that other
	// calls need.
	hashesAtOnce  = 4
	hashesWaiting = 128
	hashWait      = 5 * time.Second
	// slowAtOnce bounds the checks of hashes that other programs made, and that take more work
	// than new ones, up to 64 MiB or a second. They wait for each other, and not for the places of
	// other hashes.
	slowAtOnce  = 1
	slowWaiting = 32
)

// passwords hashes and checks passwords, a bounded number at a time. It may be used
// concurrently.
type passwords struct {
	derive func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte
	// room limits the key derivations in flight, and slow the checks of hashes of other programs.
	room, slow *admission.Gate
}

func newPasswords() *passwords {
	return &passwords{
		derive: argon2.IDKey,
		room:   admission.New(admission.Limits{Slots: hashesAtOnce, Queue: hashesWaiting, Wait: hashWait}),
		slow:   admission.New(admission.Limits{Slots: slowAtOnce, Queue: slowWaiting, Wait: hashWait}),
	}
}

// hash returns the hash of a password to store; it is empty for an empty password.
func (p *passwords) hash(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	made := newHash()
	if _, err := rand.Read(made.salt); err != nil {
		return "", err
	}
	key, err := p.key(ctx, password, made)
	if err != nil {
		return "", err
	}
	made.key = key
	return made.String(), nil
}

// match reports whether a password matches a hash. No password matches an empty hash, but
// that check takes the same work. A hash in an old form takes this work in addition to its own.
func (p *passwords) match(ctx context.Context, password, hash string) (bool, error) {
	if isOldForm(hash) {
		return p.matchOld(ctx, password, hash)
	}
	stored := newHash()
	if hash != "" {
		var err error
		if stored, err = parseHash(hash); err != nil {
			return false, err
		}
	}
	key, err := p.key(ctx, password, stored)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, stored.key) == 1 && hash != "", nil
}

// matchOld reports whether a password matches a hash in an old form. Only bcrypt needs the slow
// place: the other forms take less work than a new hash.
func (p *passwords) matchOld(ctx context.Context, password, hash string) (isMatch bool, err error) {
	stored, err := parseOldPassword(hash)
	if err != nil {
		return false, errHash
	}
	isBcrypt := stored.form == accountv1.PasswordForm_PASSWORD_FORM_BCRYPT
	if isBcrypt {
		if err := p.slow.Enter(ctx, 1); err != nil {
			return false, err
		}
		isMatch = stored.isMatch(password)
		p.slow.Leave(1)
	}
	if _, err = p.key(ctx, password, newHash()); err != nil {
		return false, err
	}
	return isMatch || !isBcrypt && stored.isMatch(password), nil
}

// key derives the key of a password. It waits while too many derivations are in flight: in the
// slow place if the hash takes more work than new ones.
func (p *passwords) key(ctx context.Context, password string, h passwordHash) ([]byte, error) {
	room := p.room
	if h.memoryKiB > hashMemoryKiB || h.passes > hashPasses {
		room = p.slow
	}
	if err := room.Enter(ctx, 1); err != nil {
		return nil, err
	}
	defer room.Leave(1)
	return p.derive([]byte(password), h.salt, h.passes, h.memoryKiB, h.lanes, uint32(len(h.key))), nil
}

// passwordHash is a parsed hash. It includes its cost parameters, so that new hashes may
// have other parameters.
type passwordHash struct {
	memoryKiB, passes uint32
	lanes             uint8
	salt, key         []byte
}

// hasPresentCost reports whether a stored hash has the cost parameters of new hashes.
func hasPresentCost(hash string) bool {
	stored, err := parseHash(hash)
	present := newHash()
	return err == nil && stored.memoryKiB == present.memoryKiB && stored.passes == present.passes &&
		stored.lanes == present.lanes && len(stored.salt) == len(present.salt) && len(stored.key) == len(present.key)
}

// newHash returns a hash with the current cost parameters. Its salt and key are zero
// bytes of full length.
func newHash() passwordHash {
	return passwordHash{
		memoryKiB: hashMemoryKiB, passes: hashPasses, lanes: hashLanes,
		salt: make([]byte, saltBytes), key: make([]byte, keyBytes),
	}
}

// String returns the hash as a PHC string, a format that other programs also read.
func (h passwordHash) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memoryKiB, h.passes, h.lanes,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.key))
}

// errHash does not include the hash, because the error is logged.
var errHash = errors.New("account: a stored password hash is malformed")

// parseHash parses the result of String. It refuses any other spelling.
func parseHash(text string) (passwordHash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return passwordHash{}, errHash
	}
	var h passwordHash
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memoryKiB, &h.passes, &h.lanes); err != nil {
		return passwordHash{}, errHash
	}
	var saltErr, keyErr error
	h.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[4])
	h.key, keyErr = base64.RawStdEncoding.DecodeString(parts[5])
	// An empty key would match every password.
	if saltErr != nil || keyErr != nil || len(h.salt) < leastSaltBytes || len(h.key) < keyBytes ||
		h.passes < 1 || h.lanes < 1 || h.String() != text {
		return passwordHash{}, errHash
	}
	return h, nil
}
