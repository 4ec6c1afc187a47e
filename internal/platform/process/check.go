package process

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for machines without zone files

	"github.com/waybook/waybook/internal/platform/tracing"
)

// Checks collects the faults of a program's settings. Its methods change nothing, open no port and
// call no service.
type Checks struct {
	transport Transport
	faults    []error
	listeners []listener
}

// listener is an address that the program listens on, and the flag that names it. A socket has its
// path as port.
type listener struct{ flagName, address, host, port string }

// check returns the faults of a program's settings that the parsing of flags does not find.
func check(program Program, set common, lookupEnv tracing.LookupEnv) error {
	c := &Checks{}
	transport, err := set.transport.Load(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		c.Report(err)
		transport = Transport{plainText: true} // there is to be TLS, so no address is plain text
	}
	c.transport = transport
	if identity := transport.Identity; identity != nil {
		if expiry := identity.Expiry(); expiry.Before(time.Now()) {
			c.Report(fmt.Errorf("-tls-cert: the certificate expired at %s", expiry.UTC().Format(time.RFC3339)))
		}
	}
	c.Report(set.tracing.Check(lookupEnv))
	if program.Check != nil {
		program.Check(c)
	}
	return errors.Join(c.faults...)
}

// Report adds a fault, which names its setting. It ignores nil.
func (c *Checks) Report(fault error) {
	if fault != nil {
		c.faults = append(c.faults, fault)
	}
}

// Listen checks the address of a TCP port.
func (c *Checks) Listen(flagName, address string) {
	if err := checkAddress(address); err != nil {
		c.Report(fmt.Errorf("-%s: %w", flagName, err))
		return
	}
	host, port, _ := net.SplitHostPort(address) // it was checked
	c.listen(listener{flagName, address, host, port})
}

// ListenGRPC checks the address of a gRPC port.
func (c *Checks) ListenGRPC(flagName, address string) {
	path, isSocket := strings.CutPrefix(address, unixScheme)
	if !isSocket {
		c.Listen(flagName, address)
		c.Report(c.transport.check(flagName, address))
		return
	}
	if err := checkSocketPath(path); err != nil {
		c.Report(fmt.Errorf("-%s: %w", flagName, err))
		return
	}
	c.listen(listener{flagName, address, "unix", path})
}

// listen reports two flags whose addresses one machine cannot have both.
func (c *Checks) listen(added listener) {
	if added.port == "0" {
		return
	}
	for _, other := range c.listeners {
		if other.port == added.port && overlap(other.host, added.host) {
			c.Report(fmt.Errorf("-%s %s and -%s %s collide", other.flagName, other.address, added.flagName,
				added.address))
		}
	}
	c.listeners = append(c.listeners, added)
}

// overlap reports whether two hosts share an address. It looks no name up.
func overlap(one, other string) bool {
	for _, a := range addressesOf(one) {
		for _, b := range addressesOf(other) {
			if a == b || a == everyAddress || b == everyAddress {
				return true
			}
		}
	}
	return false
}

// everyAddress stands for all addresses of a machine: Go listens on those of IPv6 at 0.0.0.0, too.
const everyAddress = ""

func addressesOf(host string) []string {
	if strings.EqualFold(host, "localhost") {
		return []string{"127.0.0.1", "::1"}
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return []string{host}
	case address.IsUnspecified():
		return []string{everyAddress}
	}
	return []string{address.Unmap().String()}
}

// Dial checks the address of a service, as Transport.Dial takes it.
func (c *Checks) Dial(name, address string) {
	connection, err := c.transport.Dial(name, address)
	if err != nil {
		c.Report(err)
		return
	}
	c.Report(connection.Close()) // it was never used, so it has not connected
	if strings.HasPrefix(address, unixScheme) {
		return
	}
	for each := range strings.SplitSeq(address, ",") {
		if strings.Contains(each, "://") {
			continue // a target of gRPC, which has checked it
		}
		if err := checkAddress(each); err != nil {
			c.Report(fmt.Errorf("-%s: %w", name, err))
		}
	}
}

// checkAddress reports why a text is not an address of the form HOST:PORT.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address of the form HOST:PORT", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	return nil
}

// Zone returns the time zone that -time-zone names.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("-time-zone: %w", err)
	}
	return zone, nil
}
