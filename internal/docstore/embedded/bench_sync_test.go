package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// BenchmarkRawSync is the baseline for Insert: it writes the same bytes to a file on the
// same disk and syncs each write separately.
func BenchmarkRawSync(b *testing.B) {
	document, err := bson.Marshal(benchBallot(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("By%d", writers), func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "log"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := file.Close(); err != nil {
					b.Error(err)
				}
			}()
			var end atomic.Int64
			manyWriters(b, writers, func() error {
				if _, err := file.WriteAt(document, end.Add(int64(len(document)))-int64(len(document))); err != nil {
					return err
				}
				return file.Sync()
			})
		})
	}
}
