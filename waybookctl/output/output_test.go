package output

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// sample is an album with fields of every kind.
func sample() *albumv1.Album {
	return &albumv1.Album{
		AlbumId: 1<<53 - 1, Title: "<台北> & co", Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD,
		Location:   &typev1.Location{Lat: 25.034, Lng: -121},
		CreateTime: timestamppb.New(time.Date(2026, 11, 21, 7, 30, 0, 5e6, time.FixedZone("", 8*3600))),
	}
}

var heads = []string{"TITLE", "CATEGORY"}

func cells(a *albumv1.Album) []string { return []string{a.GetTitle(), a.GetCategory().String()} }

func printed(t *testing.T, format Format, print func(*Printer) error) (out, notes string) {
	t.Helper()
	var o, n strings.Builder
	if err := print(&Printer{Format: format, Out: &o, Notes: &n}); err != nil {
		t.Fatal(err)
	}
	return o.String(), n.String()
}

func TestAValueIsPrintedInEachFormat(t *testing.T) {
	for format, want := range map[Format]string{
		JSON: `{
  "album_id": 9007199254740991,
  "title": "<台北> & co",
  "category": "ALBUM_CATEGORY_FOOD",
  "location": {
    "lat": 25.034,
    "lng": -121
  },
  "create_time": "2026-11-20T23:30:00.005Z",
  "score": 0,
  "old_id": "",
  "etag": "",
  "is_small": false
}
`,
		Table: `TITLE     <台北> & co
CATEGORY  ALBUM_CATEGORY_FOOD
`,
	} {
		out, _ := printed(t, format, func(p *Printer) error {
			return p.Value(FromProto(sample()), func(page *Page) { page.Record(heads, cells(sample())) })
		})
		if out != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, out, want)
		}
	}
}

func TestAPageKeepsAllLinesOfAText(t *testing.T) {
	out, _ := printed(t, Table, func(p *Printer) error {
		return p.Value(nil, func(page *Page) {
			page.Text("first\r\n\nthird\x1b[2J")
			Rows(page, heads, nil, cells)
			Rows(page, heads, []*albumv1.Album{sample()}, cells)
		})
	})
	want := "first\n\nthird\\u001b[2J\n\nTITLE        CATEGORY\n<台北> & co  ALBUM_CATEGORY_FOOD\n"
	if out != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func albums(titles ...string) iter.Seq2[*albumv1.Album, error] {
	return func(yield func(*albumv1.Album, error) bool) {
		for _, title := range titles {
			if !yield(&albumv1.Album{Title: title}, nil) {
				return
			}
		}
	}
}

func TestAListReadsBackAsJSON(t *testing.T) {
	titles := []string{"台北", "two\nlines ", ""}
	for _, want := range [][]string{nil, titles[:1], titles} {
		out, notes := printed(t, JSON, func(p *Printer) error { return Items(p, "albums", heads, albums(want...), cells) })
		var got []struct{ Title string }
		if err := json.Unmarshal([]byte(out), &got); err != nil || got == nil || len(got) != len(want) {
			t.Fatalf("%v in %s", err, out)
		}
		for i := range want {
			if got[i].Title != want[i] {
				t.Errorf("%q, want %q", got[i].Title, want[i])
			}
		}
		if (notes == "no albums\n") != (len(want) == 0) {
			t.Errorf("of %d: notes %q", len(want), notes)
		}
	}
}

// Users write these texts, and a terminal obeys such characters (TestATextCannotControlTheTerminal).
func TestJSONHasNoCharacterThatTablesEscape(t *testing.T) {
	var hidden strings.Builder
	for r := range unicode.MaxRune + 1 {
		if utf8.ValidRune(r) && isHidden(r) && (r < 0x11000 || r >= 0xe0000) { // most others are unassigned
			hidden.WriteRune(r)
		}
	}
	text := "台北 " + hidden.String()
	for what, print := range map[string]func(*Printer) error{
		"a message": func(p *Printer) error { return p.Value(FromProto(&albumv1.Album{Title: text}), nil) },
		"a list":    func(p *Printer) error { return Items(p, "albums", heads, albums(text), cells) },
		"a struct":  func(p *Printer) error { return p.Value(struct{ Title string }{text}, nil) },
		"a name":    func(p *Printer) error { return p.Value(Object{{"title", text}, {text, 1}}, nil) },
	} {
		out, _ := printed(t, JSON, print)
		if at := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && isHidden(r) }); at >= 0 || !strings.Contains(out, "台北") {
			t.Errorf("%s: %q… is printed as it is", what, out[max(0, at):][:4])
		}
		var got []struct{ Title string }
		if err := json.Unmarshal([]byte("["+strings.Trim(out, "[]\n")+"]"), &got); err != nil || got[0].Title != text {
			t.Errorf("%s: another text is read back, %v", what, err)
		}
	}
}

func TestAnEmptyTableIsOnlyANote(t *testing.T) {
	out, notes := printed(t, Table, func(p *Printer) error { return Items(p, "albums", heads, albums(), cells) })
	if out != "" || notes != "no albums\n" {
		t.Errorf("printed %q, noted %q", out, notes)
	}
}

func TestAnIncompleteListIsNotValidJSON(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	items := func(yield func(*albumv1.Album, error) bool) { _ = yield(sample(), nil) && yield(nil, broken) }
	err := Items(&Printer{Format: JSON, Out: &out}, "albums", heads, items, cells)
	if !errors.Is(err, broken) || json.Valid([]byte(out.String())) || !strings.Contains(out.String(), "album_id") {
		t.Errorf("%v after %s", err, out.String())
	}
}

func TestAnUnknownEnumValueIsItsNumber(t *testing.T) {
	for _, field := range FromProto(&albumv1.Album{Category: 99}) {
		if field.Name == "category" && field.Value != int32(99) {
			t.Errorf("category %v", field.Value)
		}
	}
}
