package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/platform/tracing"
)

func span(id, parent, name string, began int) tracing.SlowSpan {
	return tracing.SlowSpan{ID: id, Parent: parent, Name: name, Kind: "server", Began: time.UnixMilli(int64(began)).UTC(), Milliseconds: 1}
}

func part(program string, leftOut int, spans ...tracing.SlowSpan) slowPart {
	return slowPart{Program: program, SlowRequest: tracing.SlowRequest{Began: spans[0].Began, Spans: spans, LeftOut: leftOut}}
}

func TestThePartsOfProgramsAreOneTree(t *testing.T) {
	parts := []slowPart{
		part("album", 2, span("c", "b", "GetAlbum", 12), span("d", "c", "get albums", 13)),
		part("edge", 0, span("a", "", "getAlbum", 10), span("b", "a", "call", 11), span("e", "a", "again", 20)),
		part("poi", 0, span("z", "missing", "alone", 30)),
		part("edge", 0, span("a", "", "getAlbum", 10)), // two addresses of one program
	}
	lines, leftOut := spanTree(parts)
	var got []string
	for _, line := range lines {
		got = append(got, line.program+" "+"......"[:line.depth]+line.name)
	}
	want := []string{
		"edge server getAlbum", "edge .server call", "album ..server GetAlbum", "album ...server get albums", "edge .server again", "poi server alone",
	}
	if !slices.Equal(got, want) || leftOut != 2 || lines[4].began != 10 {
		t.Errorf("the tree is %q, %d are left out, the fifth began at %v", got, leftOut, lines[4].began)
	}
	if parts[1].root() != "getAlbum" {
		t.Errorf("the root is %s", parts[1].root())
	}
}

func TestSpansInACircleAreLeftOut(t *testing.T) {
	lines, _ := spanTree([]slowPart{part("edge", 0, span("a", "b", "x", 1), span("b", "a", "y", 2), span("c", "c", "z", 3))})
	if len(lines) != 1 || lines[0].name != "server z" {
		t.Errorf("the lines are %+v", lines)
	}
}
