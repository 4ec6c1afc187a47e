package contract

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const require = "-signatures=require"

// logout returns a form that changes something and requires no login, so its signature can be used
// only once. read returns a form that changes nothing.
func logout(nonce string) url.Values { return url.Values{"func": {"logout"}, "nonce": {nonce}} }
func read() url.Values               { return url.Values{"func": {"getCategoryPOIList"}, "category": {"1"}} }

func TestASignatureIsUsedOnceOverTwoEdges(t *testing.T) {
	first := startStandalone(t, require)
	second := startEdge(t, first, require)
	a := createApplication(t, first, &accountv1.CreateApplicationRequest{Name: "x"})
	now := time.Now().Unix()

	form := a.sign("POST", logout("1"), now).Encode()
	expect(t, first, "POST", form, "")
	expect(t, second, "POST", form, "SIGNATURE_REPLAYED")
	expect(t, first, "POST", form, "SIGNATURE_REPLAYED")
	expect(t, second, "POST", a.sign("POST", logout("2"), now).Encode(), "")

	var group sync.WaitGroup
	reasons := make([]string, 12)
	form = a.sign("POST", logout("3"), now).Encode()
	for i := range reasons {
		edge := first
		if i%2 == 1 {
			edge = second
		}
		group.Go(func() { reasons[i] = send(t, edge, "POST", form) })
	}
	group.Wait()
	if n := strings.Count(strings.Join(reasons, " "), "SIGNATURE_REPLAYED"); n != len(reasons)-1 {
		t.Errorf("concurrently: %q", reasons)
	}

	form = a.sign("GET", read(), now).Encode()
	expect(t, first, "GET", form, "")
	expect(t, second, "GET", form, "")
	expect(t, second, "HEAD", form, "SIGNATURE_INVALID")
	expect(t, second, "POST", form, "SIGNATURE_INVALID")
}

func TestAChangedRequestIsRefused(t *testing.T) {
	p := startStandalone(t, require)
	a := createApplication(t, p, &accountv1.CreateApplicationRequest{Name: "x"})
	signed := a.sign("GET", read(), time.Now().Unix()).Encode()
	expect(t, p, "GET", signed, "")
	for _, changed := range []string{
		strings.Replace(signed, "category=1", "category=2", 1),
		strings.Replace(signed, "category=1", "Category=1&category=1", 1),
		signed + "&category=2", signed + "&x", signed + "&=",
		strings.Replace(signed, "ts=1", "ts=01", 1),
	} {
		expect(t, p, "GET", changed, "SIGNATURE_INVALID")
	}
	// The encoding does not matter, nor do ignored parts.
	for _, same := range []string{strings.Replace(signed, "category", "%63ategory", 1), "category=2&" + signed, "&&" + signed} {
		expect(t, p, "GET", same, "")
	}
}

func TestTheFlagSetsTheWindow(t *testing.T) {
	narrow := startStandalone(t, require)
	wide := startStandalone(t, require, "-signature-window", "1h")
	a := createApplication(t, narrow, &accountv1.CreateApplicationRequest{Name: "x"})
	b := createApplication(t, wide, &accountv1.CreateApplicationRequest{Name: "x"})
	for _, step := range []time.Duration{-time.Hour / 2, time.Hour / 2} {
		at := time.Now().Add(step).Unix()
		expect(t, narrow, "GET", a.sign("GET", read(), at).Encode(), "SIGNATURE_EXPIRED")
		expect(t, wide, "GET", b.sign("GET", read(), at).Encode(), "")
	}
}

func TestTheVectorsOfTheSpecificationAreRightAtTheEdge(t *testing.T) {
	p := startStandalone(t, require)
	known := map[string]bool{}
	for _, v := range vectors(t) {
		var form []string
		key := ""
		for _, pair := range v.Parameters {
			if pair[0] == "key" {
				key = pair[1]
			}
			if pair[0] != "sig" {
				form = append(form, url.QueryEscape(pair[0])+"="+url.QueryEscape(pair[1]))
			}
		}
		if !known[key] {
			known[key] = true
			createApplication(t, p, &accountv1.CreateApplicationRequest{Name: "x", Key: key, Secret: v.Secret, AllowLegacy: true})
		}
		for _, sig := range []string{v.Signature, v.LegacySignature} {
			sent := strings.Join(append(form, "sig="+sig), "&")
			if sig == v.LegacySignature && v.LegacyIsRefused {
				expect(t, p, v.Method, sent, "SIGNATURE_INVALID")
				continue
			}
			// Only a right signature is called expired.
			expect(t, p, v.Method, sent, "SIGNATURE_EXPIRED")
			wrong := strings.Join(append(form, "sig="+strings.Repeat("0", len(sig))), "&")
			expect(t, p, v.Method, wrong, "SIGNATURE_INVALID")
		}
	}
}

func TestObserveModeCountsRequestsThatRequireModeRefuses(t *testing.T) {
	p := startStandalone(t, "-signatures=observe", "-access-log")
	a := createApplication(t, p, &accountv1.CreateApplicationRequest{Name: "x"})
	once := a.sign("POST", logout("1"), time.Now().Unix()).Encode()
	for _, form := range []string{once, once, "func=logout", "func=logout&sig=x", strings.Replace(once, "sig=", "sig=0", 1)} {
		expect(t, p, http.MethodPost, form, "")
	}
	counted := launch.Metrics(t, p.Admin)
	p.End(syscall.SIGTERM) // completes the log
	logged := p.Logged()
	for outcome, count := range map[string]string{"hmac": "1", "SIGNATURE_REPLAYED": "1", "SIGNATURE_REQUIRED": "1", "MISSING_PARAMETER": "1", "INVALID_PARAMETER": "1"} {
		if line := `waybook_edge_signatures_total{outcome="` + outcome + `"} ` + count + "\n"; !strings.Contains(counted, line) {
			t.Errorf("not counted: %s", line)
		}
		if !strings.Contains(logged, "signature="+outcome) && !strings.Contains(logged, `"signature":"`+outcome+`"`) {
			t.Errorf("%s is not in\n%s", outcome, logged)
		}
	}
}

func TestSignaturesAreNotReportedUnlessEnabled(t *testing.T) {
	p := startStandalone(t, "-access-log")
	expect(t, p, "GET", read().Encode()+"&key=a&ts=b&sig=c&sig=d", "")
	counted := launch.Metrics(t, p.Admin)
	p.End(syscall.SIGTERM)
	if strings.Contains(counted, "waybook_edge_signatures_total{") || strings.Contains(p.Logged(), "signature") {
		t.Errorf("signatures are reported:\n%s", p.Logged())
	}
}

func TestTheGreetingSuggestsNoCommandThatWouldFail(t *testing.T) {
	// The environment variable sets the flag, and demo content exists.
	p := launch.Begin(t, filepath.Join(binaries, "standalone"), []string{"WAYBOOK_SIGNATURES=require"}, launch.FreePorts(t.TempDir())...).Ready()
	if len(p.Curl) > 0 || !strings.Contains(p.Out(), "waybookctl application create") {
		t.Errorf("the greeting is\n%s", p.Out())
	}
}
