package contract

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Two requests have the same legacy text when the end of one's value is the next parameter of
// the other.
func TestALegacySignatureOfAReadSignsNoWrite(t *testing.T) {
	p := startStandalone(t, require)
	connection := launch.Dial(t, p.GRPC)
	a := createApplication(t, p, &accountv1.CreateApplicationRequest{Name: "x", AllowLegacy: true})
	owner := launch.CreateUser(t, connection, "a")
	albums := launch.CreateAlbumsOf(t, connection, owner, "a", 2)
	opened, err := accountv1.NewAccountServiceClient(connection).OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: owner})
	if err != nil {
		t.Fatal(err)
	}
	cookie := "id=" + strconv.FormatInt(owner, 10) + "; idrand=" + opened.GetToken()
	first, second := strconv.FormatInt(albums[0], 10), strconv.FormatInt(albums[1], 10)

	// An application signs a read of the album that a link names. Whoever finds its address in a
	// log sends the same text as other parameters.
	read := a.signLegacy(url.Values{"func": {"getAlbum"}, "albumID": {first + "delete=truefunc=updateAlbumg"}})
	deletion := url.Values{"func": {"updateAlbum"}, "albumID": {first}, "delete": {"true"}, "gfunc": {"getAlbum"}}
	update := a.signLegacy(url.Values{"func": {"updateAlbum"}, "albumID": {first}, "albumTitle": {"xdelete=true"}})
	other := url.Values{"func": {"updateAlbum"}, "albumID": {first}, "albumTitle": {"x"}, "delete": {"true"}}
	for _, test := range []struct{ signed, split url.Values }{{read, deletion}, {update, other}} {
		for _, name := range []string{"key", "ts", "sig"} {
			test.split.Set(name, test.signed.Get(name))
		}
		if reason := sendAs(t, p, cookie, "POST", test.split.Encode()); reason != "SIGNATURE_INVALID" {
			t.Errorf("%v: %q, with the signature of %v", test.split, reason, test.signed)
		}
	}
	expect(t, p, "GET", a.signLegacy(url.Values{"func": {"getAlbum"}, "albumID": {first}}).Encode(), "")

	// Unchanged clients can still write.
	for _, form := range []url.Values{
		{"func": {"updateAlbum"}, "albumID": {second}, "albumTitle": {"1 + 1 = 2"}},
		{"func": {"updateAlbum"}, "albumID": {second}, "delete": {"true"}},
	} {
		if reason := sendAs(t, p, cookie, "POST", a.signLegacy(form).Encode()); reason != "" {
			t.Errorf("%v: %q", form, reason)
		}
	}
}
