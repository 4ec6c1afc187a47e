package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAContextGivesTheFlagsThatNothingElseGives(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environment := map[string]string{"HOME": home}
	run := func(line string) ran { return runWith(t.Context(), environment, "", strings.Fields(line)...) }
	one, two, three := closed(t), closed(t), closed(t)
	run("context set one --address "+one+" -o json --tls-ca ca.crt --plaintext").expect(t, statusOK)
	run("context set two --address "+two).expect(t, statusOK)
	file := filepath.Join(home, ".config", "waybook", "contexts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	absolute, err := filepath.Abs("ca.crt")
	if err != nil {
		t.Fatal(err)
	}
	if got := run("context list -o table --no-headers").out; got != "*  one  --address="+one+" --output=json --plaintext=true --tls-ca="+absolute+"\n   two  --address="+two+"\n" {
		t.Errorf("listed %q", got)
	}
	if got := run("context list -o jsonpath={.key}").out; got != "one\ntwo\n" {
		t.Errorf("keys %q", got)
	}
	run("context set one --address "+one).expect(t, statusOK)

	run("user show 1").expect(t, statusUnavailable, one)
	run("user show 1 --context two").expect(t, statusUnavailable, two)
	run("user show 1 --context=two --address "+three).expect(t, statusUnavailable, three)
	run("context use two").expect(t, statusOK)
	run("user show 1").expect(t, statusUnavailable, two)
	environment["WAYBOOK_CONTEXT"] = "one"
	run("user show 1").expect(t, statusUnavailable, one)
	environment["WAYBOOK_ADDRESS"] = three
	run("user show 1").expect(t, statusUnavailable, three)
	delete(environment, "WAYBOOK_ADDRESS")
	delete(environment, "WAYBOOK_CONTEXT")

	run("user show 1 --context gone").expect(t, statusNotFound, `no context "gone"`)
	run("context use gone").expect(t, statusNotFound, `no context "gone"`)
	run("context set empty").expect(t, statusUsage, "--address")
	run("context delete two").expect(t, statusOK)
	run("context delete two").expect(t, statusNotFound)
	run("context set bad --timeout 1").expect(t, statusUsage, "--timeout")
}

func TestAFileOfContextsThatCannotBeReadIsNamed(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "waybook", "contexts.json")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"current": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := map[string]string{"XDG_CONFIG_HOME": home}
	runWith(t.Context(), environment, "", "user", "show", "1").expect(t, statusFailed, file)
	if got := runWith(t.Context(), environment, "", "version"); got.status != statusOK {
		t.Errorf("version: %v", got)
	}
	if err := os.WriteFile(file, []byte(`{"current": "a", "contexts": {"a": {"timeout": "soon"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	runWith(t.Context(), environment, "", "user", "show", "1").expect(t, statusUsage, "soon", "--timeout is set by the context a")
}

func TestWithoutADirectoryNoContextIsKept(t *testing.T) {
	runWith(t.Context(), nil, "", "context", "set", "x", "--address", "127.0.0.1:1").expect(t, statusFailed, "HOME")
}
