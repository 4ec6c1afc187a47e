package reply

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestADecimalThatJSONDoesNotHaveIsZero(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(appendDecimal(nil, value)); got != "0" {
			t.Errorf("%v: got %q", value, got)
		}
	}
}

func TestADayIsThatOfTheZone(t *testing.T) {
	d := Document{Zone: time.FixedZone("Taipei", 8*60*60)}
	XML{&d}.Day("updateDate", time.Date(2008, 12, 31, 20, 5, 6, 0, time.UTC))
	if got := string(d.Bytes); got != "<updateDate><year>2009</year><month>01</month><day>01</day></updateDate>" {
		t.Errorf("got %s", got)
	}
}

func TestAMomentIsWrittenAsTheLayoutSays(t *testing.T) {
	taipei := time.FixedZone("Taipei", 8*60*60)
	for _, at := range []time.Time{
		{},
		time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9, 9, 9, 9, 9, 9, 999_999_999, time.UTC), time.Date(1969, 12, 31, 15, 59, 59, 0, time.UTC),
		time.Date(2026, 10, 11, 20, 30, 40, 0, time.UTC), time.Date(2028, 2, 28, 16, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 15, 59, 59, 0, time.UTC), time.Date(9999, 12, 31, 16, 0, 0, 0, time.UTC),
		time.UnixMilli(-1 << 62), time.UnixMilli(1<<62 - 1),
	} {
		d := &Document{Zone: taipei, Bytes: []byte("x")}
		d.appendMoment(at)
		if got, want := string(d.Bytes), "x"+at.In(taipei).Format(time.DateTime); got != want {
			t.Errorf("%v is written as %q, want %q", at, got, want)
		}
	}
}

func TestACharacterThatXMLCannotCarryIsReplacedInBothFormats(t *testing.T) {
	const stored, shown = "null \x00, bell \a, \ufffe, \xff end", "null \ufffd, bell \ufffd, \ufffd, \ufffd end"
	var inXML, inJSON Document
	XML{&inXML}.Text("text", stored)
	if got := string(inXML.Bytes); got != "<text>"+shown+"</text>" {
		t.Errorf("XML: %q", got)
	}
	JSON{&inJSON}.Text("text", stored+"\u2028\u2029")
	if got := string(inJSON.Bytes); !strings.Contains(got, shown+`\u2028\u2029"`) { // which end lines in older JavaScript
		t.Errorf("JSON: %q", got)
	}
}
