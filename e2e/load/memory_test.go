package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// memory is what a process holds, in MiB. file are pages of its store that the
// kernel has mapped and takes back when it needs them; anonymous is its own.
type memory struct{ anonymous, file, peak float64 }

// memoryOf reads the memory of a process from the kernel.
func memoryOf(t testing.TB, p *launch.Process) memory {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: this system has no /proc/<pid>/status, so memory can't be measured")
	}
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kB" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			values[fields[0]] = kib / 1024
		}
	}
	return memory{values["RssAnon:"], values["RssFile:"], values["VmHWM:"]}
}

// forgetPeak lets the peak start anew.
func forgetPeak(t testing.TB, p *launch.Process) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0); err != nil {
		t.Logf("the peak counts from the start of the process: %v", err)
	}
}

// listing is what reading a whole list showed.
type listing struct {
	items     int
	bytes     int64
	firstByte time.Duration
	whole     time.Duration
	// grown is the growth of the whole process, and ofItsOwn that of its anonymous
	// memory, at their highest, in MiB.
	grown, ofItsOwn float64
}

// readList reads the list of all landmarks and watches the process meanwhile.
func readList(t testing.TB, p *launch.Process) (l listing) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	forgetPeak(t, p)
	before := memoryOf(t, p)
	highest := before
	began := time.Now()
	response, err := client.Get("http://" + p.HTTP + "/API.php?" + listQuery)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	const item, end = "<name>", "</response>"
	buffer := make([]byte, 1<<20)
	kept := 0 // the end of what was read before, shorter than an item's tag
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
			highest.anonymous = max(highest.anonymous, memoryOf(t, p).anonymous)
			next = l.bytes + 256<<10
		}
	}
	l.whole = time.Since(began)
	if tail != end {
		t.Errorf("the reply ends in %q", tail)
	}
	l.grown = memoryOf(t, p).peak - before.anonymous - before.file
	l.ofItsOwn = highest.anonymous - before.anonymous
	return l
}

// listLimit is how much a list of any length may take, in MiB (rule 8.20).
const listLimit = 32

func TestALongListTakesLittleMemory(t *testing.T) {
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
		// On Linux the whole process; elsewhere there was nothing to read it from.
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
