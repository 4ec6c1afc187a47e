package landmarkfile

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

var lineEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// fuzzReader checks for any file that reading ends, that positions grow, that any line end and a byte order mark make the same
// places, and that the places read back the same from every format.
func fuzzReader(f *testing.F, format Format, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = lineEnd.Replace(strings.TrimPrefix(text, "\ufeff"))
		options := Options{Format: format, Category: 2}
		accepted, problems := readAll(t, text, options)
		var pois []*poiv1.ImportedPoi
		last := Position{}
		for _, place := range accepted {
			if place.At.Line < last.Line || place.At.Record <= last.Record {
				t.Errorf("%v comes after %v", place.At, last)
			}
			last = place.At
			pois = append(pois, place.ImportedPoi)
		}
		for _, problem := range problems {
			if _, isProblem := errors.AsType[*Error](problem); !isProblem {
				t.Errorf("%v", problem)
			}
		}
		for _, end := range []string{"\r\n", "\r"} {
			again, _ := readAll(t, "\ufeff"+strings.ReplaceAll(text, "\n", end), options)
			expectPlaces(t, again, pois...)
		}
		for _, format := range formats { // a table last
			if format == CSV {
				for i, p := range pois {
					pois[i] = landmark(lineEnd.Replace(p.GetKey()), lineEnd.Replace(p.GetName()), int32(p.GetCategory()), p.GetLocation().GetLat(), p.GetLocation().GetLng())
				}
			}
			again, problems := readAll(t, written(t, format, pois), Options{Format: format})
			if len(problems) > 0 {
				t.Errorf("%s: %v", format, problems)
			}
			expectPlaces(t, again, pois...)
		}
		// Every Feature of a collection is read or reported.
		var whole struct {
			Type     string            `json:"type"`
			Features []json.RawMessage `json:"features"`
		}
		if format == GeoJSON && json.Unmarshal([]byte(text), &whole) == nil && whole.Type == "FeatureCollection" && strings.Count(text, "eatures") == 1 {
			if len(accepted)+len(problems) != len(whole.Features) {
				t.Errorf("%d places and %v of %d features", len(accepted), problems, len(whole.Features))
			}
		}
	})
}

func FuzzCollection(f *testing.F) {
	fuzzReader(f, GeoJSON,
		collection(good, like(`"g"`, "17"), like("good", `\ud83d\ude00\u0000`), like("Point", "LineString")),
		`{"features":[{"type":"Feature","properties":[],"geometry":{"type":"Point","coordinates":[0,0,0]}},7],"a":{"b":[1,"]\\\"]"]},`+"\n"+`"type":"FeatureCollection"}`)
}

func FuzzSequence(f *testing.F) {
	fuzzReader(f, NDJSON, good+"\r\n\n{\"name\":\"x\",\"lat\":1,\"lng\":-0.0}\nnull\n[", "\x1e"+good+"\n\x1e{\"name\":\"\\r\\n\",\n\"lat\":\"1\",\"lng\":2}")
}

func FuzzTable(f *testing.F) {
	fuzzReader(f, CSV,
		"key,name,lat,lng,category\r\n1,\"a\"\"\r\n,b\",1,2,3\r\n\r\n2,x,3,4,\n\"\"\n", "name;lat;lng\nx;1;2\nx;1;2\ny\";1;2\n\"z;1;2", "name\tlat\tlng\nx\t1\t2\r\n\"x\"\r\n")
}
