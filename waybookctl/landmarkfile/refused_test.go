package landmarkfile

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// collection returns a GeoJSON document with some features.
func collection(features ...string) string {
	return "{\"type\":\"FeatureCollection\",\"features\":[\n" + strings.Join(features, ",\n") + "\n]}\n"
}

const good = `{"type":"Feature","id":"g","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"good","category":1}}`

// like returns the good feature with one part replaced.
func like(part, other string) string { return strings.Replace(good, part, other, 1) }

func TestAnInvalidRecordIsReportedWithItsLineAndTheOthersAreRead(t *testing.T) {
	line := func(text string) string { return good + "\n" + text + "\n" + like(`"g"`, `"h"`) + "\n" }
	table := func(text string) string {
		return "key,name,lat,lng,category\ng,good,2,1,1\n" + text + "\nh,good,2,1,1\n"
	}
	for name, file := range map[string]struct {
		format        Format
		text, problem string
	}{
		"not JSON":              {NDJSON, line(`{"id":`), "line 2: this line is not valid JSON"},
		"a number":              {NDJSON, line(`17`), "line 2: this is not an object"},
		"null":                  {NDJSON, line(`null`), "line 2: this is not an object"},
		"no geometry":           {NDJSON, line(like(`{"type":"Point","coordinates":[1,2]}`, "null")), "line 2: the geometry is missing"},
		"a polygon":             {GeoJSON, collection(good, like("Point", "Polygon"), like(`"g"`, `"h"`)), `line 3: the geometry is a "Polygon"; only a Point`},
		"a real polygon":        {NDJSON, line(like(`"Point","coordinates":[1,2]`, `"Polygon","coordinates":[[[1,2]]]`)), `is a "Polygon"`},
		"one coordinate":        {NDJSON, line(like("[1,2]", "[1]")), "longitude first"},
		"coordinates as texts":  {NDJSON, line(like("[1,2]", `["1","2"]`)), "is not a decimal number"},
		"swapped":               {NDJSON, line(like("[1,2]", "[25,121.5]")), "swapped? In GeoJSON the longitude comes first"},
		"swapped in a table":    {CSV, table("x,x,121.5,25,1"), "line 3: the latitude 121.5 is not from -90 to 90; are latitude and longitude swapped?"},
		"metres":                {CSV, table("x,x,2780000,13530000,1"), "convert it to WGS 84"},
		"longitude":             {CSV, table("x,x,1,180.0001,1"), "the longitude 180.0001 is not from -180 to 180"},
		"not a number":          {CSV, table("x,x,NaN,1,1"), `the latitude "NaN" is not a decimal number`},
		"infinite":              {CSV, table("x,x,1,-Inf,1"), `the longitude "-Inf" is not a decimal number`},
		"too large a number":    {CSV, table("x,x,1e999,1,1"), `the latitude "1e999" is not a decimal number`},
		"hexadecimal":           {CSV, table("x,x,0x10p0,1,1"), "is not a decimal number"},
		"a decimal comma":       {CSV, table(`x,x,"25,03",1,1`), "use a point, not a comma"},
		"no latitude":           {CSV, table("x,x,,1,1"), `the latitude is missing: add a field "lat"`},
		"an object as latitude": {JSON, "[" + good + ",\n\n{\"name\":\"x\",\"lat\":{},\"lng\":true,\"category\":1},{\"key\":\"h\",\"name\":\"y\",\"lat\":1,\"lng\":1,\"category\":1}]", `line 3: "lat": this is neither a text nor a number; "lng"`},
		"no name":               {NDJSON, line(like(`"name":"good"`, `"name":null`)), `the name is missing: add a field "name"`},
		"a long name":           {NDJSON, line(like("good", strings.Repeat("長", 201))), "has 201 characters; at most 200"},
		"a long key":            {NDJSON, line(like(`"g"`, `"`+strings.Repeat("長", 34)+`"`)), "has 102 bytes; at most 100"},
		"a control character":   {NDJSON, line(like("good", `go\u0007od`)), `line 2: the name "go\aod" has a control character`},
		"a blank name":          {CSV, table("x,\u3000 ,1,1,1"), `line 3: the name "\u3000 " has no visible character`},
		"a key with an escape":  {NDJSON, line(like(`"g"`, `"\u001b"`)), `line 2: the key "\x1b" has a control character`},
		"no category":           {NDJSON, line(like(`,"category":1`, "")), `the category is missing: add a field "category", or choose`},
		"an unknown category":   {NDJSON, line(like(`:1}`, `:"bar"}`)), `"bar" is not a category; choose one of 1 (溫柔鄉, tender), 2`},
		"category 6":            {CSV, table("x,x,1,1,6"), `"6" is not a category`},
		"category 1.5":          {CSV, table("x,x,1,1,1.5"), `"1.5" is not a category`},
		"several things":        {CSV, table(",,91,1,"), `line 3: the name is missing: add a field "name", or name the field that holds it; the category is missing`},
		"Big5":                  {CSV, table("x,\xa4\xa4\xa4\xe5,1,1,1"), "line 3: this is not valid UTF-8; convert the file"},
		"Big5 in JSON":          {NDJSON, line(like("good", "\xa4\xa4")), "line 2: this is not valid UTF-8"},
		"half a character":      {NDJSON, line(like("good", `\\\ud83d\u0041`)), `line 2: "name": an escape such as`},
		"its second half":       {NDJSON, line(like("good", `\ude00`)), `line 2: "name": an escape such as`},
		"too few columns":       {CSV, table("x,x,1"), "line 3: the header has 5 columns, this line 3"},
		"too many columns":      {CSV, table("x,a,b,1,1,1"), "line 3: the header has 5 columns, this line 6"},
		"far in a long line":    {JSON, "[" + good + "," + strings.Repeat(" ", 300) + "7," + like(`"g"`, `"h"`) + "]", "line 1, byte 420: this is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			all, problems := readAll(t, file.text, Options{Format: file.format})
			if len(problems) != 1 || !strings.Contains(problems[0].Error(), file.problem) {
				t.Errorf("problems %v", problems)
			}
			var record *RecordError
			if len(all) != 2 || !errors.As(problems[0], &record) {
				t.Errorf("%d places, %T", len(all), problems[0])
			}
		})
	}
}

func TestANamedFieldMustBeInEveryRecord(t *testing.T) {
	options := Options{Format: NDJSON, Fields: Fields{Key: "osm", Name: "title", Lat: "y", Lng: "x", Category: "kind"}}
	_, problems := readAll(t, `{"id":"1","key":"1","name":"x","lat":1,"lng":1,"category":1}`, options)
	if len(problems) != 1 {
		t.Fatal(problems)
	}
	for _, field := range []string{"osm", "title", "y", "x", "kind"} {
		if !strings.Contains(problems[0].Error(), `"`+field+`"`) {
			t.Errorf("%s is not named in %v", field, problems[0])
		}
	}
	options.Format = CSV
	if _, problems = readAll(t, "osm,title,x,y\n", options); len(problems) != 1 || !strings.Contains(problems[0].Error(), `there is no column "kind"`) {
		t.Error(problems)
	}
}

func TestAnUnreadableFileIsReportedWithItsLine(t *testing.T) {
	long := strings.Repeat("x", MaxRecordBytes)
	for name, file := range map[string]struct {
		format        Format
		text, problem string
	}{
		"UTF-16 of Windows":    {CSV, "\xff\xfek\x00e\x00", "line 1: the file is UTF-16; convert it to UTF-8"},
		"UTF-16 of others":     {GeoJSON, "\xfe\xff\x00{", "line 1: the file is UTF-16"},
		"gzip":                 {GeoJSON, "\x1f\x8b\x08\x00", "line 1: the file is compressed; unpack it first"},
		"a spreadsheet":        {CSV, "PK\x03\x04", "line 1: the file is an archive or a spreadsheet"},
		"empty":                {GeoJSON, "", "line 1: the file is empty"},
		"only a mark":          {JSON, "\ufeff \n", "line 2: the file is empty"},
		"empty table":          {CSV, "\n\n", "the file is empty; its first line should name the columns"},
		"XML":                  {GeoJSON, "<gpx>", "line 1: '<' begins neither"},
		"lines as a document":  {JSON, "{\"a\":1}\n{\"a\":2}\n", "the format is ndjson"},
		"features as a list":   {GeoJSON, good + "\n" + good, `line 1: the document's type is "Feature"`},
		"two documents":        {JSON, "[]\n[]", "line 2: something follows the end of the list"},
		"topology":             {GeoJSON, `{"type":"Topology"}`, `the document's type is "Topology"`},
		"no features":          {GeoJSON, `{"type":"FeatureCollection"}`, `the document has no "features"`},
		"features no list":     {GeoJSON, `{"features":{}}`, `'{' where '[' should be`},
		"features twice":       {GeoJSON, `{"features":[],"features":[]}`, "second list of features"},
		"no comma":             {JSON, "[" + good + "\n" + good + "]", "line 2: this is not valid JSON: expected comma"},
		"a comma too many":     {JSON, "[" + good + ",\n]", "line 2: this is not valid JSON"},
		"two commas":           {JSON, "[" + good + ",\n,{}]", "line 2: this is not valid JSON"},
		"wrong bracket":        {JSON, "[" + good + ",\n{]}]", "line 2: this is not valid JSON"},
		"no colon":             {JSON, "[" + good + ",\n{\"a\"\n1}]", "line 2: this is not valid JSON"},
		"member without value": {GeoJSON, "{\"a\":}", "line 1: this is not valid JSON: invalid character '}'"},
		"member without name":  {GeoJSON, "{a:1}", "line 1: this is not valid JSON: invalid character 'a'"},
		"cut off in a record":  {GeoJSON, collection(good, good)[:200], "line 3: the file ends within the record that begins here; it may have been cut off"},
		"cut off in a text":    {JSON, "[\n\n\"abc", "line 3: the file ends within the record"},
		"cut off between":      {JSON, "[" + good + "\n\n", "line 3: the file ends here without the end of its list; it may have been cut off"},
		"cut off at the end":   {GeoJSON, "{\"features\":[" + good + "]\n", "line 2: the file ends here without"},
		"cut off at the start": {GeoJSON, "{", "line 1: the file ends here without"},
		"cut off in a number":  {JSON, "[1", "the file ends here without"},
		"a long record":        {GeoJSON, collection(good, like("good", long)), "line 3: the record that begins here is longer than 1 MiB"},
		"a long line":          {NDJSON, good + "\n" + long + "x", "line 2: the record that begins here is longer than 1 MiB"},
		"a long row":           {CSV, "key,name\n\n" + long + "x", "line 3: the record that begins here is longer than 1 MiB"},
		"a row of commas":      {CSV, "key,name\n\n" + strings.Repeat(",", MaxRecordBytes+2), "line 3: the record that begins here is longer than 1 MiB"},
		"a long header":        {CSV, long + "x", "line 1: the record that begins here is longer"},
		"a long quote":         {CSV, "key,name\nx,\"" + long, "line 2: the record that begins here is longer"},
		"a long member":        {GeoJSON, `{"` + long + `":1}`, "line 1: the record that begins here is longer"},
		"deep":                 {GeoJSON, collection(like("good", "") + "," + strings.Repeat("[", 10_001)), "line 2: this is not valid JSON: invalid character '[' exceeded max depth"},
		"an open quote":        {CSV, "key,name\nx,\n\"y\n\n,", "line 3: the quote that opens here is never closed"},
		"a quote within":       {CSV, "key,name\nx,12\" gun\n", "line 2: there is a quote within a field"},
		"behind a quote":       {CSV, "key,name\nx,\"12\" gun\n", "line 2: something follows the quote that closes the field"},
		"a return in the line": {CSV, "key,name\n\"x\"\r,y\n", "something follows the quote"},
		"a column twice":       {CSV, "name,lat, name\n", `two columns are called "name"`},
		"a header in Big5":     {CSV, "\xa4\xa4,lat\n", "line 1: this is not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := readAll(t, file.text, Options{Format: file.format})
			if len(problems) == 0 || !strings.Contains(problems[len(problems)-1].Error(), file.problem) {
				t.Fatalf("problems %.300v", problems)
			}
			var broken *FileError
			if !errors.As(problems[len(problems)-1], &broken) {
				t.Errorf("it is a %T", problems[len(problems)-1])
			}
		})
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
	for name, file := range map[string]struct {
		format Format
		source *endless
	}{
		"line":          {NDJSON, &endless{b: 'x'}},
		"record":        {GeoJSON, &endless{beginning: `{"features":[{"a":"`, b: 'x'}},
		"number":        {JSON, &endless{beginning: `[`, b: '1'}},
		"name":          {GeoJSON, &endless{beginning: `{"`, b: '\\'}},
		"brackets":      {JSON, &endless{b: '['}},
		"field":         {CSV, &endless{beginning: "a,b\n", b: 'x'}},
		"fields":        {CSV, &endless{beginning: "a,b\n", b: ','}},
		"quoted field":  {CSV, &endless{beginning: "a,b\n\"", b: '\n'}},
		"escaped quote": {CSV, &endless{beginning: "a,b\n\"", b: '"'}},
		"header":        {CSV, &endless{b: 'x'}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []error
			for _, err := range Read(file.source, Options{Format: file.format}) {
				all = append(all, err)
			}
			var broken *FileError
			if len(all) != 1 || !errors.As(all[0], &broken) {
				t.Errorf("%v", all)
			}
			if most := MaxRecordBytes + 2*readAhead; file.source.taken > most {
				t.Errorf("%d bytes were read", file.source.taken)
			}
		})
	}
}

func TestAReadErrorIsNotReportedAsATruncatedFile(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, format := range Formats() {
		text := written(t, format, WithoutIDs, []Place{bridge, tower})
		for cut := range len(text) {
			var last error
			for _, err := range Read(io.MultiReader(strings.NewReader(text[:cut]), failing{broken}), Options{Format: format}) {
				last = err
			}
			if !errors.Is(last, broken) {
				t.Fatalf("%s, broken after %q: %v", format, text[:cut], last)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
