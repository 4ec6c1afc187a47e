package mongo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

const (
	scheme    = connstring.SchemeMongoDB + "://"
	schemeSRV = connstring.SchemeMongoDBSRV + "://"
)

// CheckURI reports why a URI is malformed. It connects to nothing and reads no DNS record, so it
// leaves the options of a mongodb+srv URI to Open. Its errors hold no credentials.
func CheckURI(uri string) error {
	switch {
	case strings.ContainsFunc(uri, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("the URI is malformed: it contains white space or a control character")
	case strings.HasPrefix(uri, schemeSRV):
		return checkSRV(uri)
	case !strings.HasPrefix(uri, scheme):
		return errors.New("the URI is malformed: want mongodb://HOST/DATABASE or mongodb+srv://HOST/DATABASE")
	}
	_, err := connstring.ParseAndValidate(uri)
	if err == nil {
		err = settings(uri).Validate() // reads the files of certificates that the URI names
	}
	if err == nil {
		return nil
	}
	if MayHavePassword(uri) { // the driver's text may contain it
		return errors.New("the URI is malformed: check the hosts, the database and the options; percent-encode the user name and the password")
	}
	return fmt.Errorf("the URI is malformed: %w", err)
}

// checkSRV checks the host of a mongodb+srv URI, whose DNS records name the servers.
func checkSRV(uri string) error {
	parsed, err := url.Parse(uri)
	switch {
	case err != nil:
		return errors.New("the URI is malformed: percent-encode the user name and the password")
	case parsed.Hostname() == "" || parsed.Port() != "" || strings.Contains(parsed.Host, ","):
		return errors.New("the URI is malformed: mongodb+srv:// takes one host name without a port")
	}
	return nil
}

// MayHavePassword reports whether a URI may hold a password or another secret. It rather says yes.
func MayHavePassword(uri string) bool {
	_, rest, _ := strings.Cut(uri, "://")
	at := strings.LastIndexByte(rest, '@')
	options := strings.ToLower(rest)
	return at >= 0 && strings.Contains(rest[:at], ":") ||
		strings.Contains(options, "password=") || strings.Contains(options, "token:")
}
