package movefile_test

import (
	"testing"
	"time"

	"github.com/waybook/waybook/moving/movefile"
)

// BenchmarkDecode reads the records that an old service has most of.
func BenchmarkDecode(b *testing.B) {
	decoder := movefile.NewDecoder(movefile.Options{Zone: time.UTC})
	for name, line := range map[string]string{
		"comment": `{"kind":"comment","id":3000004,"album_id":367884,"author_id":38218,"text":"晚餐吃了蚵仔煎和珍珠奶茶,𠮷野家","create_time":"2014-04-29T21:23:36Z","reply":"哈哈","reply_time":"2014-04-30T21:23:36Z"}`,
		"photo":   `{"kind":"photo","id":7,"album_id":454583,"url":"upload/0/0.jpg"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, faults := decoder.Decode([]byte(line)); len(faults) > 0 {
					b.Fatal(faults)
				}
			}
		})
	}
}
