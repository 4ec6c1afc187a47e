package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/slowtree"
)

// maxSlowReply bounds the reply of an admin port in bytes.
const maxSlowReply = 4 << 20

type traceCommand struct {
	Admin []string `twin:"" default:"127.0.0.1:8081" placeholder:"ADDRESS" help:"Admin ports of the edge and of the services, HOST:PORT; of a name, all addresses are asked. ${default} by default, which is standalone's."`
	ID    string   `arg:"" optional:"" help:"Request id, the X-Request-Id of a reply and request_id in logs, or a trace id. Without it, the slow requests are listed."`
}

// Help returns the detailed help.
func (*traceCommand) Help() string {
	return `Programs with -slow-requests keep what each of the last 64 requests did that took at least that long. The command
asks them and prints the parts of a request as a tree, with the time at which each began and how long it took, in milliseconds.
A program keeps its part only if that part took as long, too. Times of programs on different machines differ by their clocks.`
}

// Run prints a slow request, or all.
func (c *traceCommand) Run(ctx context.Context, to *Connection, out *output.Printer) error {
	ctx, cancel := context.WithTimeout(ctx, to.Timeout)
	defer cancel()
	parts, err := c.ask(ctx)
	if err != nil {
		return err
	}
	if len(parts) == 0 && c.ID != "" {
		return notKeptError(c.ID)
	}
	value, err := output.FromJSON(parts)
	if err != nil {
		return err
	}
	return out.Value(value, func(page *output.Page) {
		if c.ID == "" {
			listSlow(page, parts)
			return
		}
		lines, leftOut := slowtree.Lines(parts)
		output.Rows(page, []output.Column[slowtree.Line]{
			{Head: "PROGRAM", Cell: func(l slowtree.Line) string { return l.Program }},
			{Head: "BEGAN", Cell: func(l slowtree.Line) string { return fmt.Sprintf("%.1f", l.Began) }},
			{Head: "MS", Cell: func(l slowtree.Line) string { return fmt.Sprintf("%.1f", l.Milliseconds) }},
			{Head: "OUTCOME", Cell: func(l slowtree.Line) string { return l.Outcome }},
			{Head: "WHAT", Cell: func(l slowtree.Line) string { return strings.Repeat("  ", l.Depth) + l.Name }},
		}, lines)
		if leftOut > 0 {
			page.Text(fmt.Sprintf("%d further parts were not kept.", leftOut))
		}
	})
}

func listSlow(page *output.Page, parts []slowtree.Part) {
	output.Rows(page, []output.Column[slowtree.Part]{
		{Head: "REQUEST", Cell: func(p slowtree.Part) string { return p.RequestID }},
		{Head: "PROGRAM", Cell: func(p slowtree.Part) string { return p.Program }},
		{Head: "BEGAN", Cell: func(p slowtree.Part) string { return p.SlowRequest.Began.Format("2006-01-02 15:04:05.000") }},
		{Head: "MS", Cell: func(p slowtree.Part) string { return fmt.Sprintf("%.1f", p.Milliseconds) }},
		{Head: "WHAT", Cell: func(p slowtree.Part) string { return p.Root() }},
	}, parts)
}

// notKeptError reports that no program has kept a request.
type notKeptError string

// Error says why a request may be missing.
func (e notKeptError) Error() string {
	return fmt.Sprintf("no program has kept the request %s: it took less than -slow-requests, is older than the last 64, or another --admin has it", string(e))
}

// ask asks every address for its parts of the request, or for all requests.
func (c *traceCommand) ask(ctx context.Context) (parts []slowtree.Part, err error) {
	// The admin ports answer to IP addresses and localhost, so names are resolved here.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, admin := range c.Admin {
		addresses, err := resolve(ctx, admin)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			found, err := askOne(ctx, client, address, c.ID)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", admin, err)
			}
			parts = append(parts, found...)
		}
	}
	return parts, nil
}

func resolve(ctx context.Context, admin string) (addresses []string, err error) {
	host, port, err := net.SplitHostPort(admin)
	if err != nil {
		return nil, usageError(fmt.Sprintf("--admin %s: want HOST:PORT", admin))
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	for _, each := range hosts {
		addresses = append(addresses, net.JoinHostPort(each, port))
	}
	return addresses, err
}

func askOne(ctx context.Context, client *http.Client, address, id string) ([]slowtree.Part, error) {
	target := "http://" + address + process.SlowPath
	if id != "" {
		target += "/" + url.PathEscape(id)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxSlowReply+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxSlowReply:
		return nil, errors.New("the reply is too long for an admin port of Waybook")
	case response.StatusCode == http.StatusNotImplemented:
		return nil, errors.New(strings.TrimSpace(string(body)))
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d; is it the admin port of this version of Waybook?", response.StatusCode)
	}
	var reply tracing.SlowReply
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, err
	}
	parts := make([]slowtree.Part, len(reply.Requests))
	for n, each := range reply.Requests {
		parts[n] = slowtree.Part{Program: reply.Program, SlowRequest: each}
	}
	return parts, nil
}
