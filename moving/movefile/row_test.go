package movefile

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/traditionalchinese"
)

// doubled is UTF-8 that was taken for Latin-1, as MySQL takes it.
func doubled(text string) string { return fromLatin1([]byte(text)) }

func inBig5(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := traditionalchinese.Big5.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestEachTextOfAnOldDatabaseIsRepairedAlone(t *testing.T) {
	const chinese = "東北角 & 功夫許蓋"
	all := RowOptions{HasEntities: true, HasBig5: true}
	for name, test := range map[string]struct {
		value   any
		options RowOptions
		want    string
		repair  Repair
	}{
		"UTF-8":                           {chinese, RowOptions{}, chinese, ""},
		"ASCII":                           {"a &amp; b", RowOptions{}, "a &amp; b", ""},
		"entities":                        {"&lt;b&gt; &#26481; &amp;amp;", all, "<b> 東 &amp;", Entities},
		"UTF-8 as Latin-1":                {doubled(chinese), RowOptions{}, chinese, Doubled},
		"French":                          {"Été à la façade", RowOptions{}, "Été à la façade", ""},
		"French as Latin-1":               {doubled("Été"), RowOptions{}, "Été", Doubled},
		"a mixed text":                    {doubled("東") + "東", RowOptions{}, doubled("東") + "東", ""},
		"bytes in Big5":                   {inBig5(t, chinese), RowOptions{}, chinese, Big5},
		"bytes in Latin-1":                {[]byte("caf\xe9 \x80"), RowOptions{}, "café €", Latin1},
		"Big5 as Latin-1":                 {fromLatin1(inBig5(t, chinese)), all, chinese, Big5},
		"Big5 as Latin-1, without a word": {fromLatin1(inBig5(t, chinese)), RowOptions{}, fromLatin1(inBig5(t, chinese)), ""},
	} {
		var out strings.Builder
		w := NewRowWriter(&out, test.options)
		if err := w.Write([]Column{{Name: "kind", Value: "user"}, {Name: "name", Value: test.value}}); err != nil {
			t.Fatal(err)
		}
		want := `{"kind":"user","name":` + string(marshalled(test.want)) + "}\n"
		if out.String() != want {
			t.Errorf("%s: %swant %s", name, out.String(), want)
		}
		if test.repair != "" && w.Repairs[test.repair] != 1 || test.repair == "" && len(w.Repairs) > 0 {
			t.Errorf("%s: the repairs are %v", name, w.Repairs)
		}
	}
}

func TestRowsBecomeRecordsWithAnEnd(t *testing.T) {
	at := time.Date(2008, 3, 5, 9, 7, 31, 0, time.UTC)
	var out strings.Builder
	w := NewRowWriter(&out, RowOptions{})
	for _, row := range [][]Column{
		{{Name: "kind", Value: []byte("album")}, {Name: "id", Value: []byte("5")}, {Name: "owner_id", Value: int64(7)}, {Name: "title", Value: []byte("x")}, {Name: "category", Value: []byte(" 5 ")},
			{Name: "lat", Value: "25.0110"}, {Name: "lng", Value: 121.5}, {Name: "score", Value: nil}, {Name: "create_time", Value: []byte("0000-00-00 00:00:00")}, {Name: "update_time", Value: at}},
		{{Name: "kind", Value: "choice"}, {Name: "entry_id", Value: int64(8)}, {Name: "description", Value: "a"}, {Name: "votes", Value: int64(4)}},
		{{Name: "kind", Value: "choice"}, {Name: "entry_id", Value: "8"}, {Name: "description", Value: "b"}},
		{{Name: "kind", Value: "entry"}, {Name: "id", Value: int64(8)}, {Name: "post_date", Value: at}, {Name: "create_time", Value: at, HasZone: true}, {Name: "vote.description", Value: "?"}},
		{{Name: "kind", Value: "entry"}, {Name: "id", Value: "a-1"}, {Name: "post_date", Value: "2008-04-01 00:00:00"}, {Name: "vote.description", Value: nil}, {Name: "create_time", Value: int64(12)}},
		{{Name: "json", Value: []byte(`{"kind":"landmark","id":3,"owner_id":null,"name":"` + doubled("東") + `","lat":"1","lng":1.50}`)}},
		{{Name: "kind", Value: "comment"}, {Name: "id", Value: int64(1)}, {Name: "create_time", Value: []byte(" 1206979200")}, {Name: "reply_time", Value: uint64(1206982800)}},
		{{Name: "json", Value: `{"kind":"user","id":4,"create_time":1206979200}`}},
		{{Name: "json", Value: `{"kind":"entry","id":9,"vote":{"description":"?","choices":[{"description":"a"}]}}`}},
	} {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if counts, err := w.End(); err != nil || counts[KindEntry] != 3 || counts[KindAlbum] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	want := `{"kind":"album","id":5,"owner_id":7,"title":"x","category":5,"lat":25.011,"lng":121.5,"update_time":"2008-03-05 09:07:31"}
{"kind":"entry","id":8,"post_date":"2008-03-05","vote":{"choices":[{"description":"a","votes":4},{"description":"b"}],"description":"?"},"create_time":"2008-03-05T09:07:31Z"}
{"kind":"entry","id":"a-1","post_date":"2008-04-01","create_time":12}
{"kind":"landmark","id":3,"name":"東","lat":1,"lng":1.5}
{"kind":"comment","id":1,"create_time":1206979200,"reply_time":1206982800}
{"kind":"user","id":4,"create_time":1206979200}
{"kind":"entry","id":9,"vote":{"choices":[{"description":"a"}],"description":"?"}}
{"kind":"end","user":1,"album":1,"entry":3,"landmark":1,"comment":1}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if w.Repairs[Blanks] != 2 || w.Repairs[ZeroTimes] != 1 || w.Repairs[Doubled] != 1 {
		t.Errorf("the repairs are %v", w.Repairs)
	}
}

func TestARowThatIsNoRecordSaysWhy(t *testing.T) {
	for want, row := range map[string][]Column{
		"no kind":                       {{Name: "id", Value: "5"}, {Name: "name", Value: "x"}},
		`"user2" is no kind`:            {{Name: "kind", Value: "user2"}, {Name: "id", Value: "5"}},
		"the column nick is no field":   {{Name: "kind", Value: "user"}, {Name: "nick", Value: "5"}},
		"not a JSON object":             {{Name: "x", Value: "5"}},
		`"end" is no kind`:              {{Name: "kind", Value: "end"}, {Name: "user", Value: "5"}},
		"the column votes is no field":  {{Name: "kind", Value: "ballot"}, {Name: "votes", Value: "5"}},
		"vote.title is no field of the": {{Name: "kind", Value: "entry"}, {Name: "vote.title", Value: "5"}},
	} {
		if err := NewRowWriter(&strings.Builder{}, RowOptions{}).Write(row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// FuzzAnyBytesOfADatabaseBecomeALine checks that each line can be read, whatever a column holds.
func FuzzAnyBytesOfADatabaseBecomeALine(f *testing.F) {
	for _, each := range []string{"東&amp;", "\xaa\x46 12", `{"kind":"user","id":1,"name":"x"}`} {
		f.Add([]byte(each))
	}
	decoder := NewDecoder(Options{Zone: time.UTC})
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, options := range []RowOptions{{}, {HasEntities: true, HasBig5: true}} {
			var out strings.Builder
			w := NewRowWriter(&out, options)
			row := []Column{{Name: "kind", Value: "entry"}}
			for _, name := range []string{"id", "title", "lat", "post_date", "create_time", "vote"} {
				row = append(row, Column{Name: name, Value: value})
			}
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
			if err := w.Write([]Column{{Name: "json", Value: value}}); err == nil && len(value) == 0 {
				t.Error("a row of nothing is a record")
			}
			for line := range strings.Lines(out.String()) {
				if record, faults := decoder.Decode([]byte(line)); record == nil {
					t.Errorf("%q became %s: %v", value, line, faults)
				}
			}
		}
	})
}
