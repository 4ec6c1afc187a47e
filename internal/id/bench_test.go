package id_test

import (
	"testing"
	"time"

	"github.com/waybook/waybook/internal/id"
)

func BenchmarkNext(b *testing.B) {
	source := id.NewSource(time.Now)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, _ = source.Next(id.AnyPlace(), 0, 0)
		}
	})
}
