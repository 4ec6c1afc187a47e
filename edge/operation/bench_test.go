package operation

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	"github.com/waybook/waybook/internal/clients"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const benchmarkForm = "key=4a5b&ts=1230000000&sig=0123456789abcdef&responseFormat=XML&func=getAlbum&albumID=1234567890123"

var benchmarkAlbum = &albumv1.GetAlbumResponse{Album: &albumv1.Album{
	AlbumId: 1234567890123, Title: "台北 101 與象山", Category: 14, Score: 42,
	Location: &typev1.Location{Lat: 25.0339639, Lng: 121.5644722},
	Owner:    &typev1.Profile{Name: "小明", IconUrl: "/icons/7.png"}, UpdateTime: benchmarkTime,
}}

var benchmarkTime = timestamppb.New(time.Date(2009, 2, 3, 12, 0, 0, 0, time.UTC))

// kept is a Sink that keeps the document.
type kept struct{}

func (kept) ItemDone() error  { return nil }
func (kept) BatchDone() error { return nil }
func (kept) Wait()            {}
func (kept) Resume()          {}

// newExchange returns an exchange that writes XML to the document.
func newExchange() (*Exchange, *reply.Document) {
	document := &reply.Document{Zone: time.UTC}
	x := &Exchange{Out: reply.Reply{Writer: reply.XML{Document: document}, Sink: kept{}}}
	x.In.Form, x.In.Caller = &form.Form{}, nobody{}
	return x, document
}

// newTable returns the table with clients that must not be called.
func newTable() []Function { return Table(newConfig()) }

func newConfig() *Config {
	return &Config{Clients: clients.Of(nil, nil, nil, nil)}
}

var (
	benchmarkConfig = newConfig()
	writeBenchmark  = writeAlbum(AsWritten)
)

func renderAlbum(b *testing.B, x *Exchange, document *reply.Document, album *albumv1.GetAlbumResponse) {
	reply.StartSuccess(x.Out.Writer)
	if err := writeBenchmark(b.Context(), benchmarkConfig, &x.Out, album); err != nil {
		b.Fatal(err)
	}
	x.Out.Finish()
	document.Bytes = document.Bytes[:0]
}

func BenchmarkXMLRender(b *testing.B) {
	x, document := newExchange()
	b.ReportAllocs()
	for b.Loop() {
		renderAlbum(b, x, document, benchmarkAlbum)
	}
}

// An album with ten photos and ten comments.
func BenchmarkXMLRenderWithChildren(b *testing.B) {
	const text = "從捷運站出口右轉，沿著河邊的小路走十分鐘就到了；傍晚的光線最美，記得帶傘。"
	full := &albumv1.GetAlbumResponse{Album: benchmarkAlbum.GetAlbum()}
	for n := range int64(10) {
		full.Photos = append(full.Photos, &photov1.Photo{PhotoId: n, Url: "upload/photo/7_t.jpg", Description: text})
		full.Comments = append(full.Comments, &commentv1.Comment{
			CommentId: n, Author: benchmarkAlbum.GetAlbum().GetOwner(), CreateTime: benchmarkTime, Text: text,
		})
	}
	x, document := newExchange()
	b.ReportAllocs()
	for b.Loop() {
		renderAlbum(b, x, document, full)
	}
}

func BenchmarkFindOperation(b *testing.B) {
	table := newTable()
	x, _ := newExchange()
	x.In.Form.ParseBody("func=updateBlog&delete=true", form.UTF8)
	b.ReportAllocs()
	for b.Loop() {
		found, err := Find(table, x.In.Form)
		if err != nil {
			b.Fatal(err)
		}
		if found.Choose(&x.In).Variant != Deleting {
			b.Fatal("found another operation")
		}
		x.In.Reset()
	}
}

// The benchmark measures the edge's own work for an album without children: no HTTP, no call.
func BenchmarkFormToXML(b *testing.B) {
	table := newTable()
	x, document := newExchange()
	b.ReportAllocs()
	for b.Loop() {
		x.In.Form.ParseBody(benchmarkForm, form.UTF8)
		found, err := Find(table, x.In.Form)
		if err != nil || found.Name != "getAlbum" {
			b.Fatal(err)
		}
		request := found.Choose(&x.In).build(&x.In)
		if err := x.In.complaint(request); err != nil {
			b.Fatal(err)
		}
		renderAlbum(b, x, document, benchmarkAlbum)
		x.In.Reset()
		x.In.Form.Reset()
	}
}
