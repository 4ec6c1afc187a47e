package console

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
)

// Flags are the settings of the console.
type Flags struct {
	// IsOn makes the program serve the console.
	IsOn bool
	// Tiles is the address of the map's raster tiles.
	Tiles Tiles
	// Photos is the address of the server of photos.
	Photos Photos
}

// Register declares the flags. isOn says whether the console is on by default.
func (f *Flags) Register(flags *flag.FlagSet, isOn bool) {
	flags.BoolVar(&f.IsOn, "console", isOn,
		"serve the console, a page for people, at / of the edge; it shows the version and numbers of requests to "+
			"every client")
	flags.Var(&f.Tiles, "console-tiles",
		"`address` of raster tiles for the map of the console, such as https://tiles.example/{z}/{x}/{y}.png; "+
			"browsers fetch them from there")
	flags.Var(&f.Photos, "console-photos",
		"`address` that relative addresses of photos are resolved against in the console, such as "+
			"https://photos.example/old/; browsers fetch them from there")
}

// Page returns the function that puts the console in front of the handler of an edge; nil if the
// console is off.
func (f Flags) Page() func(
	of *edge.Config, ready func(context.Context) error, metrics prometheus.Gatherer, next http.Handler,
) (http.Handler, error) {
	if !f.IsOn {
		return nil
	}
	return func(of *edge.Config, ready func(context.Context) error, metrics prometheus.Gatherer,
		next http.Handler) (http.Handler, error) {
		return New(Config{Edge: of, Tiles: f.Tiles, Photos: f.Photos, Ready: ready, Metrics: metrics}, next)
	}
}

// Tiles is the address of the map's raster tiles, such as
// https://tiles.example/{z}/{x}/{y}.png. It is a flag. The zero value has no tiles: the map then
// shows coastlines and countries only.
type Tiles struct{ template, origin string }

// maxTilesBytes bounds the address.
const maxTilesBytes = 2000

// String returns the flag's value.
func (t Tiles) String() string { return t.template }

// Origin returns the scheme, the host and the port of the tiles; "" without tiles.
func (t Tiles) Origin() string { return t.origin }

// Set parses the flag's value and replaces the earlier one. The origin becomes a part of a
// header, so Set accepts only letters, digits, dots, hyphens and a port in it.
func (t *Tiles) Set(value string) error {
	if value == "" {
		*t = Tiles{}
		return nil
	}
	if len(value) > maxTilesBytes {
		return fmt.Errorf("it is longer than %d bytes", maxTilesBytes)
	}
	plain := value
	for _, placeholder := range []string{"{z}", "{x}", "{y}"} {
		if strings.Count(value, placeholder) != 1 {
			return fmt.Errorf("%q does not have %s once", value, placeholder)
		}
		plain = strings.Replace(plain, placeholder, "0", 1)
	}
	if strings.ContainsAny(plain, "{}") {
		return fmt.Errorf("%q has a placeholder other than {z}, {x} and {y}", value)
	}
	parsed, err := parseAddress(plain)
	switch {
	case err != nil:
		return err
	case !strings.Contains(value, parsed.Host+"/"):
		return fmt.Errorf("%q has a placeholder in its host", value)
	}
	*t = Tiles{value, originOf(parsed)}
	return nil
}

// parseAddress parses an address that browsers fetch from, whose origin becomes a part of a
// header.
func parseAddress(value string) (*url.URL, error) {
	parsed, err := url.Parse(value)
	switch {
	case err != nil:
		return nil, err
	case parsed.Scheme != "https" && parsed.Scheme != "http":
		return nil, fmt.Errorf("%q begins with neither https:// nor http://", value)
	case parsed.User != nil:
		return nil, errors.New("it has a user or a password, which browsers refuse")
	case parsed.Hostname() == "" || strings.Trim(parsed.Host, hostBytes) != "":
		return nil, fmt.Errorf("%q does not name a host in ASCII letters, digits, dots and hyphens", value)
	}
	return parsed, nil
}

// parseBounded is parseAddress of a flag's whole value.
func parseBounded(value string) (*url.URL, error) {
	if len(value) > maxTilesBytes {
		return nil, fmt.Errorf("it is longer than %d bytes", maxTilesBytes)
	}
	return parseAddress(value)
}

// originOf returns the scheme, the host and the port of an address.
func originOf(parsed *url.URL) string { return parsed.Scheme + "://" + parsed.Host }

// Photos is the address that relative addresses of photos are resolved against, such as
// https://photos.example/old/. It is a flag. The zero value is the address of the page.
type Photos struct{ base, origin string }

// String returns the flag's value.
func (p Photos) String() string { return p.base }

// Origin returns the scheme, the host and the port of the photos; "" without an address.
func (p Photos) Origin() string { return p.origin }

// Set parses the flag's value and replaces the earlier one.
func (p *Photos) Set(value string) error {
	if value == "" {
		*p = Photos{}
		return nil
	}
	parsed, err := parseBounded(value)
	switch {
	case err != nil:
		return err
	case !strings.HasSuffix(parsed.Path, "/") || parsed.RawQuery != "" || parsed.Fragment != "":
		return fmt.Errorf("%q does not end with / behind a folder", value)
	}
	*p = Photos{value, originOf(parsed)}
	return nil
}

// hostBytes are the bytes of a host with a port. A policy cannot hold an IPv6 address.
const hostBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:"
