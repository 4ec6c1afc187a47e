package docstoretest

import (
	"context"
	"errors"
	"sync"

	"github.com/waybook/waybook/internal/docstore"
)

// ErrBroken is the error of a store whose connection broke.
var ErrBroken = errors.New("the connection broke")

// Outcome is what becomes of the write at which a process crashes.
type Outcome bool

// The outcomes of a write.
const (
	NotHappened Outcome = false
	Happened    Outcome = true
)

// Mortal is a process that crashes at one of its writes. Then all its calls of the store
// fail with ErrBroken.
type Mortal struct {
	mu sync.Mutex
	// left is the number of writes before the crash; the outcome is that of the write there.
	left    int
	outcome Outcome
	isDead  bool
}

// NewMortal returns a process that crashes after a number of writes, and the store as it
// sees it.
func NewMortal(engine docstore.Engine, writes int, outcome Outcome) (*Hooked, *Mortal) {
	m := &Mortal{left: writes, outcome: outcome}
	return &Hooked{Engine: engine, Read: m.read, Write: m.write}, m
}

func (m *Mortal) read(_ context.Context, _ Call, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return ErrBroken
	}
	return do()
}

func (m *Mortal) write(_ context.Context, _ Call, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isDead {
		return ErrBroken
	}
	m.left--
	if m.left >= 0 {
		return do()
	}
	m.isDead = true
	if m.outcome == Happened {
		return errors.Join(do(), ErrBroken)
	}
	return ErrBroken
}

// Died reports whether the process has crashed.
func (m *Mortal) Died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isDead
}
