package main

import (
	"os"
	"strings"
	"testing"
)

func TestTheGuideHasTheTablesOfTheProgram(t *testing.T) {
	guide, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(needs() + bounds()) {
		if !strings.Contains(string(guide), line) {
			t.Errorf("docs/scale.md lacks\n%s", line)
		}
	}
}

func TestNoShardIsAboveHalfOfItsBudget(t *testing.T) {
	for _, factor := range []float64{1, 30, 100, 1000} {
		l := newLoad(unit{factor, 0.7})
		for what, used := range map[string]float64{
			"queries": (l.queries/l.shards() + l.broadcasts) / shardQueries, "writes": l.writes / l.shards() / shardWrites,
			"bytes": l.bytes / l.shards() / shardBytes,
		} {
			if used > 0.5001 {
				t.Errorf("%g×: %s of a shard are %g of its budget", factor, what, used)
			}
		}
	}
}
