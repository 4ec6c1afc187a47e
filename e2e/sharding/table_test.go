package sharding_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

var update = flag.Bool("update", false, "rewrite the tables in testdata")

// asked is what the commands of an operation ask.
type asked struct {
	commands int
	// places and hashed are the distinct values of the shard key that they name: each is on one
	// shard. whole is the number of collections on one shard, which is the same for all.
	places, hashed, whole map[string]bool
	// everywhere counts the commands to all shards.
	everywhere int
}

// ask sums up commands. A command that names no value of the shard key asks all shards.
func (c *cluster) ask(commands []mongowire.Command) asked {
	a := asked{commands: len(commands), places: map[string]bool{}, hashed: map[string]bool{}, whole: map[string]bool{}}
	for _, command := range commands {
		field := c.server.ShardKey(command.Database + "." + command.Collection)
		values, isTargeted, _ := command.ShardKeys(field)
		switch {
		case field == "":
			a.whole[command.Collection] = true
		case !isTargeted:
			a.everywhere++
		case field == "_place":
			for _, place := range values {
				a.places[place] = true
			}
		default:
			for _, id := range values {
				a.hashed[command.Collection+" "+id] = true
			}
		}
	}
	return a
}

// shards returns the number of shards that are asked at most: two places, or a place and a hash,
// may be on the same shard.
func (a asked) shards() string {
	if a.everywhere > 0 {
		return "all"
	}
	one := 0
	if len(a.whole) > 0 {
		one = 1
	}
	return fmt.Sprint(min(shards, len(a.places)+len(a.hashed)+one))
}

// which says in words which shards are asked.
func (a asked) which() string {
	var parts []string
	add := func(n int, one, more string) {
		switch {
		case n == 1:
			parts = append(parts, one)
		case n > 1:
			parts = append(parts, fmt.Sprintf(more, n))
		}
	}
	add(len(a.places), "a place", "%d places")
	collections := map[string]int{}
	for each := range a.hashed {
		collection, _, _ := strings.Cut(each, " ")
		collections[collection]++
	}
	for _, collection := range sorted(collections) {
		add(collections[collection], "a hash in `"+collection+"`", "%d hashes in `"+collection+"`")
	}
	for _, collection := range sorted(a.whole) {
		parts = append(parts, "`"+collection+"`")
	}
	add(a.everywhere, "all shards", "all shards, %d times")
	return strings.Join(parts, ", ")
}

// row is an operation and the other cells of its row.
type row struct{ name, cells string }

// tableOf returns a table in which operations with the same cells share a row. The variants of an
// operation that are all in one row are named together.
func tableOf(rows []row) string {
	function := func(name string) string { first, _, _ := strings.Cut(name, " with "); return first }
	cells := map[string][]string{} // the different cells by function
	for _, each := range rows {
		if of := function(each.name); !slices.Contains(cells[of], each.cells) {
			cells[of] = append(cells[of], each.cells)
		}
	}
	var order []string
	names := map[string][]string{}
	for _, each := range rows {
		name := each.name
		if of := function(name); len(cells[of]) == 1 {
			name = of
		}
		if !slices.Contains(order, each.cells) {
			order = append(order, each.cells)
		}
		if !slices.Contains(names[each.cells], name) {
			names[each.cells] = append(names[each.cells], name)
		}
	}
	var b strings.Builder
	b.WriteString("| operation | commands | in a row | shards at most | which |\n| --- | --- | --- | --- | --- |\n")
	for _, each := range order {
		fmt.Fprintf(&b, "| %s %s\n", strings.Join(names[each], ", "), each)
	}
	return b.String()
}

// expectTable compares a file with what it should hold, or writes it.
func expectTable(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		waybooktest.OK(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	shown, err := os.ReadFile(file)
	waybooktest.OK(t, err)
	if string(shown) != want {
		t.Errorf("%s is stale: run tools/update\n%s", file, want)
	}
}
