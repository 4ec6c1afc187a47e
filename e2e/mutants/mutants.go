// Package mutants plants faults in the sources of programs, each of which a test must find. e2e/mutate plants small
// ones of every kind; here are those that it cannot make, as patches.
package mutants

import (
	"bytes"
	"context"
	"encoding/json"
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
)

// root is the path of the workspace from the packages that use this one.
const root = "../.."

// Mutant is a fault.
type Mutant struct {
	// Name says which promise is broken. It is the name of a file in testdata/mutants.
	Name string
	// Package and Test name a test that fails with it, if the patch names one.
	Package, Test string

	number int
	patch  string
	paths  []string // of the sources that it changes, in the workspace
}

var (
	testLine   = regexp.MustCompile(`^Test: (\S+) (\S+)\n`)
	sourceLine = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`)
)

// Read reads testdata/mutants: patches as git diff -U1 makes them. A first line "Test: PACKAGE TEST" may name the test
// that fails.
func Read(t *testing.T) (mutants []*Mutant) {
	t.Helper()
	files, err := filepath.Glob("testdata/mutants/*.patch")
	if err != nil || files == nil {
		t.Fatalf("no patches: %v", err)
	}
	for i, file := range files {
		contents, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := &Mutant{Name: strings.TrimSuffix(filepath.Base(file), ".patch"), number: i + 1, patch: string(contents)}
		if named := testLine.FindStringSubmatch(m.patch); named != nil {
			m.Package, m.Test = named[1], named[2]
		}
		for _, source := range sourceLine.FindAllStringSubmatch(m.patch, -1) {
			m.paths = append(m.paths, source[1])
		}
		mutants = append(mutants, m)
	}
	return mutants
}

// patched returns a folder with copies of the sources, as the patch changes them.
func (m *Mutant) patched(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, path := range m.paths {
		contents, err := os.ReadFile(filepath.Join(root, path))
		if err == nil {
			err = os.MkdirAll(filepath.Join(folder, filepath.Dir(path)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, path), contents, 0o600) // #nosec G703 -- the patches are of this tree
		}
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "--whitespace=nowarn", "-")
	apply.Dir, apply.Stdin = folder, strings.NewReader(m.patch)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder)) // folder may be in a clone
	if output, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%s: the patch does not apply; make it anew: %v\n%s", m.Name, err, output)
	}
	return folder
}

// source is a Go file, whose functions a mutant may change.
type source struct {
	text      string
	parsed    *ast.File
	positions *token.FileSet
}

func readSource(t *testing.T, file string) source {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := source{text: string(text), positions: token.NewFileSet()}
	if s.parsed, err = parser.ParseFile(s.positions, file, text, parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	return s
}

// functions returns the functions in their order, and the text without them.
func (s source) functions() (all []*ast.FuncDecl, rest string) {
	rest = s.text
	for _, declaration := range s.parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			all = append(all, function)
			rest = strings.Replace(rest, s.between(function.Pos(), function.End()), "", 1)
		}
	}
	return all, rest
}

func (s source) between(from, to token.Pos) string {
	return s.text[s.positions.Position(from).Offset:s.positions.Position(to).Offset]
}

// Switched returns the sources in which the environment variable MUTANT selects a mutant, by their paths in
// the workspace. Each function that a mutant changes has a copy with the change, and calls it first.
func Switched(t *testing.T, mutants []*Mutant) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, m := range mutants {
		folder := m.patched(t)
		for _, path := range m.paths {
			was, is := readSource(t, filepath.Join(root, path)), readSource(t, filepath.Join(folder, path))
			if sources[path] == "" {
				sources[path] = was.text
			}
			sources[filepath.Join(filepath.Dir(path), "mutant_switch.go")] = "package " + was.parsed.Name.Name +
				"\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n"
			before, restBefore := was.functions()
			after, restAfter := is.functions()
			if was.text == is.text || len(before) != len(after) || restBefore != restAfter {
				t.Fatalf("%s: the patch changes nothing of %s, or more than the insides of functions", m.Name, path)
			}
			for i, function := range before {
				changed := is.between(after[i].Name.End(), after[i].End())
				if changed == was.between(function.Name.End(), function.End()) {
					continue
				}
				name := fmt.Sprintf("%s_mutant%d", function.Name.Name, m.number)
				head := was.between(function.Pos(), function.Body.Lbrace+1)
				sources[path] = strings.Replace(sources[path], head, head+callOf(function, name, m.number), 1) +
					"\n" + is.between(after[i].Pos(), after[i].Name.Pos()) + name + changed + "\n"
			}
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

// Tests are the tests of packages, built with all mutants.
type Tests struct {
	overlay, directory string
	mu                 sync.Mutex
	built              map[string]string
}

// Build writes the sources with all mutants. Run builds the tests of a package from them when it first needs them.
func Build(t *testing.T, mutants []*Mutant) *Tests {
	t.Helper()
	sources, built := Switched(t, mutants), &Tests{directory: t.TempDir(), built: map[string]string{}}
	replace := map[string]string{}
	for i, source := range slices.Sorted(maps.Keys(sources)) {
		absolute, err := filepath.Abs(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		replace[absolute] = filepath.Join(built.directory, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[absolute], []byte(sources[source]), 0o600); err != nil {
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

func (b *Tests) of(t *testing.T, pkg string) (program string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.built[pkg] == "" {
		b.built[pkg] = filepath.Join(b.directory, strings.ReplaceAll(pkg, "/", "-"))
		command := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", b.built[pkg], root+"/"+pkg)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("build the tests of %s: %v\n%s", pkg, err, output)
		}
	}
	return b.built[pkg]
}

// Run runs tests of a package with a mutant, and returns what they print and whether one failed. environment adds
// variables, and args are flags of the test program.
func (b *Tests) Run(t *testing.T, m *Mutant, pkg string, timeout time.Duration, environment []string, args ...string) (output string, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout+time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, b.of(t, pkg), append([]string{"-test.failfast", "-test.timeout=" + timeout.String()}, args...)...)
	command.Dir = filepath.Join(root, pkg)
	command.Env = append(append(os.Environ(), fmt.Sprintf("MUTANT=%d", m.number)), environment...)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	failed = command.Run() != nil
	return printed.String(), failed
}
