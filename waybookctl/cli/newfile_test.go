package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestAMissingFileIsStatus3(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, args := range [][]string{
		{"store", "restore", missing}, {"store", "load", missing}, {"landmark", "import", missing, "--format", "ndjson", "--owner", "1"},
		{"store", "dump", "--data", missing, "-"},
	} {
		runWith(t.Context(), nil, "", args...).expect(t, statusNotFound, missing)
	}
}

func TestHelpAndVersionAreWordsToo(t *testing.T) {
	for _, each := range [][2][]string{
		{{"help"}, {"--help"}}, {{"help", "store", "dump"}, {"store", "dump", "--help"}}, {{"version"}, {"--version"}},
	} {
		word, flag := runWith(t.Context(), nil, "", each[0]...), runWith(t.Context(), nil, "", each[1]...)
		if word != flag || word.status != statusOK || word.out == "" {
			t.Errorf("%v: %+v, want %+v", each[0], word, flag)
		}
	}
	runWith(t.Context(), nil, "", "help", "nothing").expect(t, statusUsage, "nothing")
}

func TestNoFileIsOverwrittenWithoutForce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"store", "backup", file}, {"store", "dump", file}, {"landmark", "export", "--format", "ndjson", "--owner", "1", file}, {"user", "export", "1", file},
		{"move", "check", file, "--problems", file}, {"move", "import", file, "--problems", file},
	} {
		ran := runWith(t.Context(), nil, "", args...)
		if !strings.Contains(ran.err, "exists; name another one, or replace it with --force") || ran.status != statusFailed {
			t.Errorf("%v: %+v", args, ran)
		}
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != "precious" {
		t.Errorf("the file has %q, %v", kept, err)
	}
}

func TestADumpGoesThroughStandardOutputAndInput(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	options := storekeeping.Options{Store: service.StoreFlags{Data: from}}
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := storekeeping.Prepare(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	dumped := runWith(t.Context(), nil, "", "store", "dump", "--data", from, "-")
	if dumped.status != statusOK || dumped.out == "" {
		t.Fatalf("%+v", dumped)
	}
	loaded := runWith(t.Context(), nil, dumped.out, "store", "load", "--data", to, "-")
	if loaded.status != statusOK {
		t.Fatalf("%+v", loaded)
	}
	file := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := runWith(t.Context(), nil, "", "store", "dump", "--data", to, "--force", file)
	written, err := os.ReadFile(file)
	if again.status != statusOK || err != nil || string(written) != dumped.out {
		t.Errorf("%+v, %v; the dumps are equal: %v", again, err, string(written) == dumped.out)
	}
}
