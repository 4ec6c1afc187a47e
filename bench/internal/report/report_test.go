package report

import (
	"strings"
	"testing"
	"time"
)

func TestNumbersHaveThreeSignificantDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234: "1,234", 1234567: "1,234,567", 999.9: "1000", -1234: "-1,234"} {
		if got := Number(n); got != want {
			t.Errorf("%v is printed as %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{1500: "1.50 µs", 2 * time.Millisecond: "2.00 ms", 3 * time.Second: "3.00 s"} {
		if got := Duration(d); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}

func TestASpreadShowsItsMedianAndRange(t *testing.T) {
	for want, s := range map[string]Spread{"–": nil, "5.00": {5}, "2.50 (1.00–4.00)": {4, 1, 3, 2}, "2.00 (1.00–9.00)": {9, 2, 1}} {
		if got := s.String(); got != want {
			t.Errorf("%v is %q, want %q", []float64(s), got, want)
		}
	}
}

func TestATableIsAlignedMarkdown(t *testing.T) {
	table := Table{Title: "Speed", Rows: [][]string{{"case", "µs"}}}
	table.Add("getAlbum", "1")
	var out strings.Builder
	table.Print(&out)
	const want = "\n### Speed\n\n| case     | µs |\n| -------- | -- |\n| getAlbum | 1  |\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
