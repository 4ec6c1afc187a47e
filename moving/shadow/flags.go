// Package shadow compares the edge with an old server while clients use one of the two. With
// -shadow, the edge answers, and each read is also asked of the old server. With -primary, the old
// server answers, and each read is also asked of the edge. Only reads are asked twice, and nobody
// waits for the second reply.
package shadow

import (
	"errors"
	"flag"
	"fmt"

	"github.com/waybook/waybook/edge/peer"
)

// Flags are the settings of the comparison with an old server. Every program that serves the
// interface has them.
type Flags struct {
	// Shadow is the old server that gets reads, too. Primary is the old server that answers. At
	// most one is set.
	Shadow, Primary peer.Address
	// ReadOnly, unless empty, is the failure of whatever might change something on Primary.
	ReadOnly string
	// Sample is the share of the requests that are compared, above 0 and up to 1. Rate bounds
	// them per second; 0 is no limit.
	Sample, Rate float64
}

// maxSentence is the most bytes of a sentence.
const maxSentence = 1000

// Register declares the flags, with their defaults.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.Var(&f.Shadow, "shadow", "`address` of an old server that gets each read, too; its replies are compared and counted, and clients never see them (docs/moving-in.md)")
	flags.Var(&f.Primary, "primary", "`address` of an old server that answers every request, writes and other paths included; reads are also made here and compared")
	flags.StringVar(&f.ReadOnly, "primary-read-only", "", "`sentence` that clients get in reply to writes and logins; -primary then gets known reads only, for the time of a switch")
	flags.Float64Var(&f.Sample, "shadow-sample", 1, "share of the requests that -shadow or -primary compares, up to 1")
	flags.Float64Var(&f.Rate, "shadow-rate", 20, "limit of the requests per second that -shadow or -primary compares; 0 for none")
}

// IsOn reports whether replies are compared.
func (f *Flags) IsOn() bool { return !f.Shadow.IsZero() || !f.Primary.IsZero() }

// IsPrimary reports whether an old server answers the clients.
func (f *Flags) IsPrimary() bool { return !f.Primary.IsZero() }

// Old returns the address of the old server.
func (f *Flags) Old() peer.Address {
	if f.IsPrimary() {
		return f.Primary
	}
	return f.Shadow
}

// Check reports the faults of the settings.
func (f *Flags) Check() error {
	var faults []error
	if !f.Shadow.IsZero() && !f.Primary.IsZero() {
		faults = append(faults, errors.New("-shadow and -primary exclude each other: either Waybook or the old server answers"))
	}
	switch {
	case f.ReadOnly == "":
	case !f.IsPrimary():
		faults = append(faults, errors.New("-primary-read-only needs -primary, the server that gets no writes"))
	case len(f.ReadOnly) > maxSentence:
		faults = append(faults, fmt.Errorf("-primary-read-only has %d bytes; want at most %d", len(f.ReadOnly), maxSentence))
	}
	if !(0 < f.Sample && f.Sample <= 1) {
		faults = append(faults, fmt.Errorf("-shadow-sample is %v; want a share above 0, up to 1", f.Sample))
	}
	if !(f.Rate >= 0) {
		faults = append(faults, fmt.Errorf("-shadow-rate is %v; want 0 or more", f.Rate))
	}
	return errors.Join(faults...)
}
