package output

import (
	"encoding/json"
	"strings"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestATableWithoutHeadingsHasOnlyCells(t *testing.T) {
	var out strings.Builder
	printer := &Printer{Format: Table, NoHeaders: true, Out: &out, Notes: &out}
	if err := Items(printer, "albums", heads, albums("a", "b"), cells); err != nil {
		t.Fatal(err)
	}
	if err := printer.Value(nil, func(page *Page) {
		Rows(page, heads, []*albumv1.Album{sample()}, cells)
		page.Record(heads, cells(sample()))
	}); err != nil {
		t.Fatal(err)
	}
	want := "a  ALBUM_CATEGORY_UNSPECIFIED\nb  ALBUM_CATEGORY_UNSPECIFIED\n" +
		"<台北> & co  ALBUM_CATEGORY_FOOD\n\n<台北> & co\nALBUM_CATEGORY_FOOD\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestNamesAreTheIdentifiersOfThings(t *testing.T) {
	out, _ := printed(t, Name, func(p *Printer) error { return Items(p, "albums", heads, albums("a", "b"), cells) })
	if out != "0\n0\n" {
		t.Errorf("printed %q", out)
	}
	for want, value := range map[string]any{
		"9007199254740991\n": FromProto(sample()),
		"7\n":                Object{{"distance_meters", 1.5}, {"album", Object{{"album_id", 7}}}},
		"old.app\n":          Object{{"key", "old.app"}, {"name", "x"}},
	} {
		out, _ := printed(t, Name, func(p *Printer) error { return p.Value(value, nil) })
		if out != want {
			t.Errorf("%v: %q, want %q", value, out, want)
		}
	}
	// The command has done its work, so this is no failure.
	out, notes := printed(t, Name, func(p *Printer) error { return p.Value(Object{{"total", 3}}, nil) })
	if out != "" || notes != "this result has no identifier; use another --output\n" {
		t.Errorf("a total: printed %q, noted %q", out, notes)
	}
}

func TestATemplateSelectsFields(t *testing.T) {
	value := Object{
		{"id", int64(1<<53 - 1)}, {"title", "a\tb"}, {"owner", Object{{"name", "Ann"}}}, {"unset", nil},
		{"photos", List{Object{{"url", "x"}}, Object{{"url", "y"}}}}, {"a.b", true},
	}
	for template, want := range map[string]string{
		"":                          "\n",
		"plain":                     "plain\n",
		"{.id}":                     "9007199254740991\n",
		"{.title}":                  "a\tb\n",
		`{.owner.name}{"\t"}{.id}`:  "Ann\t9007199254740991\n",
		"{.photos[1].url}":          "y\n",
		"{.photos[-1].url}":         "y\n",
		"{.photos[*].url}":          "x y\n",
		"{.photos[9].url}":          "\n",
		"{.missing.name}":           "\n",
		"{['a.b']}":                 "true\n",
		"{.owner}":                  `{"name":"Ann"}` + "\n",
		"{$.id}, {@.owner['name']}": "9007199254740991, Ann\n",
	} {
		out, _ := printed(t, Format("jsonpath="+template), func(p *Printer) error { return p.Value(value, nil) })
		if out != want {
			t.Errorf("%s: %q, want %q", template, out, want)
		}
	}
	out, notes := printed(t, "jsonpath={.title}", func(p *Printer) error { return Items(p, "albums", heads, albums("a", "b"), cells) })
	if out != "a\nb\n" || notes != "" {
		t.Errorf("of a list %q, %q", out, notes)
	}
}

func TestATemplateThatCannotBeReadSaysWhy(t *testing.T) {
	for template, want := range map[string]string{
		"{.id":             "no }",
		"{range .x}":       "not supported",
		"{.x[?(@.y>1)]}":   "not supported",
		"{..x}":            "not supported",
		"{.x[1:2]}":        "not supported",
		`{"a}`:             "no }",
		`{"\x"}`:           "not a string",
		"{.}":              "not supported",
		"{.x[99999999999]": "no }",
	} {
		var format Format
		if err := format.UnmarshalText([]byte("jsonpath=" + template)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", template, err, want)
		}
	}
	var format Format
	if err := format.UnmarshalText([]byte("xml")); err == nil || !strings.Contains(err.Error(), `"table","json","yaml","name"`) {
		t.Errorf("xml: %v", err)
	}
}

func FuzzATemplateReadsOrSaysWhy(f *testing.F) {
	for _, text := range []string{"{.a}", `{"x"}{['b']}`, "{.a[*].b}", "{", "{[}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := parseTemplate(text)
		if err != nil {
			return
		}
		value := Object{{"a", List{Object{{"b", text}}}}, {"b", 1}}
		once := fillTemplate(parts, value)
		if encoded, err := json.Marshal(once); err != nil || fillTemplate(parts, value) != once {
			t.Errorf("%q gives %s, %v", text, encoded, err)
		}
	})
}
