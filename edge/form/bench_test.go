package form

import "testing"

func BenchmarkFormParse(b *testing.B) {
	const sent = "key=4a5b&ts=1230000000&sig=0123456789abcdef&responseFormat=XML&func=getAlbum&albumID=1234567890123"
	var f Form
	b.ReportAllocs()
	for b.Loop() {
		f.ParseBody(sent, UTF8)
		f.Reset()
	}
}
