package format

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
)

const (
	album   = `{"kind":"album","id":5,"owner_id":9,"title":"x","category":1,"lat":25.1,"lng":121,"create_time":1204679251}`
	comment = `{"kind":"comment","id":1,"album_id":2,"author_id":3,"text":"a","create_time":1}`
	user    = `{"kind":"user","id":1,"name":"a"}`
	entry   = `{"kind":"entry","id":1,"author_id":2,"type":"0_0","lat":1,"lng":1,"title":"a","content":"b","post_date":"2008-02-29",` +
		`"weather":"有彩虹","create_time":72000,"vote":{"description":"q","choices":[{"description":"a"},{"description":"b","votes":2}]}}`
)

// big5 returns the bytes of a text in Big5, and latin1 what a database shows of bytes that it takes for Windows-1252.
func big5(t *testing.T, text string) string {
	t.Helper()
	bytes, err := traditionalchinese.Big5.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func latin1(bytes string) string {
	var text strings.Builder
	for _, b := range []byte(bytes) {
		if c := charmap.Windows1252.DecodeByte(b); c != '\uFFFD' {
			text.WriteRune(c)
		} else {
			text.WriteRune(rune(b))
		}
	}
	return text.String()
}

// Each fault has a class and a field. Repaired, the line is what another line is; empty if it stays left out.
func TestAFaultHasAClassAndIsMendedByARule(t *testing.T) {
	swap := func(line, old, replacement string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%s has no %s", line, old)
		}
		return strings.Replace(line, old, replacement, 1)
	}
	without := func(line, field string) string { return swap(line, field, ``) }
	mended := map[Repair]bool{}
	for name, c := range map[string]struct {
		line, field string
		class       Class
		repair      Repair
		want        string
	}{
		"no JSON":             {`{"kind":`, "", Unreadable, "", ""},
		"an array":            {`[1]`, "", Unreadable, "", ""},
		"null":                {`null`, "", Unreadable, "", ""},
		"nothing":             {``, "", Unreadable, "", ""},
		"no kind":             {`{"id":1}`, "kind", Unreadable, "", ""},
		"an unknown kind":     {`{"kind":"friend"}`, "kind", Unreadable, "", ""},
		"an unknown field":    {swap(album, `"title"`, `"titel":"x","title"`), "titel", UnknownField, "unknown-field", album},
		"a field twice":       {swap(album, `"title"`, `"id":6,"title"`), "id", Conflict, "", ""},
		"a field twice, null": {swap(album, `"title"`, `"id":null,"title"`), "id", Conflict, "", ""},
		"a kind twice":        {swap(album, `"title"`, `"kind":"photo","title"`), "kind", Conflict, "", ""},
		"no title":            {without(album, `"title":"x",`), "title", Missing, "empty-text", swap(album, `"x"`, `"-"`)},
		"a null title":        {swap(album, `"x"`, `null`), "title", Missing, "empty-text", swap(album, `"x"`, `"-"`)},
		"an empty title":      {swap(album, `"x"`, `""`), "title", Blank, "empty-text", swap(album, `"x"`, `"-"`)},
		"an invisible name":   {swap(user, `"a"`, `"\u200b"`), "name", Blank, "empty-text", swap(user, `"a"`, `"-"`)},
		"a long title":        {swap(album, `"x"`, `"`+strings.Repeat("文", 201)+`"`), "title", TooLong, "long-text", swap(album, `"x"`, `"`+strings.Repeat("文", 200)+`"`)},
		"a long icon":         {swap(user, `"name"`, `"icon_url":"`+strings.Repeat("a", 2001)+`","name"`), "icon_url", TooLong, "long-address", user},
		"a control":           {swap(album, `"x"`, `"x\u0007"`), "title", Characters, "control-characters", album},
		"nothing but control": {swap(album, `"x"`, `"\u0007"`), "title", Characters, "control-characters", swap(album, `"x"`, `"-"`)},
		"half a pair":         {swap(album, `"x"`, `"\ufffd\uD83D "`), "title", Characters, "control-characters", swap(album, `"x"`, `"\ufffd\ufffd "`)},
		"a number as text":    {swap(album, `"x"`, `7`), "title", WrongType, "", ""},
		"an object as text":   {swap(album, `"x"`, `{}`), "title", WrongType, "", ""},
		"another category":    {swap(album, `"category":1`, `"category":17`), "category", OutOfRange, "category", swap(album, `"category":1`, `"category":16`)},
		"no category":         {without(album, `"category":1,`), "category", Missing, "category", swap(album, `"category":1`, `"category":16`)},
		"a number in quotes":  {swap(album, `25.1`, `" 25.1 "`), "lat", WrongType, "number", album},
		"an odd number":       {swap(album, `25.1`, `"0x1p4"`), "lat", WrongType, "position", swap(album, `25.1`, `0`)},
		"an integer with .0":  {swap(album, `"category":1`, `"category":1.0`), "category", WrongType, "number", album},
		"north of north":      {swap(album, `25.1`, `90.01`), "lat", OutOfRange, "position", swap(album, `25.1`, `0`)},
		"beyond all numbers":  {swap(album, `25.1`, `1e999`), "lat", WrongType, "position", swap(album, `25.1`, `0`)},
		"a negative score":    {swap(album, `"lat"`, `"score":-1,"lat"`), "score", OutOfRange, "amount", album},
		"a high score":        {swap(album, `"lat"`, `"score":1e10,"lat"`), "score", WrongType, "number", swap(album, `"lat"`, `"score":1000000000,"lat"`)},
		"a leading zero":      {swap(album, `"id":5`, `"id":"05"`), "id", WrongType, "", ""},
		"a blank before":      {swap(album, `"id":5`, `"id":" 5"`), "id", WrongType, "blanks", album},
		"no identifier":       {without(album, `"id":5,`), "id", Missing, "", ""},
		"no number":           {swap(album, `"owner_id":9`, `"owner_id":"me"`), "owner_id", WrongType, "", ""},
		"no moment":           {swap(album, `1204679251`, `"0000-00-00 00:00:00"`), "create_time", WrongType, "time", swap(album, `1204679251`, `"1970-01-01T00:00:05Z"`)},
		"an update at none":   {swap(album, `"lat"`, `"update_time":"","lat"`), "update_time", WrongType, "time", album},
		"seconds as text":     {swap(album, `1204679251`, `"1204679251"`), "create_time", WrongType, "number", album},
		"a moment and blanks": {swap(album, `1204679251`, `" 2008-03-05 09:07:31 "`), "create_time", WrongType, "blanks", album},
		"two parents":         {swap(comment, `"album_id"`, `"entry_id":3,"album_id"`), "", Conflict, "", ""},
		"no parent":           {without(comment, `"album_id":2,`), "", Conflict, "", ""},
		"a parent of zero":    {swap(comment, `"album_id"`, `"entry_id":0,"album_id"`), "entry_id", WrongType, "", ""},
		"a quote of nothing":  {swap(entry, `"type"`, `"quoted_id":"","type"`), "quoted_id", WrongType, "", ""},
		"no author":           {without(comment, `"author_id":3,`), "author_id", Missing, "author", swap(comment, `"author_id":3`, `"author_name":"-"`)},
		"two authors":         {swap(comment, `"text"`, `"author_name":"b","text"`), "author_id", Conflict, "author", comment},
		"the time of nothing": {swap(comment, `"text"`, `"reply_time":5,"text"`), "reply_time", Conflict, "reply-time", comment},
		"no address":          {swap(user, `"name"`, `"password_hash":"0123456789abcdef0123456789abcdef","name"`), "password_hash", Conflict, "password", user},
		"an unknown hash":     {swap(user, `"name"`, `"email":"a@b.c","password_hash":"secret","name"`), "password_hash", WrongType, "password", swap(user, `"name"`, `"email":"a@b.c","name"`)},
		"another idrand":      {`{"kind":"session","user_id":1,"idrand":"secret"}`, "idrand", WrongType, "", ""},
		"a login name":        {swap(user, `"name"`, `"email":"小 明","name"`), "email", WrongType, "email", user},
		"a long icon of none": {`{"kind":"photo","id":1,"album_id":2,"url":"` + strings.Repeat("a", 2001) + `"}`, "url", TooLong, "", ""},
		"one choice":          {swap(entry, `{"description":"a"},`, ``), "vote.choices", OutOfRange, "vote", without(entry, `,"vote":{"description":"q","choices":[{"description":"a"},{"description":"b","votes":2}]}`)},
		"a choice of no kind": {swap(entry, `{"description":"a"}`, `null`), "vote.choices[0]", WrongType, "vote", without(entry, `,"vote":{"description":"q","choices":[{"description":"a"},{"description":"b","votes":2}]}`)},
		"an empty choice":     {swap(entry, `{"description":"a"}`, `{"votes":1}`), "vote.choices[0].description", Missing, "empty-text", swap(entry, `{"description":"a"}`, `{"description":"-","votes":1}`)},
		"another type":        {swap(entry, `0_0`, `0_9`), "type", WrongType, "type", swap(entry, `0_0`, `0_2`)},
		"another weather":     {swap(entry, `有彩虹`, `sun`), "weather", WrongType, "weather", swap(entry, `有彩虹`, `晴空萬里`)},
		"a far zoom level":    {swap(entry, `"type"`, `"zoom_level":22,"type"`), "zoom_level", OutOfRange, "map", entry},
		"a day and blanks":    {swap(entry, `2008-02-29`, ` 2008-02-29`), "post_date", WrongType, "blanks", entry},
		"a word and blanks":   {swap(entry, `有彩虹`, ` 有彩虹`), "weather", WrongType, "blanks", entry},
		"the 30th":            {swap(entry, `2008-02-29`, `2008-02-30`), "post_date", WrongType, "post-date", swap(entry, `2008-02-29`, `1970-01-02`)},
		"not UTF-8":           {swap(album, `x`, "\xe9t\xe9"), "", Unreadable, "", ""},
		"an end":              {`{"kind":"end","friend":1}`, "friend", UnknownField, "", ""},
		"an end of less":      {`{"kind":"end","user":-1}`, "user", WrongType, "", ""},
	} {
		strict := decodeStrictly(c.line)
		if !slices.ContainsFunc(strict.Faults, func(f Fault) bool { return f.Field == c.field && f.Class == c.class && f.Repair == "" && f.Text != "" }) {
			t.Errorf("%s: %v", name, strict.Faults)
		}
		if name == "not UTF-8" {
			continue
		}
		got := decodeRepairing(c.line)
		if !slices.ContainsFunc(got.Faults, func(f Fault) bool { return f.Field == c.field && f.Class == c.class && f.Repair == c.repair }) {
			t.Errorf("%s, repaired: %v", name, got.Faults)
		}
		for _, f := range append(strict.Faults, got.Faults...) {
			if strings.Contains(f.Value+f.Text, "secret") {
				t.Errorf("%s shows a secret: %v", name, f)
			}
			mended[f.Repair] = true
		}
		if c.want != "" {
			isComplete(t, name, got, c.want)
		}
	}
	charsets(t, mended)
	for _, ofOthers := range []Repair{"missing-author", "missing-quote", "duplicate-email"} { // of moving/importer
		mended[ofOthers] = true
	}
	guide, err := os.ReadFile("../../docs/moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "| rule | finds | gives |\n| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		rule := Repair(strings.Fields(row)[1])
		if !mended[rule] {
			t.Errorf("nothing was mended by %s", rule)
		}
		delete(mended, rule)
	}
	if delete(mended, ""); len(mended) > 0 {
		t.Errorf("docs/moving-in.md lacks %v", mended)
	}
}

// isComplete expects a repaired line to be what another line is.
func isComplete(t *testing.T, name string, got Line, want string) {
	t.Helper()
	if slices.ContainsFunc(got.Faults, func(f Fault) bool { return f.Repair == "" }) {
		t.Errorf("%s was not repaired: %v", name, got.Faults)
		return
	}
	wanted := decodeStrictly(want)
	if len(wanted.Faults) > 0 {
		t.Fatalf("%s: %v", want, wanted.Faults)
	}
	Decoder{Zone: time.FixedZone("", 8*3600), Repair: true}.Complete(got.Record, time.Unix(5, 0))
	if a, b := string(Encode(nil, got.Record)), string(Encode(nil, wanted.Record)); a != b {
		t.Errorf("%s became\n%swant\n%s", name, a, b)
	}
}

// charsets mends texts in other charsets, and leaves good ones alone.
func charsets(t *testing.T, mended map[Repair]bool) {
	t.Helper()
	write := func(title string) string { return strings.Replace(album, `"x"`, `"`+title+`"`, 1) }
	for written, c := range map[string]struct {
		repair Repair
		want   string
	}{
		latin1("晚餐吃了蚵仔煎"):         {"utf8-as-latin1", "晚餐吃了蚵仔煎"},
		latin1("é"):               {"utf8-as-latin1", "é"},
		latin1(big5(t, "東北角一日遊")): {"big5", "東北角一日遊"},
		strings.ReplaceAll(latin1(big5(t, "功課寫完了。ABC")), `\`, `\\`): {"big5", "功課寫完了。ABC"},
		latin1(big5(t, "台北101")):                                               {"big5", "台北101"},
		latin1(big5(t, "小旅人 a")):                                               {"big5", "小旅人 a"},
		strings.ReplaceAll(big5(t, "功課寫完了,家"), `\`, `\\`):                      {"big5", "功課寫完了,家"},
		strings.ReplaceAll(big5(t, "許"), `\`, `\\`):                            {"big5", "許"},
		strings.ReplaceAll(big5(t, "許"), `\`, `\\`) + `\"a\n` + big5(t, "東北角"): {"big5", `許\"a\n東北角`},
		"\xe9t\xe9 na\xefve":                                                   {"latin1", "été naïve"},
		"\x93Qu\xe9b\xe9cois\x94 \\u6587":                                      {"latin1", "“Québécois” 文"},
		"a &amp;amp; &#26481;&lt;b&gt;":                                        {"entities", "a &amp; 東<b>"},
		"晴&nbsp;空":                                                             {"entities", "晴\u00a0空"},
	} {
		got := decodeRepairing(write(written))
		if !slices.ContainsFunc(got.Faults, func(f Fault) bool { return f.Repair == c.repair }) {
			t.Errorf("%q: %v", written, got.Faults)
			continue
		}
		mended[c.repair] = true
		isComplete(t, fmt.Sprintf("%q", written), got, write(c.want))
	}
	for _, good := range []string{
		"x", "晴空", "été", "Québécois", "ÉTÉS", "naïve", "Ärger mit Äpfeln", "áéíóúñ", "¿Qué?", "£5 ½ ©", "Ã", "Ñandú ÀÉÈ", "“quoted” — 10 €",
		"25°C 77°F", "Äö", "ÄÖéáíóúñ", "©Nokia ®Sony 2008", "£5 §A ¥B",
		"?a=1&copy=2", "AT&T; & so on", "🙂 é",
	} {
		if got := decodeRepairing(write(good)); len(got.Faults) > 0 || got.Record.GetAlbum().GetTitle() != good {
			t.Errorf("%q became %q: %v", good, got.Record.GetAlbum().GetTitle(), got.Faults)
		}
	}
}
