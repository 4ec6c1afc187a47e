package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/waybookctl/completion"
)

// completed returns the candidates for the last word, without their help.
func completed(t *testing.T, words ...string) (found []string) {
	t.Helper()
	got := runWith(t.Context(), nil, "", append([]string{"complete", "--"}, words...)...)
	if got.status != statusOK || got.err != "" {
		t.Fatalf("status %d: %s", got.status, got.err)
	}
	for line := range strings.Lines(got.out) {
		word, _, _ := strings.Cut(line, "\t")
		found = append(found, word)
	}
	return found
}

func TestCandidatesAreFoundEverywhereOnTheLine(t *testing.T) {
	for _, test := range []struct {
		line string
		want []string
	}{
		{"al", []string{"album"}},
		{"album ", []string{"create", "update", "delete", "show", "batch-get", "nearby", "in-box", "list", "recent", "photo", "comment", "recommend", "withdraw", "recommender", "resolve-old-ids", "changes", "export"}},
		{"album photo ", []string{"add", "update", "remove", "list"}},
		{"-o json album ph", []string{"photo"}},
		{"--output json entry l", []string{"list"}},
		{"--output=json entry l", []string{"list"}},
		{"-o ", []string{"table", "json", "yaml", "name", "jsonpath="}},
		{"--output=y", []string{"--output=yaml"}},
		{"--output = y", []string{"--output=yaml"}},
		{"album create --cat", []string{"--category"}},
		{"album create --category fo", []string{"foreign-travel", "food"}},
		{"album update 5 --category fo", []string{"foreign-travel", "food"}},
		{"landmark list --category=t", []string{"--category=tender", "--category=thrill"}},
		{"entry list --published --or", []string{"--order"}},
		{"completion ", []string{"bash", "zsh", "fish"}},
		{"album show ", nil},
		{"album show -- --l", nil},
		{"album create --title ", nil},
		{"nothing --known ", []string{"user", "session", "album", "entry", "landmark", "store", "move", "compare", "certs", "context", "help", "version", "completion"}},
		{"album show 5 --unknown=", nil},
	} {
		if got := completed(t, strings.Split(test.line, " ")...); !slices.Equal(got, test.want) {
			t.Errorf("candidates for %q: %q, want %q", test.line, got, test.want)
		}
	}
}

func TestFlagsComeWithTheirHelpTheCommandsOwnFirst(t *testing.T) {
	got := runWith(t.Context(), nil, "", "complete", "--", "album", "list", "--").out
	if !strings.HasPrefix(got, "--owner\tThe owner of the albums.\n") || !strings.Contains(got, "--limit\t") || !strings.Contains(got, "--timeout\t") {
		t.Errorf("flags\n%s", got)
	}
}

// script writes the script for a shell to a file.
func script(t *testing.T, shell string) string {
	t.Helper()
	got := runWith(t.Context(), nil, "", "completion", shell)
	if got.status != statusOK || !strings.Contains(got.out, "waybookctl") {
		t.Fatalf("status %d: %s%s", got.status, got.out, got.err)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte(got.out), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEachShellAcceptsItsScript(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			file := script(t, shell)
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so its script is not checked", shell)
			}
			if out, err := exec.CommandContext(t.Context(), shell, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// On any command line, a candidate starts with the last word, or it is a flag that the shell split
// into several words.
func FuzzWhatMayComeNextBeginsWithWhatIsThere(f *testing.F) {
	for _, line := range []string{"al", "album update 5 --category fo", "--output = y", "--output=", "album show -- --l", "-o", "= =", "-- --", "\n\t"} {
		f.Add(line)
	}
	parser, err := newParser(&commands{}, Streams{Out: io.Discard, Err: io.Discard}, &environment{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, " ")
		last := words[len(words)-1]
		for _, candidate := range completion.Candidates(parser.Model, words) {
			if word := candidate.Word; word == "" || strings.ContainsAny(word, " \t\r\n") ||
				!strings.HasPrefix(word, last) && !strings.HasPrefix(word, "--") {
				t.Errorf("candidate for %q: %q", line, word)
			}
		}
	})
}
