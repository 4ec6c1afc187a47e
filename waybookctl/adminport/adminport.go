// Package adminport reads what programs report on their admin ports.
package adminport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// maxReplyBytes bounds a reply.
const maxReplyBytes = 4 << 20

// Ports are the addresses of admin ports, HOST:PORT. Of a name, all addresses are asked.
type Ports []string

// Unreachable is a port that did not answer. A retry may succeed.
type Unreachable struct{ cause error }

// Error returns the cause.
func (e *Unreachable) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.cause }

// Invalid is an address that is none.
type Invalid string

// Error says what an address is.
func (e Invalid) Error() string { return string(e) + ": want HOST:PORT" }

// Resolve returns the addresses of a port. Admin ports answer to IP addresses and localhost, so names are
// resolved here.
func Resolve(ctx context.Context, port string) (addresses []string, err error) {
	host, number, err := net.SplitHostPort(port)
	if err != nil {
		return nil, Invalid(port)
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, &Unreachable{err}
	}
	for _, each := range hosts {
		addresses = append(addresses, net.JoinHostPort(each, number))
	}
	return addresses, nil
}

// Get returns the body of a path at an address.
func Get(ctx context.Context, address, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, &Unreachable{err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes+1))
	switch {
	case err != nil:
		return nil, &Unreachable{err}
	case len(body) > maxReplyBytes:
		return nil, errors.New("the reply is too long for an admin port of Waybook")
	case response.StatusCode == http.StatusNotImplemented:
		return nil, &NotKept{strings.TrimSpace(string(body))}
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d; is it the admin port of this version of Waybook?", response.StatusCode)
	}
	return body, nil
}

// NotKept is a program that does not keep what was asked for.
type NotKept struct{ reason string }

// Error returns what the program says.
func (e *NotKept) Error() string { return e.reason }

// Ask calls take with the reply of each address of the ports. It ends at the first failure, which names the port.
func Ask[Reply any](ctx context.Context, ports Ports, path string, take func(address string, reply Reply)) error {
	for _, port := range ports {
		addresses, err := Resolve(ctx, port)
		if err != nil {
			return err
		}
		for _, address := range addresses {
			body, err := Get(ctx, address, path)
			var reply Reply
			if err == nil {
				err = json.Unmarshal(body, &reply)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", port, err)
			}
			take(address, reply)
		}
	}
	return nil
}
