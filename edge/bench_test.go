package edge

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const benchmarkForm = "key=4a5b&ts=1230000000&sig=0123456789abcdef&responseFormat=XML&func=getAlbum&albumID=1234567890123"

var benchmarkAlbum = &albumv1.GetAlbumResponse{Album: &albumv1.Album{
	AlbumId: 1234567890123, Title: "台北 101 與象山", Category: 14, Location: place, Score: 42,
	Owner: &typev1.Profile{Name: "小明", IconUrl: "/icons/7.png"}, UpdateTime: noon,
}}

func BenchmarkFormParse(b *testing.B) {
	var f form
	b.ReportAllocs()
	for b.Loop() {
		f.parse(benchmarkForm)
		f.reset()
	}
}

func BenchmarkXMLRender(b *testing.B) {
	x := newExchange(&handler{config: Config{Zone: time.UTC}})
	x.out = xmlReply{&x.response.document}
	write := writeAlbum(nil)
	b.ReportAllocs()
	for b.Loop() {
		renderAlbum(b, x, write, benchmarkAlbum)
	}
}

// An album with ten photos and ten comments.
func BenchmarkXMLRenderWithChildren(b *testing.B) {
	const text = "從捷運站出口右轉，沿著河邊的小路走十分鐘就到了；傍晚的光線最美，記得帶傘。"
	full := &albumv1.GetAlbumResponse{Album: benchmarkAlbum.GetAlbum()}
	for n := range int64(10) {
		full.Photos = append(full.Photos, &albumv1.Photo{PhotoId: n, ThumbnailUrl: "upload/photo/7_t.jpg", Description: text})
		full.Comments = append(full.Comments, &typev1.Comment{
			CommentId: n, Author: benchmarkAlbum.GetAlbum().GetOwner(), CreateTime: noon, Text: text,
		})
	}
	x := newExchange(&handler{config: Config{Zone: time.UTC}})
	x.out = xmlReply{&x.response.document}
	write := writeAlbum(nil)
	b.ReportAllocs()
	for b.Loop() {
		renderAlbum(b, x, write, full)
	}
}

func BenchmarkFindOperation(b *testing.B) {
	x := newExchange(&handler{functions: functions(operations(Config{
		Account: accountv1.NewAccountServiceClient(nil), Album: albumv1.NewAlbumServiceClient(nil),
		Blog: blogv1.NewBlogServiceClient(nil), Poi: poiv1.NewPoiServiceClient(nil),
	}))})
	x.in.form = &x.form
	x.form.parse("func=updateBlog&delete=true")
	b.ReportAllocs()
	for b.Loop() {
		found, err := x.findFunction()
		if err != nil {
			b.Fatal(err)
		}
		if x.variant(found) != found[deleting] {
			b.Fatal("another operation")
		}
		x.in.readings = x.in.readings[:0]
	}
}

// What the edge itself does to an album without children: no HTTP, no call.
func BenchmarkFormToXML(b *testing.B) {
	x := newExchange(&handler{config: Config{Zone: time.UTC}})
	x.in.form = &x.form
	x.out = xmlReply{&x.response.document}
	write := writeAlbum(nil)
	b.ReportAllocs()
	for b.Loop() {
		x.form.parse(benchmarkForm)
		if err := x.chooseFormat(); err != nil {
			b.Fatal(err)
		}
		request := getAlbumRequest(&x.in)
		if err := x.in.complaint(nil, request); err != nil {
			b.Fatal(err)
		}
		renderAlbum(b, x, write, benchmarkAlbum)
		x.in.readings = x.in.readings[:0]
		x.form.reset()
	}
}

func renderAlbum(b *testing.B, x *exchange, write func(*exchange, *albumv1.GetAlbumResponse) error, album *albumv1.GetAlbumResponse) {
	writeSuccess(x.out)
	if err := write(x, album); err != nil {
		b.Fatal(err)
	}
	x.out.finish()
	x.response.abandon()
}

// The whole handler over a connection in memory, the service included.
func BenchmarkGetAlbum(b *testing.B) {
	h := newEdge(b, &fakes{answer: always(benchmarkAlbum, nil)})
	r := httptest.NewRequest(http.MethodGet, Path+"?"+benchmarkForm, nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
