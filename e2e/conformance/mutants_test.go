package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/longform"
)

// mutantsVariable selects the mutants that run in the long form: a regular expression, which matches the
// first line of a mutant. Without it all run.
const mutantsVariable = "WAYBOOK_MUTANTS"

const mutantsFile, docstoreFolder = "testdata/mutants.txt", "internal/docstore"

var update = flag.Bool("update", false, "looks for a test that fails with each mutant whose own does not, and writes it down")

// mutant is a small fault in the storage port or in one of its engines, and a test that fails with it.
type mutant struct {
	// title is the file in docstoreFolder, and the promise that is broken. number is that of its line.
	title  string
	number int
	hunks  []hunk
	// pkg and test are the package and the name of the test.
	pkg, test string
}

// hunk replaces a text, which is in the file once, in a function.
type hunk struct{ old, new string }

func (m *mutant) file() string {
	file, _, _ := strings.Cut(m.title, ": ")
	return docstoreFolder + "/" + file
}

// readMutants reads a paragraph for each mutant: the title; lines that go, behind a minus, and lines that
// come, behind a plus; the test, behind ">".
func readMutants(t *testing.T) (mutants []*mutant) {
	t.Helper()
	contents, err := os.ReadFile(mutantsFile)
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(contents)), "\n\n") {
		title, rest, _ := strings.Cut(paragraph, "\n")
		m := &mutant{title: title, number: len(mutants) + 1}
		before := byte(0)
		for line := range strings.SplitSeq(rest, "\n") {
			mark, text := line[0], line[1:]
			if mark == '-' && before != '-' {
				m.hunks = append(m.hunks, hunk{})
			}
			last := &m.hunks[len(m.hunks)-1]
			switch {
			case mark == '>':
				m.pkg, m.test, _ = strings.Cut(strings.TrimSpace(text), " ")
			case mark == '-' && before == '-':
				last.old += "\n" + text
			case mark == '-':
				last.old = text
			case mark == '+' && before == '+':
				last.new += "\n" + text
			case mark == '+':
				last.new = text
			}
			before = mark
		}
		mutants = append(mutants, m)
	}
	return mutants
}

// switched returns the sources in which the environment variable MUTANT selects a mutant, by their paths in
// the workspace. Each function that a mutant changes has a copy with the change, and calls it first.
func switched(t *testing.T, mutants []*mutant) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, m := range mutants {
		path := m.file()
		original, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, path, original, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if sources[path] == "" {
			sources[path] = string(original)
		}
		sources[filepath.Join(filepath.Dir(path), "mutant_switch.go")] = "package " + parsed.Name.Name +
			"\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n"
		changed := map[*ast.FuncDecl]string{}
		offset := func(pos token.Pos) int { return positions.Position(pos).Offset }
		for _, h := range m.hunks {
			if count := strings.Count(string(original), h.old); count != 1 {
				t.Fatalf("%s: the file has this text %d times, want once; describe the mutant anew:\n%s", m.title, count, h.old)
			}
			at := strings.Index(string(original), h.old)
			n := slices.IndexFunc(parsed.Decls, func(d ast.Decl) bool {
				_, isFunction := d.(*ast.FuncDecl)
				return isFunction && offset(d.Pos()) <= at && at < offset(d.End())
			})
			if n < 0 {
				t.Fatalf("%s: this text is in no function:\n%s", m.title, h.old)
			}
			function := parsed.Decls[n].(*ast.FuncDecl)
			if changed[function] == "" {
				changed[function] = string(original[offset(function.Pos()):offset(function.End())])
			}
			changed[function] = strings.Replace(changed[function], h.old, h.new, 1)
		}
		for function, text := range changed {
			name := fmt.Sprintf("%s_mutant%d", function.Name.Name, m.number)
			head := string(original[offset(function.Pos()) : offset(function.Body.Lbrace)+1])
			sources[path] = strings.Replace(sources[path], head, head+callOf(function, name, m.number), 1)
			before, behind := offset(function.Name.Pos())-offset(function.Pos()), offset(function.Name.End())-offset(function.Pos())
			sources[path] += "\n" + text[:before] + name + text[behind:] + "\n"
		}
	}
	return sources
}

// callOf returns the statement that calls a copy of a function in its place.
func callOf(function *ast.FuncDecl, name string, number int) string {
	var arguments []string
	for _, parameter := range function.Type.Params.List {
		for _, each := range parameter.Names {
			arguments = append(arguments, each.Name)
		}
		if _, isVariadic := parameter.Type.(*ast.Ellipsis); isVariadic {
			arguments[len(arguments)-1] += "..."
		}
	}
	call := name + "(" + strings.Join(arguments, ", ") + ")"
	if function.Recv != nil {
		call = function.Recv.List[0].Names[0].Name + "." + call
	}
	if function.Type.Results == nil {
		return fmt.Sprintf(" if mutantNumber == %d { %s; return };", number, call)
	}
	return fmt.Sprintf(" if mutantNumber == %d { return %s };", number, call)
}

// tests are the tests of packages, built with all mutants.
type tests struct {
	overlay, directory string
	mu                 sync.Mutex
	built              map[string]string
}

func buildWith(t *testing.T, sources map[string]string) *tests {
	t.Helper()
	built := &tests{directory: t.TempDir(), built: map[string]string{}}
	replace := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(sources)) {
		absolute, err := filepath.Abs(filepath.Join("../..", path))
		if err != nil {
			t.Fatal(err)
		}
		replace[absolute] = filepath.Join(built.directory, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[absolute], []byte(sources[path]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	built.overlay = filepath.Join(built.directory, "overlay.json")
	if err := os.WriteFile(built.overlay, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return built
}

func (b *tests) of(t *testing.T, pkg string) (program string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built[pkg] == "" {
		b.built[pkg] = filepath.Join(b.directory, strings.ReplaceAll(pkg, "/", "-"))
		command := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", b.built[pkg], "../../"+pkg)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("build the tests of %s: %v\n%s", pkg, err, output)
		}
	}
	return b.built[pkg]
}

// A mutant may make a test wait for ever. testTimeout is longer than any test takes, and packageTimeout
// longer than those of a package.
const testTimeout, packageTimeout = 20 * time.Second, 2 * time.Minute

// failing runs the tests of a package, or one of them, with a mutant. It returns the name of one that
// fails, or nothing.
func (b *tests) failing(t *testing.T, m *mutant, pkg, test string) (name string) {
	t.Helper()
	timeout, form := packageTimeout, ""
	if test != "" {
		timeout, form = testTimeout, "1" // the short form lacks some of the tests
	}
	args := []string{"-test.failfast", "-test.v", "-test.timeout=" + timeout.String()}
	if test != "" {
		var pattern []string
		for part := range strings.SplitSeq(test, "/") {
			pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
		}
		args = append(args, "-test.run="+strings.Join(pattern, "/"))
	}
	if slices.Contains([]string{"embedded", "keys", "conformance"}, filepath.Base(pkg)) { // those that use rapid
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout+time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, b.of(t, pkg), args...)
	command.Dir = filepath.Join("../..", pkg)
	command.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", m.number), "WAYBOOK_LONG="+form)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if command.Run() == nil {
		return ""
	}
	// The innermost test has the longest name. After a panic only the one that ran last is known.
	for _, found := range regexp.MustCompile(`--- FAIL: (\S+)`).FindAllStringSubmatch(output.String(), -1) {
		if len(found[1]) > len(name) {
			name = found[1]
		}
	}
	if began := regexp.MustCompile(`=== RUN +(\S+)`).FindAllStringSubmatch(output.String(), -1); name == "" && began != nil {
		name = began[len(began)-1][1]
	}
	if name == "" {
		t.Fatalf("no test ran:\n%s", output.String())
	}
	return name
}

func TestEveryMutantIsFoundInItsSource(t *testing.T) {
	mutants := readMutants(t)
	switched(t, mutants)
	for _, m := range mutants {
		if m.test == "" {
			t.Errorf("no test is named that fails with %s", m.title)
		}
	}
}

func TestNoMutantSurvives(t *testing.T) {
	longform.Only(t)
	chosen, err := regexp.Compile(os.Getenv(mutantsVariable))
	if err != nil {
		t.Fatal(err)
	}
	mutants := readMutants(t)
	built := buildWith(t, switched(t, mutants))
	t.Cleanup(func() { // when all have run
		if *update {
			writeMutants(t, mutants)
		}
	})
	for _, m := range mutants {
		if !chosen.MatchString(m.title) {
			continue
		}
		t.Run(m.title, func(t *testing.T) {
			t.Parallel()
			if m.test != "" && built.failing(t, m, m.pkg, m.test) != "" {
				return
			}
			if !*update {
				t.Fatalf("%s of %s does not fail", m.test, m.pkg)
			}
			m.pkg, m.test = "", ""
			for _, pkg := range packagesFor(m) {
				if found := built.failing(t, m, pkg, ""); found != "" {
					m.pkg, m.test = pkg, found
					return
				}
			}
			t.Error("no test fails")
		})
	}
}

// packagesFor returns the packages whose tests may fail with a mutant.
func packagesFor(m *mutant) []string {
	if strings.HasPrefix(m.title, "mongo/") {
		return []string{docstoreFolder + "/mongo", "e2e/conformance", "e2e/mongowire", "e2e/sharding"}
	}
	return []string{docstoreFolder + "/embedded", docstoreFolder, docstoreFolder + "/keys", "e2e/mongowire"}
}

// writeMutants writes the mutants with the tests that fail with them.
func writeMutants(t *testing.T, mutants []*mutant) {
	t.Helper()
	var paragraphs []string
	for _, m := range mutants {
		lines := []string{m.title}
		for _, h := range m.hunks {
			lines = append(lines, "-"+strings.ReplaceAll(h.old, "\n", "\n-"), "+"+strings.ReplaceAll(h.new, "\n", "\n+"))
		}
		if m.test != "" {
			lines = append(lines, "> "+m.pkg+" "+m.test)
		}
		paragraphs = append(paragraphs, strings.Join(lines, "\n"))
	}
	if err := os.WriteFile(mutantsFile, []byte(strings.Join(paragraphs, "\n\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
