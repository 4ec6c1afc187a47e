package load

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
)

// listing is the result of reading a whole list.
type listing struct {
	items     int
	bytes     int64
	firstByte time.Duration
	whole     time.Duration
	// grown is the peak growth of the whole process in MiB, ofItsOwn that of its anonymous memory.
	grown, ofItsOwn float64
}

// readList reads the list of all landmarks and measures the process meanwhile.
func readList(t testing.TB, p *launch.Process) (l listing) {
	t.Helper()
	client := waybooktest.OnceAt(t, p.HTTP)
	launch.ForgetPeak(t, p)
	before := launch.MemoryOf(t, p)
	highest := before
	began := time.Now()
	response, err := client.Begin(client.Form(http.MethodGet, listQuery))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	const item, end = "<name>", "</response>"
	buffer := make([]byte, 1<<20)
	kept := 0 // the end of the previous read, shorter than an item's tag
	tail := ""
	for next := int64(0); !errors.Is(err, io.EOF); {
		var n int
		if n, err = response.Body.Read(buffer[kept:]); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if l.bytes == 0 && n > 0 {
			l.firstByte = time.Since(began)
		}
		l.bytes += int64(n)
		read := buffer[:kept+n]
		l.items += bytes.Count(read, []byte(item))
		tail += string(buffer[kept : kept+n][max(0, n-len(end)):])
		tail = tail[max(0, len(tail)-len(end)):]
		kept = copy(buffer, read[max(0, len(read)-len(item)+1):])
		if l.bytes >= next {
			highest.Anonymous = max(highest.Anonymous, launch.MemoryOf(t, p).Anonymous)
			next = l.bytes + 256<<10
		}
	}
	l.whole = time.Since(began)
	if tail != end {
		t.Errorf("the reply ends in %q", tail)
	}
	l.grown = launch.MemoryOf(t, p).Peak - before.Anonymous - before.File
	l.ofItsOwn = highest.Anonymous - before.Anonymous
	return l
}

// listLimit is how much a list of any length may take, in MiB (rule 8.20).
const listLimit = 32

func TestALongListTakesLittleMemory(t *testing.T) {
	longform.Only(t)
	const items = 20_000
	s := filled(t, wideName, items, 0)
	p := launch.Start(t, binary, s.data, "-demo=false")
	for round := range 3 {
		l := readList(t, p)
		t.Logf("round %d: %d items, %d MB; the process grew by %.1f MiB, its own memory by %.1f MiB",
			round, l.items, l.bytes/1e6, l.grown, l.ofItsOwn)
		if l.items != items {
			t.Errorf("%d items, want %d", l.items, items)
		}
		// This is the whole process on Linux; on other systems, readList has skipped the test.
		if l.grown > listLimit {
			t.Errorf("%d MB took %.1f MiB", l.bytes/1e6, l.grown)
		}
	}
}

func BenchmarkAListOf200000Landmarks(b *testing.B) {
	const items = 200_000
	s := filled(b, "太魯閣國家公園遊客中心", items, items)
	p := launch.Start(b, binary, s.data, "-demo=false")
	var total time.Duration
	var l listing
	var worst, worstOwn float64
	for b.Loop() {
		l = readList(b, p)
		total += l.whole
		worst, worstOwn = max(worst, l.grown), max(worstOwn, l.ofItsOwn)
	}
	b.ReportMetric(worst, "MiB-growth")
	b.ReportMetric(worstOwn, "MiB-growth-own")
	b.ReportMetric(listLimit, "MiB-limit")
	b.ReportMetric(float64(l.firstByte.Microseconds())/1000, "ms-first-byte")
	b.ReportMetric(float64(items)*float64(b.N)/total.Seconds(), "items/s")
	b.ReportMetric(float64(l.bytes)/1e6, "MB-reply")
}
