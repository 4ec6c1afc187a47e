package movefile

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestARecordIsRefusedWithItsFieldAndAReason(t *testing.T) {
	const album = `{"kind":"album","id":5,"owner_id":9,"title":"x","category":1,"lat":25.1,"lng":121,"create_time":1204679251}`
	for name, c := range map[string]struct {
		line, field string
		class       Class
		allow       Allowance
	}{
		"no JSON":          {`{"kind":`, "", Unreadable, ""},
		"an array":         {`[1]`, "", Unreadable, ""},
		"null":             {`null`, "", Unreadable, ""},
		"not UTF-8":        {"{\"kind\":\"user\",\"id\":1,\"name\":\"\xa4\xe5\"}", "", Unreadable, ""},
		"no kind":          {`{"id":1}`, "kind", Unreadable, ""},
		"an unknown kind":  {`{"kind":"friend"}`, "kind", Unreadable, ""},
		"an unknown field": {strings.Replace(album, `"title"`, `"titel":"x","title"`, 1), "titel", UnknownField, ""},
		"a field twice":    {strings.Replace(album, `"title"`, `"id":6,"title"`, 1), "id", Conflict, ""},
		"a kind twice":     {strings.Replace(album, `"title"`, `"kind":"photo","title"`, 1), "kind", Conflict, ""},
		"no title":         {strings.Replace(album, `"title":"x",`, ``, 1), "title", Missing, EmptyTexts},
		"a null title":     {strings.Replace(album, `"x"`, `null`, 1), "title", Missing, EmptyTexts},
		"an empty title":   {strings.Replace(album, `"x"`, `""`, 1), "title", Blank, EmptyTexts},
		"a long title":     {strings.Replace(album, `"x"`, `"`+strings.Repeat("文", 201)+`"`, 1), "title", TooLong, LongTitles},
		"a longer title":   {strings.Replace(album, `"x"`, `"`+strings.Repeat("文", 2001)+`"`, 1), "title", TooLong, ""},
		"a control":        {strings.Replace(album, `"x"`, `"a\u0007"`, 1), "title", Characters, ControlCharacters},
		"half a pair":      {strings.Replace(album, `"x"`, `"\ufffd\uD83D "`, 1), "title", Characters, ControlCharacters},
		"another category": {strings.Replace(album, `"category":1`, `"category":17`, 1), "category", OutOfRange, OddValues},
		"a text as number": {strings.Replace(album, `25.1`, `"25.1"`, 1), "lat", WrongType, OddValues},
		"north of north":   {strings.Replace(album, `25.1`, `90.01`, 1), "lat", OutOfRange, OddValues},
		"a leading zero":   {strings.Replace(album, `"id":5`, `"id":"05"`, 1), "id", WrongType, ""},
		"no number":        {strings.Replace(album, `"owner_id":9`, `"owner_id":"me"`, 1), "owner_id", OutOfRange, ""},
		"no moment":        {strings.Replace(album, `1204679251`, `"0000-00-00 00:00:00"`, 1), "create_time", WrongType, BadTimes},
		"two parents":      {`{"kind":"photo","id":1,"album_id":2,"landmark_id":3,"url":"a.jpg"}`, "", Conflict, BadParts},
		"no parent":        {`{"kind":"photo","id":1,"url":"a.jpg"}`, "", Conflict, BadParts},
		"no author":        {`{"kind":"comment","id":1,"album_id":2,"text":"a","create_time":1}`, "author_id", Missing, EmptyTexts},
		"two authors":      {`{"kind":"comment","id":1,"album_id":2,"text":"a","create_time":1,"author_id":3,"author_name":"b"}`, "author_id", Conflict, OddValues},
		"no address":       {`{"kind":"user","id":1,"name":"a","password_hash":"0123456789abcdef0123456789abcdef"}`, "password_hash", Conflict, OddValues},
		"a login name":     {`{"kind":"user","id":1,"name":"a","email":"小 明"}`, "email", WrongType, LoginNames},
		"a reserved name":  {`{"kind":"user","id":1,"name":"a","email":"#2"}`, "email", WrongType, ""},
		"an unknown hash":  {`{"kind":"user","id":1,"name":"a","email":"a@b.c","password_hash":"secret"}`, "password_hash", WrongType, OtherPasswords},
		"one choice": {`{"kind":"entry","id":1,"author_id":2,"type":"0_0","lat":1,"lng":1,"title":"a","content":"b","post_date":"2008-02-29",` +
			`"weather":"有彩虹","create_time":1,"vote":{"description":"q","choices":[{"description":"a"}]}}`, "vote.choices", OutOfRange, OddValues},
	} {
		_, faults := NewDecoder(Options{Zone: time.UTC}).Decode([]byte(c.line))
		if len(faults) == 0 || faults[0].Field != c.field || faults[0].Allow != c.allow {
			t.Errorf("%s: %v", name, faults)
			continue
		}
		found := false
		for _, fault := range faults {
			found = found || fault.Class == c.class && fault.Field == c.field && fault.Text != "" && !fault.IsAllowed
		}
		if !found {
			t.Errorf("%s: %v, want %s of %q", name, faults, c.class, c.field)
		}
		if c.allow == "" {
			continue
		}
		record, faults := NewDecoder(Options{Zone: time.UTC, Allowed: Allowed{c.allow}}).Decode([]byte(c.line))
		if record == nil || IsBad(faults) || len(faults) != 1 {
			t.Errorf("%s, allowed: %v", name, faults)
		}
	}
}

func TestAnAllowedControlCharacterIsReplaced(t *testing.T) {
	record, faults := NewDecoder(Options{Zone: time.UTC, Allowed: Allowed{ControlCharacters}}).Decode(
		[]byte(`{"kind":"user","id":1,"name":"a\u0000b\u001f\ufffe 😊"}`))
	if user, isUser := record.(*User); !isUser || IsBad(faults) || user.Name != "a\ufffdb\ufffd\ufffd 😊" {
		t.Errorf("%v %v", record, faults)
	}
}

// Clients see no -0.
func TestNegativeZeroIsZero(t *testing.T) {
	record, faults := NewDecoder(Options{Zone: time.UTC}).Decode(
		[]byte(`{"kind":"landmark","id":1,"owner_id":2,"name":"a","category":1,"lat":-0.0,"lng":-0,"create_time":1}`))
	if landmark, isLandmark := record.(*Landmark); !isLandmark || len(faults) > 0 || math.Signbit(landmark.Lat) || math.Signbit(landmark.Lng) {
		t.Errorf("%+v %v", record, faults)
	}
}

func TestAFaultThatIsNotAllowedIsNotLostBehindAllowedOnes(t *testing.T) {
	choices := strings.Repeat(`,{"description":"`+strings.Repeat("x", 201)+`"}`, maxFaults)[1:]
	line := `{"kind":"entry","id":8,"author_id":1,"type":"0_8","lat":1,"lng":1,"title":"e","content":"c","post_date":"2008-04-01","weather":"雨過天晴",` +
		`"create_time":1,"vote":{"description":"q","choices":[` + choices + `]},"updated_time":2}`
	_, faults := NewDecoder(Options{Zone: time.UTC, Allowed: Allowed{LongTitles}}).Decode([]byte(line))
	if len(faults) != maxFaults+1 || !IsBad(faults) {
		t.Errorf("%d faults: %v", len(faults), faults[len(faults)-1])
	}
}

func TestEachNumberMayBeInQuotesIfOddValuesMay(t *testing.T) {
	for line, want := range map[string]string{
		`{"kind":"ballot","entry_id":8,"user_id":12,"choice":"2"}`: `{"entry_id":8,"user_id":12,"choice":2}`,
		`{"kind":"reward","id":1,"user_id":12,"amount":" 2 "}`:     `{"id":1,"user_id":12,"amount":2}`,
		`{"kind":"end","user":"2"}`:                                `{"user":2}`,
	} {
		if _, faults := NewDecoder(Options{Zone: time.UTC}).Decode([]byte(line)); len(faults) != 1 || !IsBad(faults) {
			t.Errorf("%s: %v", line, faults)
		}
		record, faults := NewDecoder(Options{Zone: time.UTC, Allowed: AllRepairs()}).Decode([]byte(line))
		if got := marshalled(record); len(faults) != 1 || faults[0].Allow != OddValues || IsBad(faults) || string(got) != want {
			t.Errorf("%s, allowed: %s %v", line, got, faults)
		}
	}
}

func TestATimeComesInTheFormsOfDatabases(t *testing.T) {
	want := time.Date(2008, 3, 5, 1, 7, 31, 0, time.UTC)
	for _, text := range []string{
		`"2008-03-05T01:07:31Z"`, `"2008-03-05T09:07:31+08:00"`, `"2008-03-05 09:07:31"`, `"2008-03-05T09:07:31"`,
		`"2008-03-05 01:07:31+00"`, `"2008-03-05 09:07:31+08:00"`, `1204679251`,
	} {
		record, faults := NewDecoder(Options{Zone: zone(t)}).Decode([]byte(`{"kind":"user","id":1,"name":"a","create_time":` + text + `}`))
		if len(faults) > 0 || !record.(*User).CreateTime.Equal(want) {
			t.Errorf("%s: %v %v", text, record, faults)
		}
	}
}

// FuzzARecordReadsBackTheSame checks that a record without faults is the same after it is written.
func FuzzARecordReadsBackTheSame(f *testing.F) {
	f.Add([]byte(`{"kind":"comment","id":"x1","album_id":2,"author_id":"3","text":"a\r\n<b>","create_time":1204679251,"reply":"c"}`))
	f.Add([]byte(`{"kind":"entry","id":1,"author_id":2,"type":"0_0","lat":1e-3,"lng":-0,"title":"a","content":"b","post_date":"2008-02-29","weather":"有彩虹",` +
		`"create_time":1,"zoom_level":0,"vote":{"description":"q","choices":[{"description":"a","votes":1},{"description":"b"}]}}`))
	f.Add([]byte(`{"kind":"end"}`)) // of a file without records
	f.Fuzz(func(t *testing.T, line []byte) {
		decoder := NewDecoder(Options{Zone: time.UTC})
		record, faults := decoder.Decode(line)
		if len(faults) > 2*maxFaults || record == nil && len(faults) == 0 {
			t.Fatalf("%d faults, record %v", len(faults), record)
		}
		if len(faults) > 0 {
			return
		}
		var written bytes.Buffer
		if err := NewWriter(&written).Write(record); err != nil {
			t.Fatal(err)
		}
		again, faults := decoder.Decode(bytes.TrimSpace(written.Bytes()))
		if len(faults) > 0 || !reflect.DeepEqual(again, record) {
			t.Fatalf("%s\nbecame %s\n%v", line, written.Bytes(), faults)
		}
	})
}

// FuzzTheFieldsOfALineAreThoseOfEncodingJSON compares the two ways to split an object.
func FuzzTheFieldsOfALineAreThoseOfEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : 1 , "b":[{"c":"}"}, "]\\"" ] ,"\u0064":null}` + "\r\n", `{"a":"\\","b":{"c":{}},"d":-1.5e3}`, `{"":true,"a":""}`, `[{"a":1}]`, `{"a":1}}`, `null`, `"{"`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		isObject := json.Unmarshal(line, &want) == nil && want != nil
		fields, got := fieldsIn(line, nil)
		if got != isObject {
			t.Fatalf("%q: an object: %v", line, got)
		}
		if len(fields) == maxFields {
			return
		}
		seen := map[string]json.RawMessage{}
		for _, each := range fields {
			seen[strings.ToValidUTF8(string(each.name), "\ufffd")] = each.value // encoding/json replaces what is no UTF-8
		}
		if isObject && utf8.Valid(line) && !reflect.DeepEqual(seen, want) {
			t.Errorf("%q: %q, want %q", line, seen, want)
		}
	})
}
