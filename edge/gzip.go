package edge

import (
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"
)

// zippers is a pool of gzip writers. Each writer takes most of a megabyte.
type zippers struct{ pool sync.Pool }

func (z *zippers) get(to io.Writer) *gzip.Writer {
	if zipper, ok := z.pool.Get().(*gzip.Writer); ok {
		zipper.Reset(to)
		return zipper
	}
	zipper, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package itself
	}
	return zipper
}

func (z *zippers) put(zipper *gzip.Writer) {
	zipper.Reset(io.Discard) // lets go of the response
	z.pool.Put(zipper)
}

// AcceptsGzip reports whether Accept-Encoding asks for gzip (RFC 9110, 12.5.3), by name or by
// `*`, with a weight above zero. A name has precedence over `*`.
func AcceptsGzip(lines []string) bool {
	named, accepted := false, false
	for _, line := range lines {
		for line != "" {
			var coding string
			coding, line, _ = strings.Cut(line, ",")
			coding, weight, _ := strings.Cut(coding, ";")
			coding = strings.TrimSpace(coding)
			switch {
			case strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip"):
				named, accepted = true, !zeroWeight(weight)
			case coding == "*" && !named:
				accepted = !zeroWeight(weight)
			}
		}
	}
	return accepted
}

// zeroWeight reports whether a parameter is q=0 in any spelling. A malformed one counts as zero,
// because every client can read a plain reply.
func zeroWeight(parameter string) bool {
	name, value, found := strings.Cut(strings.TrimSpace(parameter), "=")
	if !found {
		return strings.TrimSpace(parameter) != ""
	}
	weight, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(weight > 0)
}
