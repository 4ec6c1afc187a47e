package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/waybookctl/adminport"
	"github.com/waybook/waybook/waybookctl/output"
)

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
		return statusError{statusNotFound, "no program has kept the request " + c.ID +
			": it took less than -slow-requests, is older than the last 64, or another --admin has it"}
	}
	return out.Tagged(parts, func(page *output.Page) {
		if c.ID == "" {
			listSlow(page, parts)
			return
		}
		lines, leftOut := spanTree(parts)
		output.Rows(page, []string{"PROGRAM", "BEGAN", "MS", "OUTCOME", "WHAT"}, lines, func(l spanLine) []string {
			return []string{l.program, fmt.Sprintf("%.1f", l.began), fmt.Sprintf("%.1f", l.took), l.outcome, strings.Repeat("  ", l.depth) + l.name}
		})
		if leftOut > 0 {
			page.Text(fmt.Sprintf("%d further parts were not kept.", leftOut))
		}
	})
}

func listSlow(page *output.Page, parts []slowPart) {
	output.Rows(page, []string{"REQUEST", "PROGRAM", "BEGAN", "MS", "WHAT"}, parts, func(p slowPart) []string {
		return []string{p.RequestID, p.Program, p.SlowRequest.Began.Format("2006-01-02 15:04:05.000"), fmt.Sprintf("%.1f", p.Milliseconds), p.root()}
	})
}

// ask asks every address for its parts of the request, or for all requests.
func (c *traceCommand) ask(ctx context.Context) (parts []slowPart, err error) {
	path := process.SlowPath
	if c.ID != "" {
		path += "/" + url.PathEscape(c.ID)
	}
	err = adminport.Ask(ctx, c.Admin, path, func(_ string, reply tracing.SlowReply) {
		for _, each := range reply.Requests {
			parts = append(parts, slowPart{Program: reply.Program, SlowRequest: each})
		}
	})
	return parts, err
}

// slowPart is what one program did for a slow request.
type slowPart struct {
	Program string `json:"program"`
	tracing.SlowRequest
}

// root returns the name of the whole part.
func (p slowPart) root() string {
	for _, span := range p.Spans {
		if span.Began.Equal(p.SlowRequest.Began) {
			return span.Name
		}
	}
	return ""
}

// spanLine is a span in the tree of a request.
type spanLine struct {
	program string
	// depth is how many spans are above.
	depth   int
	name    string
	outcome string
	// began is when it began after the first span, and took is how long it took, in milliseconds.
	began, took float64
}

// programSpan is a span with its program.
type programSpan struct {
	tracing.SlowSpan
	program string
}

// spanTree returns the spans of all parts as a tree: each is below its parent, and beside the others
// in the order in which they began. A span whose parent was not kept is at the top. leftOut is how
// many spans the programs did not keep.
func spanTree(parts []slowPart) (lines []spanLine, leftOut int) {
	var nodes []programSpan
	known := map[string]bool{}
	for _, part := range parts {
		leftOut += part.LeftOut
		for _, span := range part.Spans {
			if !known[span.ID] {
				known[span.ID] = true
				nodes = append(nodes, programSpan{span, part.Program})
			}
		}
	}
	slices.SortStableFunc(nodes, func(a, b programSpan) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(b.Milliseconds, a.Milliseconds))
	})
	below := map[string][]programSpan{}
	for _, each := range nodes {
		parent := each.Parent
		if !known[parent] || parent == each.ID {
			parent = ""
		}
		below[parent] = append(below[parent], each)
	}
	var add func(parent string, depth int)
	add = func(parent string, depth int) { // each span has one parent, so each is added once at most
		for _, each := range below[parent] {
			lines = append(lines, spanLine{
				program: each.program, depth: depth, name: each.Kind + " " + each.Name, outcome: each.Outcome,
				began: float64(each.Began.Sub(nodes[0].Began).Microseconds()) / 1000, took: each.Milliseconds,
			})
			add(each.ID, depth+1)
		}
	}
	add("", 0)
	return lines, leftOut
}
