package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// longList measures the list of all landmarks of a large store.
func (b *bench) longList(ctx context.Context, s site, p *process.Process) error {
	var first, rate, grown, cpu report.Spread
	for range b.settings.Rounds {
		l, err := readList(ctx, p, s.documents)
		if err != nil {
			return err
		}
		first, grown = append(first, millis(l.firstByte)), append(grown, l.grown)
		rate, cpu = append(rate, float64(s.documents)/l.whole.Seconds()), append(cpu, l.cpu.Seconds()*1e9/float64(s.documents))
	}
	name := "list of " + s.name
	table := report.Table{Title: "A " + name + " through the edge", Rows: [][]string{{"first byte, ms", "items/s", "server CPU, ns an item", "MiB more at the most"}}}
	table.Add(first.String(), rate.String(), cpu.String(), grown.String())
	table.Print(b.out)
	b.target(first.Median() < 50, first.String()+" ms", "< 50 ms", "%s: first byte", name)
	// The list itself takes 32 MiB, and a busy program keeps 64 MiB of garbage.
	b.target(grown.Median() < 32+64, grown.String()+" MiB", "< 96 MiB", "%s: growth of the process", name)
	return nil
}

// listing is the measurement of one whole list.
type listing struct {
	firstByte, whole, cpu time.Duration
	// grown is the growth of the process in MiB.
	grown float64
}

func readList(ctx context.Context, p *process.Process, items int) (l listing, err error) {
	if err := p.ForgetPeak(); err != nil {
		return l, err
	}
	before, err := p.Memory()
	if err != nil {
		return l, err
	}
	cpu, err := p.CPU()
	if err != nil {
		return l, err
	}
	url := fmt.Sprintf("http://%s/API.php?func=getCategoryPOIList&category=%d", p.Addresses["edge"], content.ListCategory)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return l, err
	}
	began := time.Now()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		return l, err
	}
	defer func() { _ = response.Body.Close() }()
	seen := counter{item: []byte("</POIID>")}
	if _, err := io.ReadFull(response.Body, make([]byte, 1)); err != nil {
		return l, err
	}
	l.firstByte = time.Since(began)
	if _, err := io.CopyBuffer(&seen, struct{ io.Reader }{response.Body}, make([]byte, 256<<10)); err != nil {
		return l, err
	}
	l.whole = time.Since(began)
	if seen.items != items {
		return l, fmt.Errorf("the list has %d items, want %d", seen.items, items)
	}
	after, err := p.Memory()
	l.grown = after.Peak - before.All()
	used, cpuErr := p.CPU()
	l.cpu = used - cpu
	return l, errors.Join(err, cpuErr)
}

// counter is a writer that counts the items written to it.
type counter struct {
	item  []byte
	items int
	// joined is the current piece after the end of the earlier ones. That end is shorter
	// than an item.
	joined []byte
}

// Write counts the items in a piece, including one that began in an earlier piece.
func (c *counter) Write(piece []byte) (int, error) {
	c.joined = append(c.joined, piece...)
	c.items += bytes.Count(c.joined, c.item)
	c.joined = append(c.joined[:0], c.joined[max(0, len(c.joined)-len(c.item)+1):]...)
	return len(piece), nil
}
