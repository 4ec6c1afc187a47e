package report

import (
	"strings"
	"testing"
)

func TestNumbersHaveThreeSignificantDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234: "1,234", 1234567: "1,234,567", 999.9: "1000", -1234: "-1,234"} {
		if got := Number(n); got != want {
			t.Errorf("%v is printed as %s, want %s", n, got, want)
		}
	}
}

func TestAFigureShowsItsMedianAndRange(t *testing.T) {
	for want, figures := range map[string][]float64{"–": nil, "5.00": {5}, "2.50 (1.00–4.00)": {4, 1, 3, 2}, "2.00 (1.00–9.00)": {9, 2, 1}} {
		if got := spread(figures); got != want {
			t.Errorf("%v is %q, want %q", figures, got, want)
		}
	}
}

func TestATableIsAlignedMarkdownWithItsOrigin(t *testing.T) {
	table := New("Speed", "case")
	base, other := table.Row("getAlbum"), table.Row("getBlog")
	for _, round := range []float64{1, 2, 4} {
		base.Add("µs", round)
		other.Add("µs", 2*round)
	}
	other.AddRatio("ratio", "µs", base)
	var out strings.Builder
	if err := table.Print(&out, "here, today"); err != nil {
		t.Fatal(err)
	}
	const want = `
### Speed

here, today

| case     | µs               | ratio            |
| -------- | ---------------- | ---------------- |
| getAlbum | 2.00 (1.00–4.00) | –                |
| getBlog  | 4.00 (2.00–8.00) | 2.00 (2.00–2.00) |
`
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}
