package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// settling is how long a process idles before its memory at rest is measured.
const settling = 2 * time.Second

// starts measures the time from exec to the first successful reply, and the memory at rest.
func (b *bench) starts(ctx context.Context, w *workshop, sites []site) error {
	took := make([]report.Spread, len(sites))
	own, all := make([]report.Spread, len(sites)), make([]report.Spread, len(sites))
	for range b.settings.Rounds {
		for i, s := range sites {
			first, memory, err := b.startOnce(ctx, w, s)
			if err != nil {
				return err
			}
			took[i] = append(took[i], millis(first))
			own[i], all[i] = append(own[i], memory.Own), append(all[i], memory.All())
		}
	}
	table := report.Table{Title: "Start and rest", Rows: [][]string{{"store", "ms from exec to the first answer", "MiB own at rest", "MiB in all"}}}
	for i, s := range sites {
		table.Add(s.name, took[i].String(), own[i].String(), all[i].String())
		b.target(took[i].Median() < 100, took[i].String()+" ms", "< 100 ms", "exec to the first good answer, store: %s", s.name)
		b.target(all[i].Median() < 40, all[i].String()+" MiB", "< 40 MiB", "memory at rest, store: %s", s.name)
	}
	table.Print(b.out)
	return nil
}

// startOnce starts standalone, sends a request until it gets a reply, and measures the memory
// at rest.
func (b *bench) startOnce(ctx context.Context, w *workshop, s site) (first time.Duration, memory process.Memory, err error) {
	address, err := freeAddress()
	if err != nil {
		return 0, memory, err
	}
	query, want := "func=getPOI&POIID=1", "POI NOT FOUND"
	if s.documents > 0 {
		query, want = fmt.Sprintf("func=getPOI&POIID=%d", s.content.Poi), wantXML
	}
	began := time.Now()
	p, err := process.Begin(w.binary("standalone"), nil,
		"-http="+address, "-grpc=127.0.0.1:0", "-admin=127.0.0.1:0", "-demo=false", "-data="+s.data)
	if err != nil {
		return 0, memory, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	if err := askUntil(ctx, address, query, want); err != nil {
		return 0, memory, err
	}
	first = time.Since(began)
	time.Sleep(settling)
	memory, err = p.Memory()
	return first, memory, err
}

// freeAddress returns a local address with a free port.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// askUntil retries until it can connect, sends a request, and checks the reply.
func askUntil(ctx context.Context, address, query, want string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	const between = 500 * time.Microsecond
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			err = func() error {
				defer func() { _ = connection.Close() }()
				return askOn(connection, query, want)
			}()
			return err // the port opens only when the edge can serve
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no reply from %s: %w", address, err)
		case <-time.After(between):
		}
	}
}

func askOn(connection net.Conn, query, want string) error {
	request, err := http.NewRequest(http.MethodGet, "http://bench/API.php?"+query, nil)
	if err != nil {
		return err
	}
	request.Close = true
	if err := request.Write(connection); err != nil {
		return err
	}
	answer, err := io.ReadAll(connection)
	if err == nil && !strings.Contains(string(answer), want) {
		err = fmt.Errorf("the first reply was %s, want %q", answer, want)
	}
	return err
}
