package reply

import (
	"encoding/json"
	"encoding/xml"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/internal/text"
)

func TestXMLTextSurvivesAnyParser(t *testing.T) {
	for value, want := range map[string]string{
		"":                      "<t></t>",
		`a & b < c > "d" 'e'`:   `<t>a &amp; b &lt; c &gt; "d" 'e'</t>`,
		"]]>":                   "<t>]]&gt;</t>",
		"one\r\ntwo\rthree\tx ": "<t>one&#13;\ntwo&#13;three\tx </t>",
		"晴空萬里 😀":                "<t>晴空萬里 😀</t>",
		"a\x00b\x1bc\xffd":      "<t>a\uFFFDb\uFFFDc\uFFFDd</t>",
		"\uFFFE\uFFFF\uFFFD":    "<t>\uFFFD\uFFFD\uFFFD</t>",
	} {
		var d Document
		XML{&d}.Text("t", value)
		if got := string(d.Bytes); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestCoordinatesAreTheShortestPlainDecimals(t *testing.T) {
	for value, want := range map[float64]string{
		25.033: "25.033", -121.5: "-121.5", 0: "0", 1e-7: "0.0000001", 90: "90",
		0.30000000000000004: "0.30000000000000004", math.Inf(1): "0",
	} {
		if got := string(appendDecimal(nil, value)); got != want {
			t.Errorf("%v: got %q, want %q", value, got, want)
		}
	}
	if got := string(appendDecimal(nil, math.NaN())); got != "0" {
		t.Errorf("NaN: got %q", got)
	}
}

func TestTimesAreWrittenInTheZone(t *testing.T) {
	at := time.Date(2008, 12, 31, 20, 5, 6, 0, time.UTC)
	d := Document{Zone: time.FixedZone("Taipei", 8*60*60)}
	XML{&d}.Moment("time", at)
	XML{&d}.Day("updateDate", at)
	want := "<time>2009-01-01 04:05:06</time>" +
		"<updateDate><year>2009</year><month>01</month><day>01</day></updateDate>"
	if got := string(d.Bytes); got != want {
		t.Errorf("got %s", got)
	}
}

// replaced returns a value as a writer writes it: with U+FFFD for characters that XML cannot
// carry.
func replaced(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !text.IsChar(r, size) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

func TestACharacterThatXMLCannotCarryIsReplacedInBothFormats(t *testing.T) {
	const stored, shown = "null \x00, bell \a, \ufffe, \xff end", "null \ufffd, bell \ufffd, \ufffd, \ufffd end"
	var inXML, inJSON Document
	XML{&inXML}.Text("text", stored)
	if got := string(inXML.Bytes); got != "<text>"+shown+"</text>" {
		t.Errorf("XML: %q", got)
	}
	JSON{&inJSON}.Text("text", stored)
	if got := string(inJSON.Bytes); !strings.Contains(got, shown) {
		t.Errorf("JSON: %q", got)
	}
}

func FuzzXMLReadsBackExactly(f *testing.F) {
	f.Add("a & b <c>]]>\r\n\t\"'")
	f.Add("\x00\xff晴\uFFFE")
	f.Fuzz(func(t *testing.T, value string) {
		var d Document
		out := XML{&d}
		out.Start()
		out.Text("t", value)
		out.Finish()
		var read struct {
			T string `xml:"t"`
		}
		if err := xml.Unmarshal(d.Bytes, &read); err != nil {
			t.Fatalf("%q: %v", d.Bytes, err)
		}
		if want := replaced(value); read.T != want {
			t.Fatalf("got %q, want %q", read.T, want)
		}
	})
}

func FuzzJSONReadsBackExactly(f *testing.F) {
	f.Add("a\"b\\c\r\n\t\u2028{[", 25.5, int64(-3))
	f.Add("\x00\xff晴\uFFFE", math.MaxFloat64, int64(form.MaxID))
	f.Fuzz(func(t *testing.T, value string, decimal float64, integer int64) {
		var d Document
		out := JSON{&d}
		out.Start()
		out.Text("t", value)
		out.Begin("o")
		out.Decimal("d", decimal)
		out.Integer("i", integer)
		out.End("o")
		out.BeginList("l")
		for i := range 2 {
			out.BeginItem("x", i+1)
			out.Text("t", value)
			out.EndItem("x", i+1)
		}
		out.EndList("l")
		out.Finish()

		var read struct {
			T string
			O struct {
				D float64
				I int64
			}
			L []struct{ T string }
		}
		if err := json.Unmarshal(d.Bytes, &read); err != nil {
			t.Fatalf("%q: %v", d.Bytes, err)
		}
		if math.IsNaN(decimal) || math.IsInf(decimal, 0) {
			decimal = 0
		}
		want := replaced(value)
		if read.T != want || read.O.D != decimal || read.O.I != integer || len(read.L) != 2 || read.L[1].T != want {
			t.Fatalf("got %+v", read)
		}
	})
}
