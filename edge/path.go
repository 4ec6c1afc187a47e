package edge

import (
	"fmt"
	"net/http"
	"strings"
)

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

// find returns nil for the path of the interface (rule 1.29), and a refusal for others. For the
// path in other letters the refusal is a redirect, and location its target.
func (p PathPrefix) find(path string) (location string, err error) {
	if path == Path {
		return "", nil
	}
	path = p.Trim(withoutRepeats(path))
	switch {
	case strings.TrimSuffix(path, "/") == Path:
		return "", nil
	case len(path) == len(Path) && strings.EqualFold(path, Path):
		// A relative target also holds behind a proxy that takes a prefix off.
		return strings.TrimPrefix(Path, "/"), refuse("PERMANENT_REDIRECT", http.StatusPermanentRedirect)
	}
	return "", refuse("NOT_FOUND", http.StatusNotFound)
}

// Serves reports whether a path is that of the interface.
func (p PathPrefix) Serves(path string) bool {
	_, err := p.find(path)
	return err == nil
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
