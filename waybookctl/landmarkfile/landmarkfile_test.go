package landmarkfile

import (
	"errors"
	"strings"
	"testing"
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
		var record *RecordError
		isOver = !errors.As(err, &record)
		problems = append(problems, err)
	}
	return all, problems
}

// content returns a place without its position in the file.
func content(p Place) Place {
	p.At, p.KeyIsDerived = Position{}, false
	return p
}

func expectPlaces(t testing.TB, got []Place, want ...Place) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%v is missing", want[i])
		case i >= len(want):
			t.Errorf("%v is unexpected", got[i])
		case content(got[i]) != content(want[i]):
			t.Errorf("got %v, want %v", content(got[i]), content(want[i]))
		}
	}
}

var (
	bridge = Place{Key: "1", Name: "碧潭吊橋", Category: 1, Lat: 24.9565, Lng: 121.5359}
	tower  = Place{Key: "k2", Name: "101 \"大樓\", 信義\r\n路", Category: 5, Lat: -25.034, Lng: 1e-7}
)

func TestEachFormatIsReadInAllItsVariants(t *testing.T) {
	for name, file := range map[string]struct {
		options Options
		text    string
	}{
		"GeoJSON": {Options{Format: GeoJSON}, `{"type":"FeatureCollection","name":"x","crs":{"a":["}"]},"features":[
			{"type":"Feature","id":1,"geometry":{"type":"Point","coordinates":[121.5359,24.9565,12]},"properties":{"name":"碧潭吊橋","category":1}},
			{"type":"Feature","properties":{"id":"k2","name":"101 \"大樓\", 信義\r\n路","category":"尖叫鄉"},"geometry":{"type":"Point","coordinates":[1e-7,-25.034]}}
			],"bbox":[1,2,3,4]}`},
		"GeoJSON, type last": {Options{Format: JSON}, `{"features":[
			{"geometry":{"coordinates":[121.5359,24.9565],"type":"Point"},"type":"Feature","properties":{"key":1,"id":null,"name":"\u78a7潭吊橋","category":"Tender"}},
			{"type":"Feature","id":"k2","geometry":{"type":"Point","coordinates":[1e-7,-25.034]},"properties":{"name":"101 \"大樓\", 信義\r\n路","category":5.0}}],
			"type":"FeatureCollection"}`},
		"an array": {Options{Format: JSON}, " \ufeff"[1:] + ` [ {"id":"1","name":"碧潭吊橋","category":1,"lat":"24.9565","lng":" 121.5359 "} , {"type":"x",
			"key":"k2","name":"101 \"大樓\", 信義\r\n路","category":"5","latitude":-25.034,"lon":1e-7,"more":{"a":[[]]}} ] `},
		"lines": {Options{Format: NDJSON}, "\ufeff\r\n" +
			`{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1}}` + "\r\n\n" +
			`{"key":"k2","name":"101 \"大樓\", 信義\r\n路","category":5,"latitude":-25.034,"longitude":1e-7}`},
		"named fields": {Options{Format: NDJSON, Fields: Fields{Key: "osm", Name: "title", Lat: "y", Lng: "x", Category: "kind"}}, "" +
			`{"osm":1,"title":"碧潭吊橋","kind":1,"y":24.9565,"x":121.5359,"name":7,"id":9}` + "\n" +
			`{"osm":"k2","title":"101 \"大樓\", 信義\r\n路","kind":5,"y":-25.034,"x":1e-7}` + "\n"},
		"CSV": {Options{Format: CSV}, "\ufeffid,name,lat,lng,category,note\r\n" +
			"1,碧潭吊橋,24.9565,121.5359,1,\r\n\r\n" + "k2,\"101 \"\"大樓\"\", 信義\r\n路\",-25.034,0.0000001,thrill,\"\"\r\n"},
		"CSV with semicolons": {Options{Format: CSV}, " name ;lat;lng;category;key\n碧潭吊橋;24.9565;121.5359;1;1\n\"101 \"\"大樓\"\", 信義\r\n路\";-25.034;1e-7;5;k2"},
		"CSV with tabs": {Options{Format: CSV, Delimiter: '\t', Fields: Fields{Name: "名稱"}}, "" +
			"名稱\tlat,x\tlat\tlng\tcategory\tkey\n碧潭吊橋\t\t24.9565\t121.5359\t1\t1\n\"101 \"\"大樓\"\", 信義\r\n路\"\t\t-25.034\t1e-7\t5\tk2"},
	} {
		t.Run(name, func(t *testing.T) {
			all, problems := readAll(t, file.text, file.options)
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			expectPlaces(t, all, bridge, tower)
		})
	}
}

func TestPlacesReadBackTheSame(t *testing.T) {
	awkward := []Place{
		bridge, tower,
		{Key: " ,;\t\"\r\n", Name: "\r\n.", Category: 2, Lat: 90, Lng: -180},
		{Key: "\u2028<&>\\", Name: `\"\u00e9`, Category: 3, Lat: 5e-324, Lng: 179.99999999999997},
		{Key: "=1+1", Name: " x ", Category: 4, Lat: 0.1, Lng: 100.0 / 3},
	}
	for _, format := range Formats() {
		for count := range len(awkward) + 1 {
			text := written(t, format, WithoutIDs, awkward[:count])
			all, problems := readAll(t, text, Options{Format: format})
			if len(problems) > 0 {
				t.Errorf("%s: %v\n%s", format, problems, text)
			}
			expectPlaces(t, all, awkward[:count]...)
		}
	}
}

// written returns places as a file.
func written(t testing.TB, format Format, ids IDs, all []Place) string {
	t.Helper()
	var text strings.Builder
	writer := NewWriter(&text, format, ids)
	for _, place := range all {
		if err := writer.Write(place); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestAnExportHasALineForEachPlace(t *testing.T) {
	for format, want := range map[Format]string{
		GeoJSON: `{"type":"FeatureCollection","features":[
{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1}},
{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1}}
]}
`,
		JSON: `[
{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359},
{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359}
]
`,
		NDJSON: `{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359}
{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359}
`,
		CSV: "key,name,category,lat,lng\n1,碧潭吊橋,1,24.9565,121.5359\n1,碧潭吊橋,1,24.9565,121.5359\n",
	} {
		if got := written(t, format, WithoutIDs, []Place{bridge, bridge}); got != want {
			t.Errorf("%s is written as\n%s", format, got)
		}
	}
	for format, want := range map[Format]string{
		GeoJSON: "{\"type\":\"FeatureCollection\",\"features\":[\n]}\n", JSON: "[\n]\n", NDJSON: "", CSV: "key,name,category,lat,lng\n",
	} {
		if got := written(t, format, WithoutIDs, nil); got != want {
			t.Errorf("an empty list in %s is written as %q", format, got)
		}
	}
}

func TestAnExportWithIdentifiersHasThemInEachLineAndIsReadWithoutThem(t *testing.T) {
	owned := bridge
	owned.OwnerID, owned.PoiID = 890341293580625, 1<<53-1
	for format, want := range map[Format]string{
		GeoJSON: `{"type":"FeatureCollection","features":[
{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[121.5359,24.9565]},"properties":{"name":"碧潭吊橋","category":1,"owner_id":890341293580625,"poi_id":9007199254740991}}
]}
`,
		JSON: `[
{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359,"owner_id":890341293580625,"poi_id":9007199254740991}
]
`,
		NDJSON: `{"key":"1","name":"碧潭吊橋","category":1,"lat":24.9565,"lng":121.5359,"owner_id":890341293580625,"poi_id":9007199254740991}
`,
		CSV: "key,name,category,lat,lng,owner_id,poi_id\n1,碧潭吊橋,1,24.9565,121.5359,890341293580625,9007199254740991\n",
	} {
		got := written(t, format, WithIDs, []Place{owned})
		if got != want {
			t.Errorf("%s is written as\n%s", format, got)
		}
		all, problems := readAll(t, got, Options{Format: format})
		if len(problems) > 0 {
			t.Errorf("%s: %v", format, problems)
		}
		expectPlaces(t, all, bridge)
		if got, want := written(t, format, WithoutIDs, []Place{owned}), written(t, format, WithoutIDs, []Place{bridge}); got != want {
			t.Errorf("without identifiers, %s is written as\n%s", format, got)
		}
	}
	if got := written(t, CSV, WithIDs, nil); got != "key,name,category,lat,lng,owner_id,poi_id\n" {
		t.Errorf("an empty table is written as %q", got)
	}
}

func TestTheOwnersOfAFileAreReadIfTheirFieldIsNamed(t *testing.T) {
	options := Options{Format: CSV, Fields: Fields{Owner: "o"}}
	head := "key,name,category,lat,lng,o\n"
	all, problems := readAll(t, head+"1,碧潭吊橋,1,24.9565,121.5359,7\n1,碧潭吊橋,1,24.9565,121.5359,9007199254740991\n", options)
	if len(problems) > 0 || len(all) != 2 || all[0].OwnerID != 7 || all[1].OwnerID != 1<<53-1 {
		t.Errorf("read %v, %v", all, problems)
	}
	for _, owner := range []string{"", "0", "-1", "1.5", "x", "9007199254740992", "99999999999999999999"} {
		_, problems := readAll(t, head+"1,x,1,1,1,"+owner+"\n", options)
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), "owner") {
			t.Errorf("the owner %q: %v", owner, problems)
		}
	}
	if _, problems := readAll(t, "key,name,category,lat,lng\n1,x,1,1,1\n", options); len(problems) != 1 || !strings.Contains(problems[0].Error(), "no column") {
		t.Errorf("without the column: %v", problems)
	}
	// One owner may not use a key twice; two may.
	for text, want := range map[string]int64{"7\n1,y,1,1,1,8\n": 0, "7\n1,y,1,1,1,7\n": 1} {
		places := Read(strings.NewReader(head+"1,x,1,1,1,"+text), options)
		if checked, err := Check(t.Context(), places, 1); err != nil || checked.ProblemCount != want {
			t.Errorf("%q has the problems %v, %v", text, checked.Problems, err)
		}
	}
}

func TestAPlaceWithoutAKeyGetsOneDerivedFromItsContent(t *testing.T) {
	lines := `{"name":"a","lat":1,"lng":2,"country":"x"}
{"lng":"2.0","name":"a","lat":1e0}
{"name":"a","lat":1,"lng":-2}
{"name":"b","lat":1,"lng":2}
{"name":"a","lat":1,"lng":2,"category":3}
`
	all, problems := readAll(t, lines, Options{Format: NDJSON, Category: 4})
	if len(problems) > 0 || len(all) != 5 {
		t.Fatal(all, problems)
	}
	// Repeated imports, also by later versions, depend on exactly this key.
	if want := "content-f91177155815c78d4d30fea287269b6c"; all[0].Key != want {
		t.Errorf("the key is %s", all[0].Key)
	}
	keys := map[string]bool{}
	for _, place := range all {
		keys[place.Key] = true
		if !place.KeyIsDerived {
			t.Errorf("%v has a key of its own", place)
		}
	}
	if all[0].Key != all[1].Key || len(keys) != 4 {
		t.Errorf("keys %v", keys)
	}
}

func TestTheFormatIsDerivedFromTheName(t *testing.T) {
	for name, want := range map[string]Format{
		"a/b.geojson": GeoJSON, "cities.JSON": JSON, "x.ndjson": NDJSON, "x.jsonl": NDJSON, "x.csv": CSV, "x.tsv": CSV,
		"x.txt": "", "csv": "", "-": "",
	} {
		format, err := FormatOf(name)
		if format != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", name, format, err)
		}
	}
}

func TestAFeaturesKeyIsItsIDUnlessAnotherIsNamed(t *testing.T) {
	feature := strings.Replace(good, `"name"`, `"id":"inner","key":"k","name"`, 1)
	for _, file := range []struct{ text, named, want string }{
		{feature, "", "g"},
		{feature, "id", "g"},
		{feature, "key", "k"},
		{strings.Replace(feature, `"id":"g"`, `"id":null`, 1), "", "inner"},
		{strings.Replace(feature, `"id":"g"`, `"id":-1.50`, 1), "", "-1.50"},
	} {
		all, problems := readAll(t, file.text, Options{Format: NDJSON, Fields: Fields{Key: file.named}})
		if len(problems) > 0 || len(all) != 1 || all[0].Key != file.want {
			t.Errorf("%s, %q: %v, %v", file.text, file.named, all, problems)
		}
	}
}
