package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/longform"
)

// mongotest.OnRealServer checks the name of each test that calls it.
func TestThePackagesWithTestsOnARealServerAreListed(t *testing.T) {
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(filepath.Dir(file)); strings.Contains(string(text), "mongotest.OnRealServer") {
			found[name] = true
		}
	}
	listed := mongotest.RealServerPackages()
	for name := range found {
		if !slices.Contains(listed, name) {
			t.Errorf("mongotest.RealServerPackages lacks %s", name)
		}
	}
	if len(found) != len(listed) {
		t.Errorf("got %v, want %v", listed, found)
	}
}

// One package shows what the others do, too.
func TestTheCommandForARealServerRunsItsTestsAndNoOthers(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	for kind, config := range map[string]mongowire.Config{
		"a replica set of 1 members": {}, "a cluster of 2 shards": {Role: mongowire.Router, Shards: 2},
	} {
		server := mongotest.StartServer(t, config)
		command := exec.CommandContext(t.Context(), "../../.ci/mongodb", "sharding")
		command.Env = append(os.Environ(), mongotest.RealServer+"="+server.URI(""))
		output, err := command.CombinedOutput()
		wanted := regexp.MustCompile(`(?s)^tests on ` + kind + `, MongoDB \d.*\n +sharding +1 +1 +0 +0 +[\d.]+ s\n$`)
		if err != nil || !wanted.Match(output) {
			t.Errorf("%s: %v\n%s", kind, err, output)
		}
	}
	command := exec.CommandContext(t.Context(), "../../.ci/mongodb", "mongowire")
	command.Env = append(os.Environ(), mongotest.RealServer+"="+mongotest.StartReplicaSet(t))
	if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "mongowire: no test ran") {
		t.Errorf("a package without such tests: %v\n%s", err, output)
	}
}
