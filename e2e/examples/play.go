// Package examples reads the documents in docs and runs their examples against a real
// Waybook.
package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybook/waybook/e2e/launch"
)

// separator precedes the output of each example.
const separator = "\n@@@ example\n"

// Play runs the examples of a document in one shell and compares their output with the document. They
// find standalone and the programs in the folder tools, which may be empty. Play returns their number.
func Play(t *testing.T, document, tools string) int {
	t.Helper()
	Need(t, "bash")
	all, err := examples(Docs + document)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := launch.Build(folder, launch.AsTested, "github.com/waybook/waybook/standalone"); err != nil {
		t.Fatal(err)
	}
	// The examples find the gRPC port at its default address, below their folder.
	waybook := launch.Start(t, filepath.Join(folder, "standalone"), filepath.Join(folder, "waybook-data"), "-grpc=")
	place := strings.NewReplacer("127.0.0.1:8080", waybook.HTTP)

	script := "set -u\n"
	var run []example
	for _, each := range all {
		code := place.Replace(each.Text)
		switch each.Language {
		case "go":
			code = goRun(t, code)
		case "php":
			if !has("php") {
				t.Run(fmt.Sprintf("%s:%d", document, each.Line), func(t *testing.T) { Need(t, "php") })
				continue
			}
			code = "php " + write(t, "example.php", code) + "\n"
		}
		script += fmt.Sprintf("printf '%%s' '%s'\n%s", separator, code)
		run = append(run, each)
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir = folder
	path := strings.Join([]string{tools, folder, os.Getenv("PATH")}, string(filepath.ListSeparator))
	shell.Env = append(os.Environ(), "PATH="+path, "NO_PROXY=127.0.0.1")
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	compare(t, document, run, string(output))
	return len(all)
}

// compare compares the output of the examples with their document.
func compare(t *testing.T, document string, run []example, output string) {
	t.Helper()
	printed := strings.Split(output, separator)[1:]
	if len(printed) != len(run) {
		t.Fatalf("%d of %d examples ran:\n%s", len(printed), len(run), output)
	}
	for i, each := range run {
		if each.printed == nil {
			if strings.Contains(printed[i], "ERROR") || strings.Contains(printed[i], "FAILED") {
				t.Errorf("%s:%d fails:\n%s", document, each.Line, printed[i])
			}
			continue
		}
		if diff := cmp.Diff(masked(*each.printed), masked(printed[i])); diff != "" {
			t.Errorf("%s:%d prints other text than documented (-documented +printed):\n%s\nentire output:\n%s", document, each.Line, diff, printed[i])
		}
	}
}

// goRun returns the shell command that runs a Go program for the demo user. The program is built in
// this module.
func goRun(t *testing.T, code string) string {
	t.Helper()
	source := write(t, "main.go", code)
	unformatted, err := exec.CommandContext(t.Context(), "gofmt", "-l", source).CombinedOutput()
	if err != nil || len(unformatted) > 0 {
		t.Errorf("the Go example is not formatted: %v\n%s", err, unformatted)
	}
	program := filepath.Join(t.TempDir(), "example")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("the Go example: %v\n%s", err, output)
	}
	return program + ` "$(sed 's/id=\([0-9]*\);.*/\1/' waybook-data/demo-cookie)"` + "\n"
}

// write writes a file for an example and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Need skips the test if a program is not installed.
func Need(t *testing.T, program string) {
	t.Helper()
	if !has(program) {
		t.Skipf("SKIPPED: %s is not installed", program)
	}
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Docs is the folder of the documents, for tests two folders below the root.
const Docs = "../../docs/"

// Block is a fenced block of a document.
type Block struct {
	// Line is its first line in the document.
	Line int
	// Language is the info string of the fence, such as sh.
	Language string
	Text     string
}

// Blocks returns the blocks of a document.
func Blocks(path string) ([]Block, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found []Block
	var open *Block
	for number, line := range strings.Split(string(document), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &Block{Line: number + 1, Language: fence}
		case isFence:
			found, open = append(found, *open), nil
		case open != nil:
			open.Text += line + "\n"
		}
	}
	return found, nil
}

// example is a block of code with its documented output.
type example struct {
	Block
	// printed is nil if the document does not show the output.
	printed *string
}

// examples returns the examples of a document: every block of sh, go or php, with a following block
// of text or xml as its output. Blocks of json are data, not examples.
func examples(path string) ([]example, error) {
	blocks, err := Blocks(path)
	if err != nil {
		return nil, err
	}
	var found []example
	for _, block := range blocks {
		switch block.Language {
		case "sh", "go", "php":
			found = append(found, example{Block: block})
		case "text", "xml":
			if len(found) == 0 || found[len(found)-1].printed != nil {
				return nil, fmt.Errorf("%s:%d: an output without an example", path, block.Line)
			}
			found[len(found)-1].printed = &block.Text
		case "json":
		default:
			return nil, fmt.Errorf("%s:%d: a block of the unsupported language %q", path, block.Line, block.Language)
		}
	}
	return found, nil
}

// varying matches text that differs from run to run: identifiers, secrets, days and times.
var varying = regexp.MustCompile(`\b[0-9]{13,16}\b|\b(?:[0-9a-f]{16}){1,4}\b|` +
	`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?|` +
	`<updateDate><year>\d{4}</year><month>\d\d</month><day>\d\d</day>`)

// spaces matches blanks, which protojson varies on purpose.
var spaces = regexp.MustCompile(`[ \t]+`)

// masked replaces text that differs from run to run.
func masked(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(varying.ReplaceAllString(text, "…"), " "))
}
