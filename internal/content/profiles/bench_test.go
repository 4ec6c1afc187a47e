package profiles

import (
	"fmt"
	"log/slog"
	"testing"
)

// BenchmarkShow shows the names of 11 cached users: an album's owner and ten comments'
// authors.
func BenchmarkShow(b *testing.B) {
	a := &accounts{names: map[int64]string{}}
	var ids []int64
	for id := range int64(11) {
		a.names[id] = fmt.Sprint("旅人", id)
		ids = append(ids, id)
	}
	d := NewDirectory(a, slog.New(slog.DiscardHandler))
	for _, count := range []int{1, 2, len(ids)} {
		b.Run(fmt.Sprintf("users=%d", count), func(b *testing.B) {
			asked := make([]int64, len(ids))
			b.ReportAllocs()
			for b.Loop() {
				for i := range asked {
					asked[i] = ids[i%count]
				}
				if shown := d.Show(b.Context(), asked...); len(shown) != count {
					b.Fatal(shown)
				}
			}
		})
	}
}
