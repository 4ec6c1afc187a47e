package format

import (
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/rules"
)

// Whatever a line has: what is read without a fault is valid and reads back the same, and what is repaired is so once it is
// complete, and has no more faults.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{album, comment, user, entry, `{"kind":"end","user":3}`, "{\"kind\":\"user\",\"name\":\"\xb3\\\"}"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, repair := range []bool{false, true} {
			decoder := Decoder{Zone: time.UTC, Repair: repair}
			got := decoder.Decode(line)
			isGood := true
			for _, fault := range got.Faults {
				isGood = isGood && fault.Repair != ""
				if fault.Class == "" || fault.Text == "" || !utf8.ValidString(fault.Value) || !utf8.ValidString(fault.Field) {
					t.Fatalf("%+v", fault)
				}
			}
			if len(got.Faults) > maxFaults || got.Kind == "" && isGood {
				t.Fatalf("%q: %v", line, got.Faults)
			}
			if got.Record == nil || !isGood {
				continue
			}
			decoder.Complete(got.Record, time.Unix(0, 0))
			content, _ := contentOf(got.Record)
			if violations := rules.Violations(content.Interface()); len(violations) > 0 {
				t.Fatalf("%v, which is %v", violations, got.Record)
			}
			again := Decoder{Zone: time.UTC}.Decode(Encode(nil, got.Record))
			if len(again.Faults) > 0 || !proto.Equal(again.Record, got.Record) {
				t.Fatalf("%v became %v: %v", got.Record, again.Record, again.Faults)
			}
		}
	})
}

// BenchmarkDecode reads the records that an old service has most of.
func BenchmarkDecode(b *testing.B) {
	for name, line := range map[string]string{
		"comment": `{"kind":"comment","id":3000004,"album_id":367884,"author_id":38218,"text":"晚餐吃了蚵仔煎和珍珠奶茶,𠮷野家","create_time":"2014-04-29 21:23:36","reply":"哈哈","reply_time":"2014-04-30T21:23:36Z"}`,
		"photo":   `{"kind":"photo","id":7,"album_id":454583,"url":"upload/0/0.jpg"}`,
		"album":   album,
	} {
		for _, repair := range []string{"", " with repairs"} {
			decoder := Decoder{Zone: time.FixedZone("", 8*3600), Repair: repair != ""}
			b.Run(name+repair, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got := decoder.Decode([]byte(line)); len(got.Faults) > 0 {
						b.Fatal(got.Faults)
					}
				}
			})
		}
	}
}
