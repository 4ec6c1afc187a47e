package guides_test

import (
	"bufio"
	"bytes"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
)

// drive starts a program of testdata and returns a sender that sends by it. The program reads a
// request from each line of its standard input: the method and the fields, with tabs between them
// and \n for a line break. It writes each reply, followed by a byte 0.
func drive(t *testing.T, name string, args ...string) sender {
	t.Helper()
	command := exec.Command(name, args...) // ends at the end of its input
	command.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "PYTHONDONTWRITEBYTECODE=1")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // a program that has ended has closed it
		if err := command.Wait(); err != nil || complaints.Len() > 0 {
			t.Errorf("%s: %v\n%s", name, err, complaints.String())
		}
	})
	replies := bufio.NewReader(out)
	return func(t *testing.T, method string, fields ...string) string {
		t.Helper()
		line := strings.Join(append([]string{method}, fields...), "\t")
		if _, err := io.WriteString(in, strings.ReplaceAll(line, "\n", `\n`)+"\n"); err != nil {
			t.Fatal(err)
		}
		reply, err := replies.ReadString(0)
		if err != nil {
			t.Fatalf("%v: %v", fields, err)
		}
		return strings.TrimSuffix(reply, "\x00")
	}
}

// goClient returns a sender that sends by a client in Go.
func goClient(t *testing.T, address string) sender {
	client := waybooktest.ClientAt(t, "")
	client.URL = address
	return func(t *testing.T, method string, fields ...string) string {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return client.Send(client.Form(method, form.Encode())).Body
	}
}
