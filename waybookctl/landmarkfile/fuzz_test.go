package landmarkfile

import (
	"errors"
	"strings"
	"testing"
)

// fuzzReader checks for any file that reading ends, that each accepted place is valid, and that the
// places read back the same from every format.
func fuzzReader(f *testing.F, options Options, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		accepted, problems := readAll(t, text, options)
		last := Position{}
		for _, place := range accepted {
			if problem := checkKey(place.Key) + checkName(place.Name); problem != "" || place.Key == "" || place.Name == "" {
				t.Errorf("%+v: %s", place, problem)
			}
			if place.Category < 1 || place.Category > 5 || !(place.Lat >= -90 && place.Lat <= 90 && place.Lng >= -180 && place.Lng <= 180) {
				t.Errorf("%+v", place)
			}
			if place.At.Line < last.Line || place.At.Line == last.Line && place.At.Column <= last.Column {
				t.Errorf("%v comes after %v", place.At, last)
			}
			last = place.At
		}
		for i, problem := range problems {
			var record *RecordError
			var file *FileError
			switch {
			case errors.As(problem, &record):
			case errors.As(problem, &file) && i == len(problems)-1:
			default:
				t.Errorf("%v", problem)
			}
		}
		for _, format := range Formats() {
			again, problems := readAll(t, written(t, format, WithoutIDs, accepted), Options{Format: format})
			if len(problems) > 0 {
				t.Errorf("%s: %v", format, problems)
			}
			expectPlaces(t, again, accepted...)
		}
		checked, err := Check(t.Context(), Read(strings.NewReader(text), options), 1)
		if err != nil || checked.Places+checked.Duplicates > int64(len(accepted)) {
			t.Errorf("%+v, %v", checked, err)
		}
	})
}

func FuzzDocument(f *testing.F) {
	fuzzReader(f, Options{Format: GeoJSON, Category: 2},
		collection(good, like(`"g"`, "17"), like("good", `\ud83d\ude00\u0000`), like("Point", "LineString")),
		`[{"name":"x","lat":"1","lng":"-0"},{"name":"x","lat":1e-400,"lng":-0.0,"category":"私の鄉"}]`,
		`{"features":[{"type":"Feature","properties":[],"geometry":{"type":"Point","coordinates":[0,0,0]}}],"a":{"b":[1,"]"]}}`,
		`[{"lat":null,"lng":true,"name":{},"category":[]},null]`)
}

func FuzzLines(f *testing.F) {
	fuzzReader(f, Options{Format: NDJSON, Category: 2}, good+"\r\n\n{\"name\":\"x\",\"lat\":1,\"lng\":2}\nnull\n[", "\ufeff"+lines)
}

func FuzzTable(f *testing.F) {
	fuzzReader(f, Options{Format: CSV, Category: 2},
		"key,name,lat,lng,category\r\n1,\"a\"\"\r\n,b\",1,2,3\r\n\r\n2,x,3,4,\n\"\"\n", "name;lat;lng\nx;1;2\nx;1;2", "\ufeffname\tlat\tlng\nx\r\t1\t2\r\n\"x\"\r\n")
}
