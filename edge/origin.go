package edge

import (
	"net/http"
	"strings"
)

// TrustedOrigins are the origins of other sites whose pages may write with the cookie of
// whoever looks at them. As a flag they are written like https://waybook.example, with
// commas between them.
type TrustedOrigins []string

// String is the flag's value.
func (t TrustedOrigins) String() string { return strings.Join(t, ",") }

// Set reads the flag's value, which replaces what was there.
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

// protection refuses what pages of other sites send. Browsers tell where a request comes
// from (Sec-Fetch-Site, or Origin), and only browsers can be abused so: they add cookies
// to requests that others make. Whoever tells neither is no browser of this decade.
func (t TrustedOrigins) protection() *http.CrossOriginProtection {
	made := http.NewCrossOriginProtection()
	for _, origin := range t {
		// Set has checked it; an origin that is none is not trusted.
		_ = made.AddTrustedOrigin(origin)
	}
	return made
}

// refuseOtherSites keeps pages of other sites from writing in their visitors' names, and
// from logging them in as somebody else, or out.
func (x *exchange) refuseOtherSites() error {
	if err := x.handler.sites.Check(x.request); err != nil {
		return refuse("CROSS_SITE_REQUEST", http.StatusForbidden)
	}
	return nil
}
