package output

import (
	"strings"
	"testing"
)

func TestWidthMatchesATerminal(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "台北": 4, "ﾊﾝｶｸ": 4, "e\u0301": 1, "😊": 2, "👨‍👩‍👧": 2, "“a”": 3, "한국": 4,
	} {
		if got := width(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}

func TestColumnsAreAligned(t *testing.T) {
	var out strings.Builder
	rows := &table{out: &out}
	for _, row := range [][]string{{"ID", "NAME", "X"}, {"1", "小旅人", "a"}, {"234", "", ""}, {"5", "Zoë", "long text that is not wrapped"}} {
		if err := rows.add(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.flush(); err != nil {
		t.Fatal(err)
	}
	want := "ID   NAME    X\n1    小旅人  a\n234\n5    Zoë     long text that is not wrapped\n"
	if out.String() != want {
		t.Errorf("\n%s\nwant\n%s", out.String(), want)
	}
}

func TestALongTableIsPrintedBeforeAllItsRowsAreKnown(t *testing.T) {
	var out strings.Builder
	rows := &table{out: &out}
	for range measuredRows {
		if err := rows.add("a", "b"); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() != 0 {
		t.Error("rows were printed before all were measured")
	}
	for range 2 {
		if err := rows.add("longer", "b"); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "\n"); got != measuredRows+2 || len(rows.rows) != 0 {
		t.Errorf("%d rows printed, %d kept", got, len(rows.rows))
	}
	if !strings.HasSuffix(out.String(), "longer  b\nlonger  b\n") {
		t.Errorf("the last rows are %q", out.String()[out.Len()-20:])
	}
}

func TestATextCannotControlTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain 台北 😊": "plain 台北 😊", "a\nb\r\tc": `a\nb\r\tc`, "\x1b[31mred\a": `\u001b[31mred\u0007`,
		"\u202egnp.exe": `\u202egnp.exe`, "\u009b2J": `\u009b2J`, "👨‍👩": "👨‍👩", "\U000e0041": `\U000e0041`, "\u2028": `\u2028`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
