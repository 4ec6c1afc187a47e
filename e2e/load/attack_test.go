package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// attack is a number of connections of hostile clients with some addresses. Each connection runs
// until the edge closes it, and then again on a new one. number tells the connections apart.
type attack struct {
	connections, addresses int
	run                    func(ctx context.Context, number int, c net.Conn)
}

// attacks are the attacks by name. The defaults allow an address 128 connections, and 16 long replies.
var attacks = map[string]attack{
	"header bombs":       {1000, 1, bomb},
	"slowloris":          {1000, 1, dawdle},
	"slow readers":       {200, 1, stopReading(api + longListQuery)},
	"readers of albums":  {256, 16, stopReading(api + longAlbumQuery)},
	"readers of entries": {1024, 16, stopReading(api + longEntryQuery)},
	"readers of JSON":    {256, 16, stopReading(api + longAlbumQuery + "&responseFormat=JSON")},
	"readers of files":   {1024, 16, stopReading(longFilePath)},
	"greedy readers":     {512, 8, readAgain},
	"logins":             {640, 1, logIn},
}

// attackVariable makes this binary attack the edge at the address that the variable has.
const attackVariable = "OVERLOAD_ATTACK"

// attackFrom attacks the edge at an address until its standard input ends, and prints the number of connections.
func attackFrom(edge string, names []string) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	fmt.Println(besiege(ctx, edge, names))
}

// beginAttack runs attacks in a process of their own until end is called, which returns the number
// of connections that were made. The process has the lowest priority, because the attackers of a
// real edge have processors of their own.
func beginAttack(t *testing.T, edge string, names []string) (end func() int) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "nice", append([]string{"-n", "19", os.Args[0]}, names...)...)
	command.Env = append(os.Environ(), attackVariable+"="+edge)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		_ = stdin.Close()
		err := command.Wait()
		made, parseErr := strconv.Atoi(strings.TrimSpace(out.String()))
		if err := errors.Join(err, parseErr); err != nil {
			t.Errorf("the attack failed: %v\n%s", err, out.String())
		}
		return made
	}
}

// besiege runs attacks until ctx ends, and returns the number of connections that were made.
func besiege(ctx context.Context, edge string, names []string) int {
	var group sync.WaitGroup
	var made atomic.Int64
	receivesLittle := func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(socket uintptr) {
			_ = syscall.SetsockoptInt(int(socket), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}
	for _, name := range names {
		for number := range attacks[name].connections {
			group.Go(func() {
				address := net.IPv4(127, 0, 1, byte(number%attacks[name].addresses)) // #nosec G115 -- there are 16
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: address}, Control: receivesLittle}
				again := time.NewTicker(time.Second)
				defer again.Stop()
				for ctx.Err() == nil {
					if c, err := dialer.DialContext(ctx, "tcp", edge); err == nil {
						made.Add(1)
						stop := context.AfterFunc(ctx, func() { _ = c.Close() })
						attacks[name].run(ctx, number, c)
						stop()
						_ = c.Close()
					}
					next(ctx, again)
				}
			})
		}
	}
	group.Wait()
	return int(made.Load())
}

// next waits for a tick and reports whether there was one.
func next(ctx context.Context, ticker *time.Ticker) bool {
	select {
	case <-ticker.C:
		return true
	case <-ctx.Done():
		return false
	}
}

const post = "POST /API.php HTTP/1.1\r\nHost: x\r\n"

// bomb sends one byte of a body of two, after a header that is as large as possible: of 42,500
// fields, or of as many as are allowed.
func bomb(_ context.Context, number int, c net.Conn) {
	fields := strings.Repeat("A: b\r\n", 42_500)
	if number%2 == 0 {
		fields = ""
		for i := range 98 {
			fields += fmt.Sprintf("A%d: %s\r\n", i, strings.Repeat("b", 320))
		}
	}
	if _, err := io.WriteString(c, post+"Content-Length: 2\r\n"+fields+"\r\nx"); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
}

// dawdle sends most of a header, or of a body, and then one byte a second.
func dawdle(ctx context.Context, number int, c net.Conn) {
	begun := post + "Content-Length: 70000\r\n\r\n" + strings.Repeat("x", 60_000)
	if number%2 == 0 {
		begun = post + "A: " + strings.Repeat("b", 32_000)
	}
	_, err := io.WriteString(c, begun)
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for err == nil && next(ctx, second) {
		_, err = io.WriteString(c, "x")
	}
}

// stopReading asks for a long reply and reads one byte a second.
func stopReading(target string) func(context.Context, int, net.Conn) {
	return func(ctx context.Context, number int, c net.Conn) {
		err := ask(c, target, number%2 == 0)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for err == nil && next(ctx, second) {
			_, err = c.Read(make([]byte, 1))
		}
	}
}

// readAgain asks for long replies, one after the other, and reads each as fast as it can.
func readAgain(ctx context.Context, number int, c net.Conn) {
	replies := bufio.NewReader(c)
	target := api + longEntryQuery
	if number%2 == 0 {
		target = api + longAlbumQuery
	}
	for ctx.Err() == nil {
		if ask(c, target, false) != nil || !goesOn(replies) {
			return
		}
	}
}

// goesOn reads a reply and reports whether the connection may have another one.
func goesOn(replies *bufio.Reader) bool {
	reply, err := http.ReadResponse(replies, nil)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, reply.Body)
	return err == nil && !reply.Close
}

const api = "/API.php?"

// ask sends a request.
func ask(c net.Conn, target string, acceptsGzip bool) error {
	encoding := ""
	if acceptsGzip {
		encoding = "Accept-Encoding: gzip\r\n"
	}
	_, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: x\r\n"+encoding+"\r\n")
	return err
}

// logIn logs in three times a second, unless the edge is slower. Some hundred of these are many
// times what a machine can do.
func logIn(ctx context.Context, number int, c net.Conn) {
	replies := bufio.NewReader(c)
	pace := time.NewTicker(time.Second / 3)
	defer pace.Stop()
	form := loginForm(number % users)
	for next(ctx, pace) {
		if _, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", post, len(form), form); err != nil {
			return
		}
		if !goesOn(replies) {
			return
		}
	}
}
