package launch

import (
	"sync"
	"time"
)

// transcript is the output of a process so far. It is safe for concurrent use.
type transcript struct {
	mu   sync.Mutex
	text []byte
	// grown is closed and replaced whenever text grows.
	grown chan struct{}
}

func newTranscript() *transcript { return &transcript{grown: make(chan struct{})} }

// Write appends to the transcript.
func (t *transcript) Write(more []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, more...)
	close(t.grown)
	t.grown = make(chan struct{})
	return len(more), nil
}

// String returns the whole output so far.
func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// await waits until isWanted accepts the text. It reports false if done is closed or patience has
// passed first.
func (t *transcript) await(done <-chan struct{}, isWanted func(string) bool) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		t.mu.Lock()
		text, grown := string(t.text), t.grown
		t.mu.Unlock()
		if isWanted(text) {
			return true
		}
		select {
		case <-grown:
		case <-done:
			return isWanted(t.String())
		case <-limit.C:
			return false
		}
	}
}
