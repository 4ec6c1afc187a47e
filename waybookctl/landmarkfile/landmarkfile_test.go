package landmarkfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// readAll reads a file to its end and returns its places and its problems.
func readAll(t testing.TB, text string, options Options) (all []Place, problems []error) {
	t.Helper()
	isOver := false
	for place, err := range Read(strings.NewReader(text), options) {
		if isOver {
			t.Errorf("after %v: %v, %v", problems[len(problems)-1], place, err)
		}
		if err == nil {
			all = append(all, place)
			continue
		}
		var problem *Error
		isOver = !errors.As(err, &problem) || problem.IsFatal
		problems = append(problems, err)
	}
	return all, problems
}

func expectPlaces(t testing.TB, got []Place, want ...*poiv1.ImportedPoi) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !proto.Equal(got[i].ImportedPoi, want[i]) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	}
}

func landmark(key, name string, category int32, lat, lng float64) *poiv1.ImportedPoi {
	return &poiv1.ImportedPoi{Key: key, Name: name, Category: poiv1.PoiCategory(category), Location: &typev1.Location{Lat: lat, Lng: lng}}
}

var (
	bridge = landmark("1", "碧潭吊橋", 1, 24.9565, 121.5359)
	tower  = landmark("k2", "101 \"大樓\",; 信義\n路", 5, -25.034, 1e-7)
)

func TestATableIsReadWithAnyLineEndMarkAndSeparator(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, mark := range []string{"", "\ufeff"} {
			for _, comma := range []string{",", ";", "\t"} {
				row := func(fields ...string) string { return strings.Join(fields, comma) + end }
				table := mark + row("name", " lat", "lng ", "category", "key") + row("碧潭吊橋", "24.9565", "121.5359", "1", "1") + end +
					row(`"101 ""大樓"",; 信義`+end+`路"`, "-25.034", " 1e-7", "Thrill", "k2")
				for _, text := range []string{table, strings.TrimSuffix(table, end)} {
					all, problems := readAll(t, text, Options{Format: CSV})
					if len(problems) > 0 {
						t.Fatalf("%q: %v", text, problems)
					}
					expectPlaces(t, all, bridge, tower)
				}
				all, problems := readAll(t, table+row("x", "91", "1", "1", ""), Options{Format: CSV})
				if len(all) != 2 || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "line 6: lat: ") {
					t.Errorf("%q %q %q: %d places, %v", end, mark, comma, len(all), problems)
				}
			}
		}
	}
}

func TestJSONIsReadInEachForm(t *testing.T) {
	one := `{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[121.5359,24.9565,12]},"properties":{"name":"碧潭吊橋","category":1,"a":{"b":"]}"}}}`
	two := `{"geometry":{"coordinates":[1e-7,-25.034],"type":"Point"},"type":"Feature","id":null,"properties":{"key":"k2","name":"101 \"大樓\",; 信義\n路","category":"thrill"}}`
	lines := `{"key":"1","name":"\u78a7潭吊橋","category":"1","lat":"24.9565","lng":" 121.5359 ","id":9}` + "\n\n" +
		`{"key":"k2","name":"101 \"大樓\",; 信義\n路","category":5,"lat":-25.034,"lng":1e-7,"more":[{}]}`
	spread := strings.ReplaceAll(strings.ReplaceAll(one, ",", ",\n"), ":", " :\n ")
	for _, file := range []struct {
		format Format
		text   string
	}{
		{NDJSON, lines}, {GeoJSON, lines}, {NDJSON, one + "\n" + two + "\n"}, {GeoJSON, one + "\n" + two},
		{NDJSON, "\x1e" + one + "\n\x1e" + two + "\n"}, {GeoJSON, "\x1e" + one + "\n\x1e" + two + "\n"}, {GeoJSON, "\x1e" + spread + "\x1e" + two},
		{GeoJSON, `{"type":"FeatureCollection","features":[` + one + "," + two + "]}"},
		{GeoJSON, ` {"name":"features", "crs":{"features":[1,"\"]"]},"features" : [` + "\n" + spread + "\n,\n" + two + `],"type":"FeatureCollection","bbox":[1,2,3,4]}` + "\n"},
	} {
		for _, text := range []string{file.text, "\ufeff" + file.text, strings.ReplaceAll(file.text, "\n", "\r\n"), strings.ReplaceAll(file.text, "\n", "\r")} {
			all, problems := readAll(t, text, Options{Format: file.format})
			if len(problems) > 0 {
				t.Fatalf("%s %q: %v", file.format, text, problems)
			}
			expectPlaces(t, all, bridge, tower)
		}
	}
}

func TestLandmarksReadBackTheSame(t *testing.T) {
	awkward := []*poiv1.ImportedPoi{
		bridge, tower,
		landmark(" ,;\t\"\n", "\n.", 2, 90, -180),
		landmark("\u2028<&>\\", `\"\u00e9`, 3, 5e-324, 179.99999999999997),
		landmark("=1+1", " x ", 4, 0.1, 100.0/3),
	}
	for _, format := range formats {
		for count := range len(awkward) + 1 {
			text := written(t, format, awkward[:count])
			all, problems := readAll(t, text, Options{Format: format})
			if len(problems) > 0 {
				t.Errorf("%s: %v\n%s", format, problems, text)
			}
			expectPlaces(t, all, awkward[:count]...)
		}
	}
}

var formats = []Format{GeoJSON, NDJSON, CSV}

// written returns landmarks as a file.
func written(t testing.TB, format Format, all []*poiv1.ImportedPoi) string {
	t.Helper()
	var text strings.Builder
	writer := NewWriter(&text, format)
	for _, each := range all {
		if err := writer.Write(each); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestAFileHasALineForEachLandmark(t *testing.T) {
	for format, want := range map[Format]string{
		GeoJSON: `{"type":"FeatureCollection","features":[
{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1}},
{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1}}
]}
`,
		NDJSON: `{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359}
{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359}
`,
		CSV: "key,name,category,lat,lng\n1,碧潭吊橋,1,24.9565,121.5359\n1,碧潭吊橋,1,24.9565,121.5359\n",
	} {
		if got := written(t, format, []*poiv1.ImportedPoi{bridge, bridge}); got != want {
			t.Errorf("%s is written as\n%s", format, got)
		}
	}
}

func TestALandmarkWithoutAKeyGetsOneDerivedFromItsContent(t *testing.T) {
	all, problems := readAll(t, `{"name":"a","lat":1,"lng":2,"country":"x"}
{"lng":"2.0","name":"a","lat":1e0,"category":2}
{"name":"a","lat":1,"lng":3}
{"name":"b","lat":1,"lng":2}
`, Options{Format: NDJSON, Category: 2})
	if len(problems) > 0 || all[0].Key != all[1].Key || all[0].Key == all[2].Key || all[0].Key == all[3].Key || all[0].HasOwnKey {
		t.Errorf("%v, %v", all, problems)
	}
	// Those that were imported before keep their keys.
	if all[0].Key != "content-063e82e92268294b7468d5cb6d6356ab" {
		t.Errorf("the key is %s", all[0].Key)
	}
}

// collection returns a FeatureCollection.
func collection(features ...string) string {
	return "{\"type\":\"FeatureCollection\",\"features\":[\n" + strings.Join(features, ",\n") + "\n]}\n"
}

const good = `{"type":"Feature","id":"g","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"good","category":1}}`

// like returns the good Feature with one part replaced.
func like(part, other string) string { return strings.Replace(good, part, other, 1) }

func TestAnInvalidRecordIsReportedWithItsLineAndTheOthersAreRead(t *testing.T) {
	inJSON := map[string]string{
		`17`: "no object", `{"id":}`: "no object in valid JSON", `["a"]`: "no object", `{}`: `lat: "" is not a decimal number`,
		like(`{"type":"Point","coordinates":[1,2]}`, "null"):                     "the geometry is not a Point",
		like(`"Point","coordinates":[1,2]`, `"Polygon","coordinates":[[[1,2]]]`): "the geometry is not a Point",
		like("[1,2]", "[1]"):                         "longitude first",
		like("[1,2]", "[25,121.5]"):                  "lat: must be",
		like(`"name":"good"`, `"name":null`):         "name: ",
		like(`"name":"good"`, `"name":{}`):           "name: this is neither a text nor a number",
		like("good", strings.Repeat("長", 201)):       "name: ",
		like(`"g"`, `"`+strings.Repeat("長", 34)+`"`): "key: ",
		like("good", `go\u0007od`):                   "name: ",
		like("good", `\u3164`):                       "name: ",
		like("good", `\\\ud83d\u0041`):               "name: an escape such as",
		like(`"g"`, `"\u001b"`):                      "key: ",
		like("good", "\xa4\xa4"):                     "not text in UTF-8",
		like(`,"category":1`, ""):                    `category: "" is not one of`,
		like(`:1}`, `:6}`):                           `category: "6" is not one of`,
		like(`:1}`, `:"bar"}`):                       `category: "bar" is not one of`,
	}
	inTable := map[string]string{
		"x,x,121.5,25,1": "swapped?", "x,x,1,180.0001,1": "lng: must be", "x,x,NaN,1,1": `lat: "NaN" is not`, "x,x,1,-Inf,1": `lng: "-Inf" is not`,
		"x,x,0x10p0,1,1": "is not a decimal number", `x,x,"25,03",1,1`: "is not a decimal number", "x,\u3000 ,1,1,1": "name: ",
		"x,,91,1,": "category: ", "x,x,1": "the heading has 5 columns, and this record has 3", "x,a,b,1,1,1": "this record has 6",
		"x,\xa4\xa4\xa4\xe5,1,1,1": "not text in UTF-8",
		// A lone quote anywhere.
		`x,12" gun,1,1,1`: "a quote is not paired", `x,"12" gun,1,1,1`: "a quote is not paired", `x,"gun,1,1,1`: "a quote is not paired",
		`"x,gun,1,1,1`: "a quote is not paired", `x,gun,1,1,1"`: "a quote is not paired", `x,"gun,1,1,1""`: "a quote is not paired",
	}
	expect := func(format Format, text, problem string) {
		t.Helper()
		all, problems := readAll(t, text, Options{Format: format})
		if len(all) != 2 || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "line 3: ") || !strings.Contains(problems[0].Error(), problem) {
			t.Errorf("%s: %d places, %v, want %s", text, len(all), problems, problem)
		}
	}
	for bad, problem := range inJSON {
		expect(NDJSON, good+"\n\n"+bad+"\n"+like(`"g"`, `"h"`), problem)
		expect(NDJSON, "\x1e"+good+"\n\n\x1e"+bad+"\n\x1e"+like(`"g"`, `"h"`), problem)
		expect(GeoJSON, collection(good, bad, like(`"g"`, `"h"`)), problem)
	}
	for bad, problem := range inTable {
		for _, after := range []string{"", "\n", `x,"y",1,1,`} {
			text := "key,name,lat,lng,category\ng,\"good\",2,1,1\n" + bad + "\nh,\"good\",2,1,1" + after[:min(len(after), 1)]
			expect(CSV, strings.TrimSuffix(text, "x"), problem)
		}
	}
	all, problems := readAll(t, "{\"type\":\"FeatureCollection\",\"features\":["+good+",7,"+like(`"g"`, `"h"`)+"]}", Options{Format: GeoJSON})
	if len(all) != 2 || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "line 1, record 2: ") {
		t.Errorf("%d places, %v", len(all), problems)
	}
}

func TestManyLoneQuotesSpoilOnlyTheirOwnLines(t *testing.T) {
	var text strings.Builder
	text.WriteString("key,name,category,lat,lng\n")
	const count = 50_000
	for i := range count {
		fmt.Fprintf(&text, "%d,x,1,1,1\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&text, "%d,1\" x,1,1,1\n", i)
		}
	}
	if all, problems := readAll(t, text.String(), Options{Format: CSV}); len(all) != count || len(problems) != count/1000 {
		t.Errorf("%d places, %d problems", len(all), len(problems))
	}
}

func TestAnUnreadableFileIsReportedWithItsLine(t *testing.T) {
	long := strings.Repeat("x", MaxRecordBytes)
	for _, file := range []struct {
		format        Format
		text, problem string
	}{
		{CSV, "", "line 1: the file is empty"},
		{CSV, "\n\n", "line 3: the file is empty"},
		{CSV, "\xff\xfek\x00e\x00y\x00", "line 1: the heading is wrong: this is not text in UTF-8"},
		{CSV, "PK\x03\x04\xff", "line 1: the heading is wrong: this is not text in UTF-8"},
		{CSV, "key,latitude,lng,\"na\"me\n", "line 1: the heading is wrong: a quote"},
		{CSV, "\nid,name,latitude,lng\n", `line 2: the heading is wrong: there is no column category, lat; unknown or repeated: "id", "latitude"; the columns are key, name`},
		{CSV, "name,lat,lng,category,note\n", `the heading is wrong: unknown or repeated: "note"; the columns`},
		{CSV, "name,lat,lng,category,lat \n", `the heading is wrong: unknown or repeated: "lat"; the columns`},
		{CSV, "name,lat,lng,category\n\n" + long + "x", "line 3: the record that begins here is longer than 1 MiB"},
		{CSV, "name,lat,lng,category\n\n\"" + long + "x", "line 3: the record that begins here is longer than 1 MiB"},
		{NDJSON, good + "\n" + long + "xx", "line 2: the record that begins here is longer than 1 MiB"},
		{NDJSON, "\x1e" + good + "\n\x1e" + long + "xx", "line 2: the record that begins here is longer than 1 MiB"},
		{GeoJSON, collection(good, like("good", long)), "line 3: the record that begins here is longer than 1 MiB"},
		{GeoJSON, `{"` + long + `":1}`, "line 1: the record that begins here is longer"},
		{GeoJSON, "", "line 1: the file ends before"},
		{GeoJSON, "\n<gpx>", "line 2: '<' is outside a FeatureCollection"},
		{GeoJSON, "[" + good + "]", "line 1: '[' is outside a FeatureCollection"},
		{GeoJSON, collection(good) + "{", "line 4: '{' is outside a FeatureCollection"},
		{GeoJSON, "{\n\"type\":\"Topology\"}", "line 2: the type is \"Topology\" and not FeatureCollection"},
		{GeoJSON, "{\n\"type\" \"FeatureCollection\"}", "line 2: this is not valid JSON"},
		{GeoJSON, "{\"type\":\"FeatureCollection\"}", "line 1: the file ends before"},
		{GeoJSON, collection(good, good)[:200], "line 3: the file ends before"},
		{GeoJSON, strings.TrimSuffix(collection(good), "}\n"), "line 2: the file ends before"},
	} {
		_, problems := readAll(t, file.text, Options{Format: file.format})
		var last *Error
		if len(problems) == 0 || !errors.As(problems[len(problems)-1], &last) || !last.IsFatal || !strings.Contains(last.Error(), file.problem) {
			t.Errorf("%s %.80q: %.300v, want %s", file.format, file.text, problems, file.problem)
		}
	}
}

// endless returns the same byte forever and counts the bytes read.
type endless struct {
	beginning string
	b         byte
	taken     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.beginning)
	e.beginning = e.beginning[n:]
	for i := n; i < len(p); i++ {
		p[i] = e.b
	}
	e.taken += len(p)
	return len(p), nil
}

func TestAnEndlessRecordIsRefusedAfterOneMebibyte(t *testing.T) {
	for _, file := range []struct {
		format    Format
		beginning string
		b         byte
	}{
		{NDJSON, "", 'x'}, {NDJSON, "\x1e", '\n'}, {GeoJSON, `{"features":[{"a":"`, 'x'}, {GeoJSON, `{"`, '\\'}, {GeoJSON, `{"a":`, '['},
		{CSV, "name,lat,lng\n", 'x'}, {CSV, "name,lat,lng\n", ','}, {CSV, "name,lat,lng\n\"", '"'}, {CSV, "", 'x'},
	} {
		source := &endless{beginning: file.beginning, b: file.b}
		var all []error
		for _, err := range Read(source, Options{Format: file.format, Category: 1}) {
			all = append(all, err)
		}
		var problem *Error
		if len(all) != 1 || !errors.As(all[0], &problem) || !problem.IsFatal {
			t.Errorf("%+v: %v", file, all)
		}
		if source.taken > 3*MaxRecordBytes {
			t.Errorf("%+v: %d bytes were read", file, source.taken)
		}
	}
}

func TestAReadErrorIsNotReportedAsATruncatedFile(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, format := range formats {
		text := written(t, format, []*poiv1.ImportedPoi{bridge, tower})
		for cut := range len(text) {
			var last error
			for _, err := range Read(io.MultiReader(strings.NewReader(text[:cut]), iotest.ErrReader(broken)), Options{Format: format}) {
				last = err
			}
			if !errors.Is(last, broken) {
				t.Fatalf("%s, broken after %q: %v", format, text[:cut], last)
			}
		}
	}
}

func TestTheFormatIsDerivedFromTheName(t *testing.T) {
	for name, want := range map[string]Format{
		"a/b.geojson": GeoJSON, "cities.JSON": GeoJSON, "x.ndjson": NDJSON, "x.geojsons": NDJSON, "x.csv": CSV, "x.tsv": CSV, "x.txt": "", "csv": "", "-": "",
	} {
		if format, err := FormatOf(name); format != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", name, format, err)
		}
	}
}
