package edge

import (
	"net/http"
	"strings"
)

// TrustedOrigins are the origins of other sites whose pages may write with the cookies of their
// visitors. The flag is a comma-separated list such as https://waybook.example. The value null
// stands for pages without an origin: local files, and frames that any site can sandbox.
type TrustedOrigins []string

// nullOrigin is how browsers write that a page has no origin.
const nullOrigin = "null"

// String returns the flag's value.
func (t TrustedOrigins) String() string { return strings.Join(t, ",") }

// Set parses the flag's value and replaces the earlier one.
func (t *TrustedOrigins) Set(value string) error {
	var origins TrustedOrigins
	for part := range strings.SplitSeq(value, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if part != nullOrigin {
			if err := new(http.CrossOriginProtection).AddTrustedOrigin(part); err != nil {
				return err
			}
		}
		origins = append(origins, part)
	}
	*t = origins
	return nil
}

// sites rejects writes from pages of other sites. Only browsers can be abused this way, because
// they add cookies to requests that a page makes. Browsers name the source of a request in
// Sec-Fetch-Site or Origin. A request with neither comes from no browser of this decade and
// passes.
type sites struct {
	protection *http.CrossOriginProtection
	// trustsNull accepts pages without an origin.
	trustsNull bool
}

func (t TrustedOrigins) sites() sites {
	made := sites{protection: http.NewCrossOriginProtection()}
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
// visitor, log the visitor in as somebody else, or log the visitor out.
func (s sites) refuseOthers(r *http.Request) error {
	if s.trustsNull && r.Header.Get("Origin") == nullOrigin {
		return nil
	}
	if err := s.protection.Check(r); err != nil {
		return refuse("CROSS_SITE_REQUEST", http.StatusForbidden)
	}
	return nil
}
