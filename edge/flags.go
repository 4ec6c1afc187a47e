package edge

import (
	"flag"

	"github.com/waybook/waybook/edge/operation"
)

// Flags are the settings of the interface itself, which every program that serves
// it has.
type Flags struct {
	// HasLogin says that the interface has func=login and func=logout.
	HasLogin       bool
	TrustedProxies TrustedProxies
	Signatures     Signatures
	TrustedOrigins TrustedOrigins
	// MaxRequests and MaxLongReplies are how many there may be at a time, ClientRate
	// and UserRate how many in a second; 0 is any number.
	MaxRequests, MaxLongReplies int
	ClientRate, UserRate        float64
}

// Register declares the flags, with their defaults.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.BoolVar(&f.HasLogin, "login", true, "serve func=login and func=logout; false where another system opens the sessions")
	flags.Var(&f.TrustedProxies, "trusted-proxies",
		"`networks` (CIDRs, commas between them) of proxies that are believed who a client is (X-Forwarded-For, X-Forwarded-Proto)")
	flags.Var(&f.Signatures, "signatures",
		"what becomes of requests' signatures (key, ts, sig): off (the default), `observe` (only counted and logged) or require (docs/signatures.md)")
	flags.Var(&f.TrustedOrigins, "trusted-origins",
		"`origins` of other sites (https://host, commas between them) whose pages may write with their visitors' cookies")
	flags.IntVar(&f.MaxRequests, "max-requests", 512, "how many requests are answered at a time, 0 for any number; as many wait for half a second, others are refused (503)")
	flags.IntVar(&f.MaxLongReplies, "max-long-replies", 256, "how many replies over 64 KiB are sent at a time, 0 for any number; others are refused (503)")
	flags.Float64Var(&f.ClientRate, "client-rate", 0, "how many requests per second an address may send, those of ten seconds at once; 0 for any number; needs -trusted-proxies behind a proxy")
	flags.Float64Var(&f.UserRate, "user-rate", 0, "how many writes per second a user may send, those of ten seconds at once; 0 for any number")
}

// Config returns what the flags say, for the program to complete.
func (f *Flags) Config() Config {
	sessions := operation.OpenedElsewhere
	if f.HasLogin {
		sessions = operation.OpenedHere
	}
	return Config{
		Sessions: sessions, TrustedProxies: f.TrustedProxies, Signatures: f.Signatures, TrustedOrigins: f.TrustedOrigins,
		Load: newLoad(f.MaxRequests, f.MaxLongReplies, f.ClientRate, f.UserRate),
	}
}
