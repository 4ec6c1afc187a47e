package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// maxSecretBytes bounds a password; no valid one is longer.
const maxSecretBytes = 4096

// secrets reads values that must not appear on a command line, where the shell history and other
// users of the machine can see them.
type secrets struct {
	in     io.Reader
	prompt io.Writer
}

// terminal returns standard input if it is a terminal.
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

// errGivenUp reports that Ctrl-C or Ctrl-D ended a question.
var errGivenUp = errors.New("given up")

// ask asks for one line on a terminal, without echo. It turns the echo off before it prints the
// question, and restores it however the wait ends.
func (s secrets) ask(ctx context.Context, file *os.File, question string) (answer string, err error) {
	before, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return "", fmt.Errorf("the terminal can't be read: %w", err)
	}
	defer func() {
		if failed := term.Restore(int(file.Fd()), before); failed != nil && err == nil {
			err = fmt.Errorf("the terminal can't be restored: %w", failed)
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

// line reads one line of piped input; what names the value in errors.
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

// stdin is standard input. A read ends when ctx does.
type stdin struct {
	ctx    context.Context
	from   io.Reader
	buffer []byte
}

// Read implements io.Reader. It reads into a buffer of its own, because a read may outlive it.
func (i *stdin) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, i.ctx.Err()
	}
	i.buffer = slices.Grow(i.buffer[:0], len(p))[:len(p)]
	n, err := await(i.ctx, func() (int, error) { return i.from.Read(i.buffer) })
	return copy(p, i.buffer[:n]), err
}

// await waits until read returns or ctx ends. A read cannot be interrupted, so it may outlive this
// call; the process is then about to end.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}
