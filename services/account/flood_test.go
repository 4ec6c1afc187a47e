package account

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
)

// TestAFloodOfWrongPasswordsIsBounded lets strangers with many addresses fill the queue of hashes. No hash of theirs ends before the test says so.
func TestAFloodOfWrongPasswordsIsBounded(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	release := make(chan struct{})
	s.passwords.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
		if strings.HasPrefix(string(password), "wrong") {
			<-release
		}
		return b.derive(password, salt, passes, memoryKiB, lanes, keyBytes)
	}
	b.hashed()
	const bound = hashesAtOnce + hashesWaiting
	const flood = 2 * bound
	s.passwords.room = admission.New(admission.Limits{Slots: hashesAtOnce, Queue: hashesWaiting, Wait: time.Hour})
	var group sync.WaitGroup
	refused := make(chan string, flood)
	for i := range flood {
		group.Go(func() {
			refused <- apierror.From(s.logIn(t.Context(), fmt.Sprintf("%d@waybook.example", i), "wrong password", fmt.Sprint("client ", i))).Reason
		})
	}
	for range flood - bound { // refused at once, for nothing ends before the release
		if reason := <-refused; reason != "SERVICE_BUSY" {
			t.Fatalf("a stranger above the bound got %s", reason)
		}
	}
	for s.passwords.room.Stats() != (admission.Stats{Inside: hashesAtOnce, Waiting: hashesWaiting, Refused: flood - bound}) {
		runtime.Gosched()
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "home"), codes.ResourceExhausted, "SERVICE_BUSY")
	if n := len(b.hashed()); n != 0 {
		t.Errorf("%d hashes were made", n)
	}
	close(release)
	group.Wait()
	for range bound {
		if reason := <-refused; reason != "PASSWORD_INCORRECT" {
			t.Errorf("a stranger in the queue got %s", reason)
		}
	}
	if err := s.logIn(t.Context(), "a@waybook.example", "password of a", "home"); err != nil {
		t.Errorf("after the flood: %v", err)
	}
}
