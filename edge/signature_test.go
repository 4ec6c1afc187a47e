package edge

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

var (
	hmacSig   = strings.Repeat("0123456789abcdef", 4)
	legacySig = strings.Repeat("0123456789abcdef", 2)
	// readForm and writeForm are requests without a signature. signedBy adds one, up to its
	// digits.
	readForm  = "func=getAlbum&albumID=12"
	writeForm = "func=updateAlbum&albumID=12&delete=true"
	signedBy  = "&key=my-app.1_&ts=1700000000&sig="
)

// judging is an account service that returns one result for every signature, and an album
// service.
func judging(judgement error) *fakes {
	return &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		switch request.(type) {
		case *accountv1.VerifySignatureRequest:
			return &accountv1.VerifySignatureResponse{}, judgement
		case *albumv1.GetAlbumRequest:
			return &albumv1.GetAlbumResponse{Album: &albumv1.Album{Location: place, UpdateTime: noon}}, nil
		}
		return &albumv1.DeleteAlbumResponse{}, nil
	}}
}

// watched returns an edge and the signature outcomes that it reports.
func watched(t *testing.T, f *fakes, mode Signatures) (h http.Handler, outcomes *[]string) {
	outcomes = new([]string)
	return newEdge(t, f, func(c *Config) {
		c.Signatures = mode
		c.Observe = func(_ *http.Request, a Answer) { *outcomes = append(*outcomes, a.Signature) }
	}), outcomes
}

func TestASignatureStandsForNoSession(t *testing.T) {
	f := judging(nil)
	h, outcomes := watched(t, f, SignaturesRequired)
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(writeForm+signedBy+hmacSig))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := record(h, r); w.Header().Get("X-Waybook-Reason") != "LOGIN_REQUIRED" {
		t.Errorf("a signed write without a session: %s", w.Body)
	}
	if called := f.called(); len(called) != 1 || !slices.Equal(*outcomes, []string{"hmac"}) {
		t.Errorf("outcomes %q, calls %v; want the one that verifies the signature", *outcomes, called)
	}
}

func TestASignatureCoversTheParametersThatCount(t *testing.T) {
	f := judging(nil)
	h, outcomes := watched(t, f, SignaturesRequired)
	r := httptest.NewRequest(http.MethodPost, Path+"?albumID=1&ts=1700000000&a=b", strings.NewReader(readForm+"&key=k&sig="+legacySig))
	record(h, r)
	verified := f.called()[0].(*accountv1.VerifySignatureRequest)
	if want := "a=balbumID=12func=getAlbumkey=kts=1700000000"; string(verified.GetLegacy().GetText()) != want {
		t.Errorf("got %q, want %q", verified.GetLegacy().GetText(), want)
	}
	if !slices.Equal(*outcomes, []string{"legacy"}) {
		t.Errorf("reported %q", *outcomes)
	}
}

// The legacy form relies on this; see requestsig.BindsOperation.
func TestNoFuncBeginsWithAnotherAndNoParameterEndsLikeThoseOfASignature(t *testing.T) {
	funcs := map[string]bool{}
	for _, each := range Operations() {
		funcs[each.Func] = true
		for _, p := range each.Parameters {
			for _, ending := range []string{"func", "key", "ts"} {
				if strings.HasSuffix(p.Name, ending) {
					t.Errorf("%s has the parameter %s", each.Func, p.Name)
				}
			}
		}
	}
	for one := range funcs {
		for other := range funcs {
			if one != other && strings.HasPrefix(one, other) {
				t.Errorf("%s begins with %s", one, other)
			}
		}
	}
}

func TestAMissingOrMalformedSignatureFailsWithoutACall(t *testing.T) {
	f := judging(nil)
	h, outcomes := watched(t, f, SignaturesRequired)
	reasons := []string{}
	for _, test := range []struct{ parameters, info string }{
		{"", "SIGNATURE REQUIRED"},
		{"&key=a&ts=1", "SIGNATURE REQUIRED"},
		{"&sig=" + hmacSig, "MISSING PARAMETER: key; MISSING PARAMETER: ts"},
		{"&sig=&key=&ts=", "INVALID PARAMETER: key (1 to 64 letters, digits and . _ -); INVALID PARAMETER: ts (seconds since 1970); INVALID PARAMETER: sig (64 lowercase hexadecimal digits)"},
		{"&key=a&ts=1&sig=" + strings.ToUpper(hmacSig), "INVALID PARAMETER: sig (64 lowercase hexadecimal digits)"},
		{"&key=a&ts=1&sig=" + hmacSig[1:], "INVALID PARAMETER: sig (64 lowercase hexadecimal digits)"},
		{"&key=a&ts=1&sig=" + hmacSig + "&sig=" + hmacSig, "INVALID PARAMETER: sig (send it once)"},
		{"&key=a&key=b&ts=1&ts=1&sig=" + hmacSig, "INVALID PARAMETER: key (send it once); INVALID PARAMETER: ts (send it once)"},
		{"&key=" + strings.Repeat("a", 65) + "&ts=1&sig=" + hmacSig, "INVALID PARAMETER: key (1 to 64 letters, digits and . _ -)"},
		{"&key=a&ts=-1&sig=" + hmacSig, "INVALID PARAMETER: ts (seconds since 1970)"},
		{"&key=a&ts=%2B1&sig=" + hmacSig, "INVALID PARAMETER: ts (seconds since 1970)"},
		{"&key=a&ts=1.0&sig=" + hmacSig, "INVALID PARAMETER: ts (seconds since 1970)"},
		{"&key=a&ts=9007199254740992&sig=" + hmacSig, "INVALID PARAMETER: ts (seconds since 1970)"},
	} {
		w := post(h, writeForm+test.parameters)
		if w.Code != http.StatusOK || w.Body.String() != failed(test.info) {
			t.Errorf("%s: %d %s", test.parameters, w.Code, w.Body)
		}
		reasons = append(reasons, w.Header().Get("X-Waybook-Reason"))
	}
	if called := f.called(); len(called) > 0 {
		t.Errorf("called %v", called)
	}
	if !slices.Equal(reasons, *outcomes) {
		t.Errorf("reasons %q, reported as %q", reasons, *outcomes)
	}
}

func TestEveryOperationNeedsASignatureWhereSignaturesAreRequired(t *testing.T) {
	h, _ := watched(t, judging(nil), SignaturesRequired)
	for _, each := range Operations() {
		if w := post(h, "func="+each.Func); w.Header().Get("X-Waybook-Reason") != "SIGNATURE_REQUIRED" {
			t.Errorf("%s: %s", each.Func, w.Body)
		}
	}
}

func TestAnInvalidSignatureIsReportedAndRejectedOnlyWhereSignaturesAreRequired(t *testing.T) {
	for _, test := range []struct {
		judgement error
		reason    string
		code      int
	}{
		{refusedFor(codes.Unauthenticated, "SIGNATURE_INVALID"), "SIGNATURE_INVALID", http.StatusOK},
		{refusedFor(codes.Unauthenticated, "SIGNATURE_EXPIRED"), "SIGNATURE_EXPIRED", http.StatusOK},
		{refusedFor(codes.Unauthenticated, "SIGNATURE_REPLAYED"), "SIGNATURE_REPLAYED", http.StatusOK},
		{status.Error(codes.Unavailable, "away"), "SERVICE_UNAVAILABLE", http.StatusServiceUnavailable},
		{status.Error(codes.PermissionDenied, "no"), "INTERNAL_ERROR", http.StatusOK},
	} {
		f := judging(test.judgement)
		h, outcomes := watched(t, f, SignaturesRequired)
		w := post(h, writeForm+signedBy+hmacSig)
		if w.Code != test.code || w.Body.String() != failed(strings.ReplaceAll(test.reason, "_", " ")) || len(f.called()) != 1 {
			t.Errorf("required: %d %s", w.Code, w.Body)
		}
		observed, seen := watched(t, f, SignaturesObserved)
		if w := post(observed, writeForm+signedBy+hmacSig); !strings.Contains(w.Body.String(), "SUCCESS") {
			t.Errorf("observed: %s", w.Body)
		}
		if want := []string{test.reason}; !slices.Equal(*outcomes, want) || !slices.Equal(*seen, want) {
			t.Errorf("reported %q and %q, want %q", *outcomes, *seen, want)
		}
	}
}

func TestObservingServesRequestsWithoutAValidSignature(t *testing.T) {
	h, outcomes := watched(t, judging(nil), SignaturesObserved)
	for _, form := range []string{readForm, readForm + "&sig=x&sig=y", readForm + signedBy + hmacSig} {
		if w := post(h, form); !strings.Contains(w.Body.String(), "SUCCESS") {
			t.Errorf("%s: %s", form, w.Body)
		}
	}
	if diff := cmp.Diff([]string{"SIGNATURE_REQUIRED", "MISSING_PARAMETER", "hmac"}, *outcomes); diff != "" {
		t.Error(diff)
	}
}

// For any key, ts and sig, the account service gets a request that fits its contract, or no
// request.
func FuzzASignatureIsReadAsTheContractHasIt(f *testing.F) {
	f.Add("key=a&ts=1&sig=" + hmacSig)
	f.Add("key=a&ts=1&sig=" + legacySig)
	f.Add("key=%61&ts=00&sig=" + legacySig + "&sig")
	f.Add("key=台&ts=+1&sig=" + hmacSig[1:] + "g")
	services := judging(nil)
	h := newEdge(f, services, func(c *Config) { c.Signatures = SignaturesRequired })
	f.Fuzz(func(t *testing.T, parameters string) {
		w := post(h, writeForm+"&"+parameters)
		reason, called := w.Header().Get("X-Waybook-Reason"), services.called()
		if w.Code != http.StatusOK || reason == "INTERNAL_ERROR" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		sent, err := url.ParseQuery(parameters)
		if len(called) == 0 || err != nil {
			return
		}
		verified := called[0].(*accountv1.VerifySignatureRequest)
		digits := verified.GetHmac().GetSignature() + verified.GetLegacy().GetSignature()
		if !slices.Equal(sent["key"], []string{verified.GetKey()}) || !slices.Equal(sent["sig"], []string{digits}) || len(sent["ts"]) != 1 {
			t.Fatalf("%q was read as %v", parameters, verified)
		}
	})
}
