package edge

import (
	"flag"
	"fmt"
	"strings"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/connlimit"
)

// Flags are the settings of the interface. Every program that serves it has them.
type Flags struct {
	// HasAdditions adds the operations that the legacy contract lacks, those of HasLogin included.
	HasAdditions bool
	// HasLogin adds func=login and func=logout to the interface.
	HasLogin       bool
	TrustedProxies TrustedProxies
	CookieSecure   CookieSecure
	TrustedOrigins TrustedOrigins
	PathPrefix     PathPrefix
	// LegacyCharset is the charset of queries, and of bodies that name none.
	LegacyCharset form.Charset
	// Identifiers are those that replies show of what was moved in.
	Identifiers Identifiers
	// MaxRequests and MaxLongReplies are concurrency limits, ClientLongReplies is one per address.
	// ClientRate is a rate limit per address and second, UserWrites one per user and minute,
	// ClientMisses one of reads that find nothing, per address and minute. 0 means no limit.
	MaxRequests, MaxLongReplies, ClientLongReplies int
	ClientRate, UserWrites, ClientMisses           float64
	// MaxPhotoBytes is the most bytes of a photo's file; 0 means that photos can't be uploaded. It
	// is a flag of the program, because services have it, too.
	MaxPhotoBytes int64
	// MaxUploads is a concurrency limit, ClientUploads one per address. 0 means no limit.
	MaxUploads, ClientUploads int
	// MaxConnections and MaxClientConnections limit the connections of the HTTP port.
	MaxConnections, MaxClientConnections int
}

const (
	// defaultClientLongReplies has room for the browsers of a household: a browser opens at most
	// six connections to a host. An attacker needs 16 addresses to fill the default of
	// MaxLongReplies.
	defaultClientLongReplies = 16
	// defaultClientUploads has room for what a browser sends at a time to one host, and a bit
	// more. An attacker needs eight addresses to fill the default of MaxUploads.
	defaultClientUploads = 8
	// defaultUserWrites is far above what a person does. A legacy client that sends a diary of
	// 300 entries after a journey sends them all at once, and more of them at five a second. One
	// user then costs little: a service stores hundreds of writes a second.
	defaultUserWrites = 300
	// defaultClientMisses is far above what a person meets. A follower of old links waits for a
	// second after the first 300 that lead nowhere.
	defaultClientMisses = 60
)

// Register declares the flags, with their defaults.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.BoolVar(&f.HasAdditions, "additions", true,
		"serve the operations that the legacy contract lacks, login and logout included; false leaves "+
			"exactly its eleven")
	flags.BoolVar(&f.HasLogin, "login", true,
		"serve login, logout, register and changePassword; use false if another system opens the sessions")
	flags.Var(&f.TrustedProxies, "trusted-proxies",
		"proxies in front of the edge, whose X-Forwarded-For and X-Forwarded-Proto count: their `number`, if no "+
			"other client can connect, or their exact networks as comma-separated CIDRs")
	flags.Var(&f.CookieSecure, "cookie-secure",
		"`when` the session cookie is Secure: auto (the default; when the request came over TLS) or always")
	flags.Var(&f.TrustedOrigins, "trusted-origins",
		"comma-separated `origins` (https://host) of other sites whose pages may write with the cookies of their "+
			"visitors, and read replies (CORS); null for pages without an origin, which any site can make")
	flags.Var(&f.PathPrefix, "path-prefix",
		"`path` that a proxy leaves before /API.php, such as /waybook; both /API.php and /waybook/API.php "+
			"are then served")
	flags.Var(&f.LegacyCharset, "legacy-charset",
		"`charset` of queries, and of bodies that name none: utf-8 (the default) or big5; text in it is decoded "+
			"exactly or refused")
	flags.Var(&f.Identifiers, "ids",
		"`identifiers` in replies of what was moved in from an old service: new (the default) or old, for clients "+
			"that compare them with those they know; requests may always have both")
	flags.IntVar(&f.MaxRequests, "max-requests", 512,
		"concurrency limit of requests, 0 for none; as many more wait for up to 500 ms, others get 503")
	flags.IntVar(&f.MaxLongReplies, "max-long-replies", 256,
		"concurrency limit of lists over 64 KiB, which other long replies share by their size; 0 for none; "+
			"others get 503")
	flags.IntVar(&f.ClientLongReplies, "client-long-replies", defaultClientLongReplies,
		"concurrency limit per address of replies over 64 KiB, 0 for none; others get 429; behind a proxy it needs "+
			"-trusted-proxies")
	flags.Float64Var(&f.ClientRate, "client-rate", 0,
		"rate limit per address in requests per second, with bursts of ten seconds' worth; 0 for none; behind a "+
			"proxy it needs -trusted-proxies")
	flags.Float64Var(&f.UserWrites, "user-writes", defaultUserWrites,
		"rate limit per user in writes per minute, with bursts of a minute's worth; 0 for none")
	flags.Float64Var(&f.ClientMisses, "client-misses", defaultClientMisses,
		"rate limit per address of reads that find nothing, per minute, with bursts of five minutes' worth; 0 for "+
			"none; behind a proxy it needs -trusted-proxies")
	flags.IntVar(&f.MaxUploads, "max-uploads", 64,
		"concurrency limit of uploads, 0 for none; as many more wait for up to 500 ms, others get 503")
	flags.IntVar(&f.ClientUploads, "client-uploads", defaultClientUploads,
		"concurrency limit per address of uploads, 0 for none; others get 429; behind a proxy it needs "+
			"-trusted-proxies")
	flags.IntVar(&f.MaxConnections, "max-connections", 1536,
		"limit of connections, 0 for none; idle ones give way, others are closed at once")
	flags.IntVar(&f.MaxClientConnections, "max-client-connections", 128,
		"limit of connections per address, 0 for none; it does not apply to -trusted-proxies")
}

// Connections returns the limits of the connections of the HTTP port.
func (f *Flags) Connections() connlimit.Limits {
	return connlimit.Limits{All: f.MaxConnections, PerClient: f.MaxClientConnections,
		IsProxy: f.TrustedProxies.trustPeer}
}

// Config returns a Config with these settings. The program sets the services and the zone.
func (f *Flags) Config() Config {
	additions := operation.AdditionsServed
	if !f.HasAdditions {
		additions = operation.AdditionsWithheld
	}
	sessions := operation.OpenedElsewhere
	if f.HasLogin {
		sessions = operation.OpenedHere
	}
	return Config{
		Additions: additions, Sessions: sessions, TrustedProxies: f.TrustedProxies, CookieSecure: f.CookieSecure,
		TrustedOrigins: f.TrustedOrigins, LegacyCharset: f.LegacyCharset, Identifiers: f.Identifiers,
		PathPrefix: f.PathPrefix, Load: newLoad(f),
		MaxPhotoBytes: f.MaxPhotoBytes,
	}
}

// Identifiers says which identifiers replies show of what was moved in from an old service.
// Requests may always have both.
type Identifiers int

const (
	// NewIdentifiers are those of Waybook.
	NewIdentifiers Identifiers = iota
	// OldIdentifiers are those of the old service.
	OldIdentifiers
)

// String returns the flag's value.
func (i Identifiers) String() string {
	return [...]string{NewIdentifiers: "new", OldIdentifiers: "old"}[i]
}

// Set parses the flag's value.
func (i *Identifiers) Set(value string) error {
	return setWord(i, value, "neither new nor old", NewIdentifiers, OldIdentifiers)
}

// CookieSecure says when the cookie of a session is Secure, so that browsers send it over TLS
// only. It is a flag with one word as its value.
type CookieSecure int

const (
	// SecureOverTLS makes the cookie Secure when the request came over TLS, directly or to a
	// trusted proxy that reports it.
	SecureOverTLS CookieSecure = iota
	// SecureAlways makes it Secure whatever a proxy reports.
	SecureAlways
)

// String returns the flag's value.
func (c CookieSecure) String() string {
	return [...]string{SecureOverTLS: "auto", SecureAlways: "always"}[c]
}

// Set parses the flag's value.
func (c *CookieSecure) Set(value string) error {
	return setWord(c, value, "neither auto nor always", SecureOverTLS, SecureAlways)
}

// setWord sets a flag to the one of its values that a word names. isNot says what another word is.
func setWord[W fmt.Stringer](flag *W, word, isNot string, values ...W) error {
	for _, each := range values {
		if word == each.String() {
			*flag = each
			return nil
		}
	}
	return fmt.Errorf("%q is %s", word, isNot)
}

// PathPrefix is what a proxy leaves before Path, such as /waybook; it may be empty. It is a flag.
type PathPrefix string

// String returns the flag's value.
func (p PathPrefix) String() string { return string(p) }

// Set parses the flag's value. A slash at the end does not count.
func (p *PathPrefix) Set(value string) error {
	prefix := strings.TrimSuffix(value, "/")
	if prefix != "" && (prefix[0] != '/' || strings.Contains(value, "//") || strings.ContainsAny(prefix, "?#% ")) {
		return fmt.Errorf("%q is not a path such as /waybook", value)
	}
	*p = PathPrefix(prefix)
	return nil
}

// Serves reports whether a path is that of the interface (rule 1.29).
func (p PathPrefix) Serves(path string) bool {
	return path == Path || strings.EqualFold(strings.TrimSuffix(p.Trim(withoutRepeats(path)), "/"), Path)
}

// Trim returns a path without the prefix. Without the prefix the path stays as it is.
func (p PathPrefix) Trim(path string) string {
	if rest := strings.TrimPrefix(path, string(p)); strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

// withoutRepeats returns a path with one slash instead of several.
func withoutRepeats(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out = append(out, path[i])
		}
	}
	return string(out)
}
