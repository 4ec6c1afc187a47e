package edge

import (
	"net/http"
	"strings"
)

// TrustedOrigins are the origins of other sites whose pages may write with the cookies of their
// visitors. The flag is a comma-separated list such as https://waybook.example.
type TrustedOrigins []string

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
		if err := new(http.CrossOriginProtection).AddTrustedOrigin(part); err != nil {
			return err
		}
		origins = append(origins, part)
	}
	*t = origins
	return nil
}

// protection rejects requests from pages of other sites. Only browsers can be abused this way,
// because they add cookies to requests that a page makes. Browsers name the source of a request
// in Sec-Fetch-Site or Origin. A request with neither comes from no browser of this decade and
// passes.
func (t TrustedOrigins) protection() *http.CrossOriginProtection {
	made := http.NewCrossOriginProtection()
	for _, origin := range t {
		// Set has checked each origin. An invalid one is not trusted.
		_ = made.AddTrustedOrigin(origin)
	}
	return made
}

// refuseOtherSites rejects a write from a page of another site. Such a page could write as its
// visitor, log the visitor in as somebody else, or log the visitor out.
func refuseOtherSites(sites *http.CrossOriginProtection, r *http.Request) error {
	if err := sites.Check(r); err != nil {
		return refuse("CROSS_SITE_REQUEST", http.StatusForbidden)
	}
	return nil
}
