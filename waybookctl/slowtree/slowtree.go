// Package slowtree joins the parts of a slow request that several programs have kept.
package slowtree

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/platform/tracing"
)

// Part is what one program did for a request.
type Part struct {
	Program string `json:"program"`
	tracing.SlowRequest
}

// Root returns the name of the whole part.
func (p Part) Root() string {
	for _, span := range p.Spans {
		if span.Began.Equal(p.SlowRequest.Began) {
			return span.Name
		}
	}
	return ""
}

// Line is a span in the tree of a request.
type Line struct {
	Program string
	// Depth is how many spans are above.
	Depth   int
	Name    string
	Outcome string
	// Began is when it began after the first span, and Milliseconds how long it took.
	Began, Milliseconds float64
}

// node is a span with its program.
type node struct {
	tracing.SlowSpan
	program string
}

// Lines returns the spans of all parts as a tree: each is below its parent, and beside the others
// in the order in which they began. A span whose parent was not kept is at the top. leftOut is how
// many spans the programs did not keep.
func Lines(parts []Part) (lines []Line, leftOut int) {
	var nodes []node
	known := map[string]bool{}
	for _, part := range parts {
		leftOut += part.LeftOut
		for _, span := range part.Spans {
			if !known[span.ID] {
				known[span.ID] = true
				nodes = append(nodes, node{span, part.Program})
			}
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(b.Milliseconds, a.Milliseconds))
	})
	below := map[string][]node{}
	for _, each := range nodes {
		parent := each.Parent
		if !known[parent] || parent == each.ID {
			parent = ""
		}
		below[parent] = append(below[parent], each)
	}
	t := tree{below: below}
	if len(nodes) > 0 {
		t.began = nodes[0].Began
	}
	t.add("", 0)
	return t.lines, leftOut
}

// tree collects the lines. Each span has one parent, so each is added once at most.
type tree struct {
	below map[string][]node
	began time.Time
	lines []Line
}

func (t *tree) add(parent string, depth int) {
	for _, each := range t.below[parent] {
		t.lines = append(t.lines, Line{
			Program: each.program, Depth: depth, Name: each.Kind + " " + each.Name, Outcome: each.Outcome,
			Began: float64(each.Began.Sub(t.began).Microseconds()) / 1000, Milliseconds: each.Milliseconds,
		})
		t.add(each.ID, depth+1)
	}
}
