package edge

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/platform/settings"
)

// TrustedOrigins are the origins of other sites whose pages may write with the cookies of their
// visitors, and read replies. The flag is a comma-separated list such as https://waybook.example.
// The value null stands for pages without an origin: local files, and frames that any site can
// sandbox.
type TrustedOrigins []string

// nullOrigin is how browsers write that a page has no origin.
const nullOrigin = "null"

// String returns the flag's value.
func (t TrustedOrigins) String() string { return strings.Join(t, ",") }

// Set parses the flag's value and replaces the earlier one.
func (t *TrustedOrigins) Set(value string) error {
	var origins TrustedOrigins
	for _, part := range settings.List(value) {
		if part != nullOrigin {
			written := part
			part = canonicalOrigin(part)
			var check http.CrossOriginProtection
			if err := cmp.Or(check.AddTrustedOrigin(written), check.AddTrustedOrigin(part)); err != nil {
				return err
			}
		}
		origins = append(origins, part)
	}
	*t = origins
	return nil
}

// canonicalOrigin returns an origin as browsers write it: in lower case, without the default port
// of its scheme.
func canonicalOrigin(origin string) string {
	origin = strings.ToLower(origin)
	if strings.HasPrefix(origin, "http:") {
		return strings.TrimSuffix(origin, ":80")
	}
	if strings.HasPrefix(origin, "https:") {
		return strings.TrimSuffix(origin, ":443")
	}
	return origin
}

// sites rejects writes from pages of other sites. Only browsers can be abused this way, because
// they add cookies to requests that a page makes. Browsers name the source of a request in
// Sec-Fetch-Site or Origin. A request with neither comes from no browser of this decade and
// passes.
type sites struct {
	protection *http.CrossOriginProtection
	// trustsNull accepts pages without an origin.
	trustsNull bool
	// origins are the trusted origins, null included.
	origins []string
}

func (t TrustedOrigins) sites() sites {
	made := sites{protection: http.NewCrossOriginProtection(), origins: t}
	for _, origin := range t {
		if origin == nullOrigin {
			made.trustsNull = true
			continue
		}
		// Set has checked each origin. An invalid one is not trusted.
		_ = made.protection.AddTrustedOrigin(origin)
	}
	return made
}

// refuseOthers rejects a write from a page of another site. Such a page could write as its
// visitor, log the visitor in as another user, or log the visitor out.
func (s sites) refuseOthers(r *http.Request) error {
	if s.trustsNull && r.Header.Get("Origin") == nullOrigin {
		return nil
	}
	if err := s.protection.Check(r); err != nil && !isOwnPage(r) {
		return refuse("CROSS_SITE_REQUEST", http.StatusForbidden)
	}
	return nil
}

// isOwnPage reports whether Origin names the host of the request, where Sec-Fetch-Site does not
// decide. Proxies write a default port into Host. It may be that of the other scheme, as one of
// them may end TLS.
func isOwnPage(r *http.Request) bool {
	origin, err := url.Parse(canonicalOrigin(r.Header.Get("Origin")))
	host := strings.ToLower(r.Host)
	return err == nil && origin.Host != "" && r.Header.Get("Sec-Fetch-Site") == "" &&
		(origin.Host == host || origin.Host == strings.TrimSuffix(host, ":80") ||
			origin.Host == strings.TrimSuffix(host, ":443"))
}

// The headers of CORS for a trusted origin (rule 1.30). All replies share the values, so code must
// not change them in place.
var (
	variesByOrigin = []string{"Accept-Encoding, Origin"}
	isTrue         = []string{"true"}
	exposedHeaders = []string{"X-Waybook-Reason, X-Request-Id, Retry-After"}
	allowedMethods = []string{"GET, HEAD, POST"}
	// A page sends a form without asking first. It asks before it sends other headers: scripts of
	// common libraries add X-Requested-With.
	allowedHeaders = []string{"Content-Type, X-Requested-With"}
	// preflightAge is how long a browser may keep the answer, in seconds.
	preflightAge = []string{"600"}
)

// share lets a page of a trusted origin read the reply, with the cookies of its visitor. Without
// trusted origins it does nothing.
func (s sites) share(header http.Header, r *http.Request) {
	if len(s.origins) == 0 {
		return
	}
	header["Vary"] = variesByOrigin
	if origin := r.Header.Get("Origin"); slices.Contains(s.origins, origin) {
		header["Access-Control-Allow-Origin"] = []string{origin}
		header["Access-Control-Allow-Credentials"] = isTrue
		header["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

// preflight reports whether a browser asks what a page of a trusted origin may send, and if so
// sets the headers of the answer.
func (s sites) preflight(header http.Header, r *http.Request) bool {
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" ||
		!slices.Contains(s.origins, r.Header.Get("Origin")) {
		return false
	}
	header["Access-Control-Allow-Methods"] = allowedMethods
	header["Access-Control-Allow-Headers"] = allowedHeaders
	header["Access-Control-Max-Age"] = preflightAge
	return true
}
