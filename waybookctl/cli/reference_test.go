package cli

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/waybook/waybook/waybookctl/reference"
)

var update = flag.Bool("update", false, "rewrite docs/waybookctl.md")

// page is the path of the reference.
const page = "../../docs/waybookctl.md"

func TestTheReferenceMatchesTheCommands(t *testing.T) {
	parser, err := newParser(new(commands), Streams{strings.NewReader(""), io.Discard, io.Discard}, &environment{lookup: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	want := reference.Page(parser.Model, EnvName)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./waybookctl/cli -run Reference -update", page)
	}
}

func noEnvironment(string) (string, bool) { return "", false }
