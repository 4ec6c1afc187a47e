// Package mutants plants small faults in the sources of programs, each of which a test must find.
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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is the path of the workspace from the packages that use this one.
const root = "../.."

// Mutant is a small fault, and a test that fails with it.
type Mutant struct {
	// Title is a file and the promise that is broken.
	Title string
	// Package and Test are the package and the name of the test.
	Package, Test string

	folder string
	number int
	hunks  []hunk
}

// hunk replaces a text, which is in the file once, in a function.
type hunk struct{ old, new string }

func (m *Mutant) file() string {
	file, _, _ := strings.Cut(m.Title, ": ")
	return path.Join(m.folder, file)
}

// Read reads a paragraph for each mutant: the title, whose file is in a folder of the workspace; lines that
// go, behind a minus, and lines that come, behind a plus; the test, behind ">".
func Read(t *testing.T, file, folder string) (mutants []*Mutant) {
	t.Helper()
	contents, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(contents)), "\n\n") {
		title, rest, _ := strings.Cut(paragraph, "\n")
		m := &Mutant{Title: title, folder: folder, number: len(mutants) + 1}
		before := byte(0)
		for line := range strings.SplitSeq(rest, "\n") {
			mark, text := line[0], line[1:]
			if mark == '-' && before != '-' {
				m.hunks = append(m.hunks, hunk{})
			}
			last := &m.hunks[len(m.hunks)-1]
			switch {
			case mark == '>':
				m.Package, m.Test, _ = strings.Cut(strings.TrimSpace(text), " ")
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

// Switched returns the sources in which the environment variable MUTANT selects a mutant, by their paths in
// the workspace. Each function that a mutant changes has a copy with the change, and calls it first.
func Switched(t *testing.T, mutants []*Mutant) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, m := range mutants {
		source := m.file()
		original, err := os.ReadFile(filepath.Join(root, source))
		if err != nil {
			t.Fatal(err)
		}
		positions := token.NewFileSet()
		parsed, err := parser.ParseFile(positions, source, original, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if sources[source] == "" {
			sources[source] = string(original)
		}
		sources[filepath.Join(filepath.Dir(source), "mutant_switch.go")] = "package " + parsed.Name.Name +
			"\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(\"MUTANT\"))\n"
		changed := map[*ast.FuncDecl]string{}
		offset := func(pos token.Pos) int { return positions.Position(pos).Offset }
		for _, h := range m.hunks {
			if count := strings.Count(string(original), h.old); count != 1 {
				t.Fatalf("%s: the file has this text %d times, want once; describe the mutant anew:\n%s", m.Title, count, h.old)
			}
			at := strings.Index(string(original), h.old)
			n := slices.IndexFunc(parsed.Decls, func(d ast.Decl) bool {
				_, isFunction := d.(*ast.FuncDecl)
				return isFunction && offset(d.Pos()) <= at && at < offset(d.End())
			})
			if n < 0 {
				t.Fatalf("%s: this text is in no function:\n%s", m.Title, h.old)
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
			sources[source] = strings.Replace(sources[source], head, head+callOf(function, name, m.number), 1)
			before, behind := offset(function.Name.Pos())-offset(function.Pos()), offset(function.Name.End())-offset(function.Pos())
			sources[source] += "\n" + text[:before] + name + text[behind:] + "\n"
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

// Write writes mutants with the tests that fail with them.
func Write(t *testing.T, file string, mutants []*Mutant) {
	t.Helper()
	var paragraphs []string
	for _, m := range mutants {
		lines := []string{m.Title}
		for _, h := range m.hunks {
			lines = append(lines, "-"+strings.ReplaceAll(h.old, "\n", "\n-"), "+"+strings.ReplaceAll(h.new, "\n", "\n+"))
		}
		if m.Test != "" {
			lines = append(lines, "> "+m.Package+" "+m.Test)
		}
		paragraphs = append(paragraphs, strings.Join(lines, "\n"))
	}
	if err := os.WriteFile(file, []byte(strings.Join(paragraphs, "\n\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
