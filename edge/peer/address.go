// Package peer sends requests to another server of the interface, such as the one that Waybook
// takes the place of.
package peer

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// path is the path of the interface below a server's address (rule 1.1).
const path = "/API.php"

// Address is the address of a server: everything before /API.php, such as https://old.example or
// http://10.0.0.5/legacy. It is a flag. The zero Address is empty.
type Address struct{ base url.URL }

// ParseAddress parses an address, with or without /API.php at its end.
func ParseAddress(text string) (Address, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.Opaque != "":
		return Address{}, errors.New("want the address of a server, such as https://old.example")
	case parsed.User != nil:
		return Address{}, errors.New("the address must not have a name or a password")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return Address{}, errors.New("the address must not have a query or a fragment")
	}
	base := strings.TrimRight(strings.TrimSuffix(parsed.Path, path), "/")
	return Address{url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: base}}, nil
}

// Set parses the flag's value; an empty one is the zero Address.
func (a *Address) Set(value string) (err error) {
	if *a = (Address{}); value == "" {
		return nil
	}
	*a, err = ParseAddress(value)
	return err
}

// String returns the address without /API.php.
func (a Address) String() string { return a.base.String() }

// IsZero reports whether there is no address.
func (a Address) IsZero() bool { return a.base.Host == "" }

// IsReadable reports whether others can read what is sent to the address: it leaves this machine
// without TLS.
func (a Address) IsReadable() bool {
	if a.base.Scheme == "https" || a.base.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(a.base.Hostname())
	return ip == nil || !ip.IsLoopback()
}

// At returns the URL of another path of the server.
func (a Address) At(path, query string) *url.URL {
	at := a.base
	at.Path, at.RawQuery = at.Path+path, query
	return &at
}
