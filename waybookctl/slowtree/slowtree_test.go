package slowtree_test

import (
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/waybookctl/slowtree"
)

func span(id, parent, name string, began int) tracing.SlowSpan {
	return tracing.SlowSpan{ID: id, Parent: parent, Name: name, Kind: "server", Began: time.UnixMilli(int64(began)).UTC(), Milliseconds: 1}
}

func part(program string, leftOut int, spans ...tracing.SlowSpan) slowtree.Part {
	return slowtree.Part{Program: program, SlowRequest: tracing.SlowRequest{Began: spans[0].Began, Spans: spans, LeftOut: leftOut}}
}

func TestThePartsOfProgramsAreOneTree(t *testing.T) {
	parts := []slowtree.Part{
		part("album", 2, span("c", "b", "GetAlbum", 12), span("d", "c", "get albums", 13)),
		part("edge", 0, span("a", "", "getAlbum", 10), span("b", "a", "call", 11), span("e", "a", "again", 20)),
		part("poi", 0, span("z", "missing", "alone", 30)),
		part("edge", 0, span("a", "", "getAlbum", 10)), // two addresses of one program
	}
	lines, leftOut := slowtree.Lines(parts)
	var got []string
	for _, line := range lines {
		got = append(got, line.Program+" "+"......"[:line.Depth]+line.Name)
	}
	want := []string{
		"edge server getAlbum", "edge .server call", "album ..server GetAlbum", "album ...server get albums", "edge .server again", "poi server alone",
	}
	if !slices.Equal(got, want) || leftOut != 2 || lines[4].Began != 10 {
		t.Errorf("the tree is %q, %d are left out, the fifth began at %v", got, leftOut, lines[4].Began)
	}
	if parts[1].Root() != "getAlbum" {
		t.Errorf("the root is %s", parts[1].Root())
	}
}

func TestSpansInACircleAreLeftOut(t *testing.T) {
	lines, _ := slowtree.Lines([]slowtree.Part{part("edge", 0, span("a", "b", "x", 1), span("b", "a", "y", 2), span("c", "c", "z", 3))})
	if len(lines) != 1 || lines[0].Name != "server z" {
		t.Errorf("the lines are %+v", lines)
	}
}
