package run

import (
	"strings"
	"testing"
)

func TestTheOutputOfGoBenchmarksIsParsed(t *testing.T) {
	lines := parseBenchmarks([]byte(`goos: linux
BenchmarkWalk/documents=1000/ByID-2   66   2000 ns/op   439316 items/s   547451 B/op   12612 allocs/op
BenchmarkWalk/documents=1000/ByID-2   66   4000 ns/op   439316 items/s   547451 B/op   12612 allocs/op
BenchmarkNext-2   2098125   129.7 ns/op   0 B/op   0 allocs/op
PASS
`))
	if len(lines) != 2 || lines[0].name != "Walk/documents=1000/ByID" || lines[1].name != "Next" {
		t.Fatalf("%+v", lines)
	}
	if ns := lines[0].figures["ns/op"]; len(ns) != 2 || ns.Median() != 3000 {
		t.Errorf("got ns/op %v", ns)
	}
	if others := lines[0].others(); !strings.HasSuffix(others, " items/s") {
		t.Errorf("got other figures %q", others)
	}
}

func TestItemsAreCountedAcrossWrites(t *testing.T) {
	const text = "<a><id>1</id></a><a><id>22</id></a><a><id>333</id></a>"
	for size := 1; size <= len(text); size++ {
		c := counter{item: []byte("</id>")}
		for rest := text; rest != ""; {
			n, err := c.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if c.items != 3 {
			t.Errorf("in writes of %d bytes: counted %d items, want 3", size, c.items)
		}
	}
}
