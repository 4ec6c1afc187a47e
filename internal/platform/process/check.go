package process

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/platform/tracing"
)

// Checks collects the faults of a program's settings. Its methods change nothing, open no port and
// call nobody.
type Checks struct {
	transport Transport
	faults    []error
	// listeners are the flags that name the addresses which the program listens on.
	listeners map[string]string
}

// check returns the faults of a program's settings that the parsing of flags does not find.
func check(program Program, set common, lookupEnv tracing.LookupEnv) error {
	c := &Checks{listeners: map[string]string{}}
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
	c.listen(flagName, address)
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
	c.listen(flagName, address)
}

// listen reports two flags with one address.
func (c *Checks) listen(flagName, address string) {
	if strings.HasSuffix(address, ":0") {
		return
	}
	if other, isTaken := c.listeners[address]; isTaken {
		c.Report(fmt.Errorf("-%s and -%s have the same address %s", other, flagName, address))
	}
	c.listeners[address] = flagName
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
