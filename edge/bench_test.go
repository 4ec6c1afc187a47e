package edge

import (
	"net/http"
	"net/http/httptest"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const benchmarkForm = "key=4a5b&ts=1230000000&sig=0123456789abcdef&responseFormat=XML&func=getAlbum&albumID=1234567890123"

var benchmarkAlbum = &albumv1.GetAlbumResponse{Album: &albumv1.Album{
	AlbumId: 1234567890123, Title: "台北 101 與象山", Category: 14, Location: place, Score: 42,
	Owner: &typev1.Profile{Name: "小明", IconUrl: "/icons/7.png"}, UpdateTime: noon,
}}

// BenchmarkGetAlbum measures the whole handler, with the service over a connection in memory.
func BenchmarkGetAlbum(b *testing.B) {
	h := newEdge(b, &fakes{answer: always(benchmarkAlbum, nil)})
	r := httptest.NewRequest(http.MethodGet, Path+"?"+benchmarkForm, nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
