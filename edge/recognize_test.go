package edge

import (
	"errors"
	"testing"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
)

func TestARequestIsRecognizedAsTheEdgeTakesIt(t *testing.T) {
	r := NewRecognizer(form.UTF8)
	for _, test := range []struct {
		query, contentType, body string
		want                     Asked
	}{
		{"func=getAlbum&albumID=1", "", "", Asked{"getAlbum", operation.Reads, false, "func=getAlbum&albumID=1", "", ""}},
		{"%66unc=getBlog&&x=a;b&blogID=%31", "", "", Asked{"getBlog", operation.Reads, false, "func=getBlog&x=a%3Bb&blogID=1", "", ""}},
		{"POIID=1", "application/x-www-form-urlencoded; charset=UTF-8", "func=getPOI\r\n", Asked{"getPOI", operation.Reads, false, "POIID=1", "func=getPOI", "application/x-www-form-urlencoded; charset=UTF-8"}},
		{"", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=func\r\n\r\ngetPOI\r\n--b--", Asked{"getPOI", operation.Reads, false, "", "func=getPOI", formType}},
		{"func=getAlbum&withIDs=true&albumID=1", "", "", Asked{"getAlbum", operation.Reads, true, "func=getAlbum&withIDs=true&albumID=1", "", ""}},
		{"func=getUserBlogList&userID=1", "", "", Asked{"getUserBlogList", operation.Reads, true, "func=getUserBlogList&userID=1", "", ""}},
		{"func=updateAlbum&delete=true", "", "albumID=1", Asked{"updateAlbum", operation.Writes, false, "func=updateAlbum&delete=true", "albumID=1", formType}},
		{"func=login", "", "", Asked{"login", operation.Writes, true, "func=login", "", ""}},
	} {
		if got, err := r.Recognize(test.query, test.contentType, test.body); err != nil || got != test.want {
			t.Errorf("%q %q: %+v, %v; want %+v", test.query, test.body, got, err, test.want)
		}
	}
}

// Of these requests, another server could read a func that writes.
func TestARequestThatAnotherServerCouldTakeForAWriteIsAmbiguous(t *testing.T) {
	r := NewRecognizer(form.UTF8)
	for _, query := range []string{
		"func=updateAlbum&func=getAlbum", "Func=updateAlbum&func=getAlbum", "func=getAlbum&FUNC=updateAlbum", "+func=updateAlbum&func=getAlbum",
		"func%00x=updateAlbum&func=getAlbum", "func[]=updateAlbum&func=getAlbum", "f.unc=1&func=getAlbum", "=updateAlbum&func=getAlbum",
	} {
		if got, err := r.Recognize(query, "", ""); !errors.Is(err, ErrAmbiguous) {
			t.Errorf("%q: %+v, %v", query, got, err)
		}
	}
	if got, err := r.Recognize("func=updateAlbum", "", "func=getAlbum"); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("in query and body: %+v, %v", got, err)
	}
}

func TestOtherRequestsAreNotRecognized(t *testing.T) {
	r := NewRecognizer(form.UTF8)
	for _, test := range []struct {
		query, contentType, body string
		want                     error
	}{
		{"", "", "", ErrNoOperation},
		{"func=getalbum", "", "", ErrNoOperation},
		{"albumID=1", "text/xml", "<func>getAlbum</func>", ErrNoOperation},
		{"func=getAlbum&albumID=1&responseFormat=json", "", "", ErrNoXML},
	} {
		if got, err := r.Recognize(test.query, test.contentType, test.body); !errors.Is(err, test.want) {
			t.Errorf("%+v: %+v, %v", test, got, err)
		}
	}
}
