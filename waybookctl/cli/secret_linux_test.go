package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// openTerminal returns the two ends of a pseudo-terminal: user for the person, program for the
// program under test.
func openTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminal, so the password prompt is not checked: %v", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	// The program's end stays open: an abandoned read ends when the user's end is closed.
	return user, program
}

// typeAfter takes pairs of a prompt and a line. It types each line once its prompt appears, and
// returns the text on the screen.
func typeAfter(t *testing.T, user *os.File, asked ...string) string {
	t.Helper()
	seen := bufio.NewReader(user)
	var screen strings.Builder
	for i := 0; i < len(asked); i += 2 {
		for !strings.HasSuffix(screen.String(), asked[i]) {
			r, _, err := seen.ReadRune()
			if err != nil {
				t.Fatalf("after %q: %v", screen.String(), err)
			}
			screen.WriteRune(r)
		}
		if _, err := io.WriteString(user, asked[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return screen.String()
}

func hasEcho(t *testing.T, file *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestAPasswordIsAskedForTwiceWithoutEcho(t *testing.T) {
	user, program := openTerminal(t)
	type answer struct {
		password string
		err      error
	}
	done := make(chan answer, 1)
	go func() {
		password, err := secrets{in: program, prompt: program}.askNew(t.Context())
		done <- answer{password, err}
	}()
	screen := typeAfter(t, user, "New password: ", "密碼 123\n", "Again: ", "密碼 123\n")
	if got := <-done; got.password != "密碼 123" || got.err != nil {
		t.Errorf("%q, %v", got.password, got.err)
	}
	if strings.Contains(screen, "123") || !hasEcho(t, program) {
		t.Errorf("the screen shows %q; echo afterwards: %v", screen, hasEcho(t, program))
	}
}

func TestPasswordsThatDifferAreRefused(t *testing.T) {
	user, program := openTerminal(t)
	done := make(chan error, 1)
	go func() {
		_, err := secrets{in: program, prompt: program}.askNew(t.Context())
		done <- err
	}()
	typeAfter(t, user, "New password: ", "one\n", "Again: ", "two\n")
	if err := <-done; err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("%v", err)
	}
}

func TestCtrlCCancelsAQuestion(t *testing.T) {
	user, program := openTerminal(t)
	done := make(chan int, 1)
	go func() {
		done <- Run(t.Context(), []string{"user", "set-password", "1"}, Streams{In: program, Out: program, Err: program}, noEnvironment)
	}()
	typeAfter(t, user, "New password: ", "\x03")
	if status := <-done; status != statusInterrupted || !hasEcho(t, program) {
		t.Errorf("status %d; echo afterwards: %v", status, hasEcho(t, program))
	}
}

func TestAnInterruptedPromptRestoresTheEcho(t *testing.T) {
	user, program := openTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	done := make(chan error, 1)
	before, err := term.GetState(int(program.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := secrets{in: program, prompt: program}.askNew(ctx)
		done <- err
	}()
	typeAfter(t, user, "New password: ", "")
	interrupt()
	if err := <-done; err == nil {
		t.Error("an interrupted prompt returned a password")
	}
	after, err := term.GetState(int(program.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the terminal is left as %+v, was %+v (%v)", after, before, err)
	}
}
