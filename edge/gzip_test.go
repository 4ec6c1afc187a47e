package edge

import (
	"strings"
	"testing"
)

// Several lines of the header count as one list, and the last mention of gzip decides. Without
// gzip or * in the header, nothing is compressed.
func FuzzGzipIsForThoseWhoAskForIt(f *testing.F) {
	for _, line := range []string{"", "gzip", "*;q=0, x-gzip ; Q=0.001", "br;q=1.0, *", "gzip;q=0;q=1", ",;=,", "identity;q=1, *;q=0x1p-1"} {
		f.Add(line, "gzip;q=0")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		accepted := AcceptsGzip([]string{first, second})
		if joined := AcceptsGzip([]string{first + "," + second}); joined != accepted {
			t.Errorf("as two lines %v, as one %v", accepted, joined)
		}
		if asked := strings.ToLower(first + "," + second); accepted && !strings.Contains(asked, "gzip") && !strings.Contains(asked, "*") {
			t.Errorf("compressed without gzip or * in the header")
		}
		if !AcceptsGzip([]string{first, second, "gzip"}) || AcceptsGzip([]string{first, second, "gzip;q=0"}) {
			t.Error("the last mention of gzip did not decide")
		}
	})
}
