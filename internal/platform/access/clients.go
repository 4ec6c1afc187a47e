package access

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/platform/settings"
)

// Clients are clients that may call although no contract names them: the services of an
// operator, or Waybook's own processes under other names. It is a flag.Value. The zero value
// has none.
type Clients []grant

// grant lets one client call something.
type grant struct {
	// client is a DNS name in the client's certificate.
	client string
	// to is an identity, whose methods the client may call, or a pattern of methods: a full
	// name, or the beginning of one with an asterisk.
	to string
}

// Register declares the flag.
func (c *Clients) Register(flags *flag.FlagSet) {
	flags.Var(c, "clients", "further clients with TLS, as comma-separated `NAME=GRANT`: a name in the client's certificate, and what it may call: "+
		"a method such as /waybook.album.v1.AlbumService/GetAlbum, methods such as /waybook.album.v1.AlbumService/*, "+
		"or everything that one of edge, album, blog, poi and operator may call")
}

// String returns the flag's value.
func (c *Clients) String() string {
	parts := make([]string, len(*c))
	for i, each := range *c {
		parts[i] = each.client + "=" + each.to
	}
	return strings.Join(parts, ",")
}

// Set parses the flag's value and replaces the earlier one. It refuses a grant of nothing,
// which is a typing error.
func (c *Clients) Set(value string) error {
	rules, err := Contracts()
	if err != nil {
		return err
	}
	var parsed Clients
	for _, part := range settings.List(value) {
		each, err := parseGrant(part, rules)
		if err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		parsed = append(parsed, each)
	}
	*c = parsed
	return nil
}

func parseGrant(part string, rules *Rules) (grant, error) {
	client, to, ok := strings.Cut(part, "=")
	parsed := grant{strings.TrimSpace(client), strings.TrimSpace(to)}
	identities := rules.Identities()
	switch {
	case !ok || parsed.client == "":
		return grant{}, errors.New("want NAME=GRANT, such as reports=/waybook.album.v1.AlbumService/GetAlbum")
	case !parsed.isPattern():
		if !slices.Contains(identities, parsed.to) {
			return grant{}, fmt.Errorf("%q is neither a method, which begins with a slash, nor one of %s", parsed.to, strings.Join(identities, ", "))
		}
	case strings.HasPrefix(parsed.to, "/grpc."):
		// Health checks and reflection are in no contract.
	case !slices.ContainsFunc(rules.All(), func(rule Rule) bool { return parsed.covers(rule.Method) }):
		return grant{}, errors.New("no contract has such a method")
	}
	return parsed, nil
}

func (g grant) isPattern() bool { return strings.HasPrefix(g.to, "/") }

// covers reports whether a grant's pattern matches a method.
func (g grant) covers(method string) bool {
	if !g.isPattern() {
		return false
	}
	if beginning, ok := strings.CutSuffix(g.to, "*"); ok {
		return strings.HasPrefix(method, beginning)
	}
	return method == g.to
}

// isAs reports whether a client may call everything that an identity may call.
func (c Clients) isAs(client, identity string) bool {
	return client == identity || slices.Contains(c, grant{client, identity})
}

// covers reports whether a pattern lets a client call a method.
func (c Clients) covers(client, method string) bool {
	return slices.ContainsFunc(c, func(each grant) bool { return each.client == client && each.covers(method) })
}
