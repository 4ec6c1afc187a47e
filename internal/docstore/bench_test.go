package docstore

import (
	"reflect"
	"testing"
	"time"
)

// benchDocument has the fields of an album.
type benchDocument struct {
	ID         int64     `bson:"_id"`
	OwnerID    int64     `bson:"owner_id"`
	RequestKey string    `bson:"request_key"`
	Title      string    `bson:"title"`
	Category   int32     `bson:"category"`
	Lat        float64   `bson:"lat"`
	Lng        float64   `bson:"lng"`
	CreateTime time.Time `bson:"create_time"`
	UpdateTime time.Time `bson:"update_time"`
	Score      int64     `bson:"score"`
}

func newBenchDocument() benchDocument {
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	return benchDocument{
		ID: 890341293580625, OwnerID: 890341281167904, RequestKey: "0d9f6a5e-6ad0-4d4e-9a5a-3f2f6f0f7a11",
		Title: "台北 101 與象山", Category: 14, Lat: 25.034, Lng: 121.5645, CreateTime: now, UpdateTime: now, Score: 42,
	}
}

func BenchmarkEncode(b *testing.B) {
	document := newBenchDocument()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encode(&document, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	document := newBenchDocument()
	raw, err := encode(&document, 1)
	if err != nil {
		b.Fatal(err)
	}
	c := core{spec: Spec{Name: "albums"}}.as(reflect.TypeFor[benchDocument]())
	b.ReportAllocs()
	for b.Loop() {
		var document benchDocument
		if err := c.decode(raw, &document); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndexKey(b *testing.B) {
	document := newBenchDocument()
	raw, err := encode(&document, 1)
	if err != nil {
		b.Fatal(err)
	}
	fields := []Field{{Name: "owner_id", Kind: Int64}, {Name: "request_key", Kind: String}, {Name: "_id", Kind: Int64}}
	var key []byte
	b.ReportAllocs()
	for b.Loop() {
		if key, err = AppendKey(key[:0], fields, raw); err != nil {
			b.Fatal(err)
		}
	}
}
