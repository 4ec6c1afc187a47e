package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// maxSecretBytes is more than any password or cookie has.
const maxSecretBytes = 4096

// secrets reads what must not stand on a command line, where other users of the
// machine and the shell's history see it.
type secrets struct {
	in     io.Reader
	prompt io.Writer
}

// terminal is the terminal that is read from, if it is one.
func (s secrets) terminal() (*os.File, bool) {
	file, ok := s.in.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// askNew asks for a new password, twice, on a terminal.
func (s secrets) askNew(ctx context.Context) (string, error) {
	file, ok := s.terminal()
	if !ok {
		return "", usageError("there is no terminal to ask for a password; pipe it in with --password-stdin")
	}
	first, err := s.ask(ctx, file, "New password: ")
	if err != nil {
		return "", err
	}
	again, err := s.ask(ctx, file, "Again: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ; nothing was changed")
	}
	if first == "" {
		return "", errors.New("no password was given; nothing was changed")
	}
	return first, nil
}

// errGivenUp is what Ctrl-C and Ctrl-D make of a question.
var errGivenUp = errors.New("given up")

// ask asks for one line on a terminal, without echo. The echo is off before the
// question is seen, and on again whatever ends the wait.
func (s secrets) ask(ctx context.Context, file *os.File, question string) (answer string, err error) {
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return "", fmt.Errorf("the terminal can't be read: %w", err)
	}
	defer func() {
		if failed := term.Restore(int(file.Fd()), before); failed != nil && err == nil {
			err = fmt.Errorf("the terminal can't be set back: %w", failed)
		}
		if ctx.Err() != nil {
			_, _ = io.WriteString(s.prompt, "\n") // the question is still on this line
		}
	}()
	line := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, s.prompt}, "")
	answer, err = await(ctx, func() (string, error) { return line.ReadPassword(question) })
	if errors.Is(err, io.EOF) {
		return "", errGivenUp
	}
	return answer, err
}

// line reads one line that is piped in, what names it.
func (s secrets) line(ctx context.Context, what string) (string, error) {
	return await(ctx, func() (string, error) {
		line, err := bufio.NewReader(io.LimitReader(s.in, maxSecretBytes+1)).ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return "", fmt.Errorf("standard input can't be read: %w", err)
		case len(line) > maxSecretBytes:
			return "", usageError(fmt.Sprintf("the first line of standard input is longer than a %s", what))
		case line == "":
			return "", usageError("standard input has no " + what)
		}
		return line, nil
	})
}

// await waits for something to be read, or for ctx. A read can't be broken off, so it
// outlives this call then; the process is about to end.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		line, err := read()
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
