package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A site is one mutant: a place in a source and what is wrong there.
type site struct {
	number     int    // equal in all programs of a run
	dir, where string // the package's folder; file:line
	fault      string
}

func (s site) place() string { return filepath.Join(s.dir, s.where) }

func (s site) String() string { return s.place() + ": " + s.fault }

// switches is the file that each mutated package gets. MUTANT selects a mutant; MUTANT_REACHED names a file to
// which the mutants are appended that a test could meet: a bound, if the two sides are equal.
const switches = `package %s

import (
	"cmp"
	"os"
	"strconv"
	"sync"
)

var (
	mutantNumber, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantFile      = os.Getenv("MUTANT_REACHED")
	mutantSeen      sync.Map
)

func mutantOn(n int) bool {
	if n == 0 {
		return false // its mutant does not compile
	}
	if mutantFile != "" {
		if _, again := mutantSeen.LoadOrStore(n, true); !again {
			file, err := os.OpenFile(mutantFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = file.WriteString(strconv.Itoa(n) + "\n")
			}
			if err != nil || file.Close() != nil {
				panic("cannot record that a mutant is reached")
			}
		}
	}
	return n == mutantNumber
}

func mutantError(n int, err error) error {
	if mutantOn(n) {
		return nil
	}
	return err
}

func mutantLess[T cmp.Ordered](n int, a, b T) bool    { return a < b || a == b && mutantOn(n) }
func mutantGreater[T cmp.Ordered](n int, a, b T) bool { return a > b || a == b && mutantOn(n) }
func mutantAtMost[T cmp.Ordered](n int, a, b T) bool  { return a <= b && !(a == b && mutantOn(n)) }
func mutantAtLeast[T cmp.Ordered](n int, a, b T) bool { return a >= b && !(a == b && mutantOn(n)) }
`

var bounds = map[token.Token]string{
	token.LSS: "mutantLess", token.GTR: "mutantGreater", token.LEQ: "mutantAtMost", token.GEQ: "mutantAtLeast",
}

// planter inserts the mutants of one file. Lines keep their numbers.
type planter struct {
	positions *token.FileSet
	source    []byte
	edits     []edit
	sites     *[]site
	dir       string
	left      map[string]bool
}

// edit replaces length bytes at an offset. Of edits at one offset, the outer comes first.
type edit struct {
	at, length int
	text       string
	isEnd      bool
}

// plant returns a source with all mutants, each behind a switch. left has the places of mutants to leave out, because
// they do not compile. A generated source gets none.
func plant(file, dir string, sites *[]site, left map[string]bool) (string, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	p := &planter{positions: token.NewFileSet(), source: source, sites: sites, dir: dir, left: left}
	parsed, err := parser.ParseFile(p.positions, file, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || ast.IsGenerated(parsed) {
		return string(source), err
	}
	for _, declaration := range parsed.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
			ast.Inspect(function.Body, p.visit)
		}
	}
	return p.text(), nil
}

// add returns the number of a new mutant, or 0 if it is left out.
func (p *planter) add(at ast.Node, fault string) int {
	position := p.positions.Position(at.Pos())
	where := fmt.Sprintf("%s:%d", filepath.Base(position.Filename), position.Line)
	made := site{number: len(*p.sites) + 1, dir: p.dir, where: where, fault: fault}
	*p.sites = append(*p.sites, made)
	if p.left[made.place()] {
		return 0
	}
	return made.number
}

func (p *planter) offset(pos token.Pos) int { return p.positions.Position(pos).Offset }

func (p *planter) code(node ast.Node) string {
	text := strings.Join(strings.Fields(string(p.source[p.offset(node.Pos()):p.offset(node.End())])), " ")
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "…"
	}
	return text
}

// wrap puts a node between two texts.
func (p *planter) wrap(node ast.Node, before, behind string) {
	p.edits = append(p.edits, edit{at: p.offset(node.Pos()), text: before}, edit{at: p.offset(node.End()), text: behind, isEnd: true})
}

func (p *planter) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.IfStmt:
		p.condition("if ", n.Cond)
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			for _, expression := range clause.(*ast.CaseClause).List {
				if n.Tag == nil {
					p.condition("case ", expression)
				}
			}
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			p.wrap(n.Cond, fmt.Sprintf("(!mutantOn(%d) && (", p.add(n.Cond, "never: for "+p.code(n.Cond))), "))")
		}
	case *ast.BinaryExpr:
		p.binary(n)
	case *ast.ReturnStmt:
		for _, result := range n.Results {
			if name, ok := result.(*ast.Ident); ok && name.Name == "err" {
				p.wrap(result, fmt.Sprintf("mutantError(%d, ", p.add(n, "no error: "+p.code(n))), ")")
			}
			if equal, ok := result.(*ast.BinaryExpr); ok && (equal.Op == token.EQL || equal.Op == token.NEQ) {
				p.condition("return ", result)
			}
		}
	case *ast.BlockStmt:
		p.calls(n.List)
	case *ast.CaseClause:
		p.calls(n.Body)
	case *ast.CommClause:
		p.calls(n.Body)
	}
	return true
}

func (p *planter) condition(keyword string, n ast.Expr) {
	always, never := p.add(n, "always: "+keyword+p.code(n)), p.add(n, "never: "+keyword+p.code(n))
	p.wrap(n, fmt.Sprintf("(mutantOn(%d) || !mutantOn(%d) && (", always, never), "))")
}

func (p *planter) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		form := "(!mutantOn(%d) && ("
		if n.Op == token.LAND {
			form = "(mutantOn(%d) || ("
		}
		for _, side := range []ast.Expr{n.X, n.Y} {
			p.wrap(side, fmt.Sprintf(form, p.add(side, "without: "+p.code(side))), "))")
		}
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if number := p.add(n, "bound: "+p.code(n)); number != 0 {
			p.wrap(n, fmt.Sprintf("%s(%d, ", bounds[n.Op], number), ")")
			p.edits = append(p.edits, edit{at: p.offset(n.OpPos), length: len(n.Op.String()), text: ","})
		}
	}
}

// calls takes out statements that only call.
func (p *planter) calls(list []ast.Stmt) {
	for _, statement := range list {
		call, _ := statement.(*ast.DeferStmt)
		plain, _ := statement.(*ast.ExprStmt)
		if call == nil && (plain == nil || !isCall(plain.X)) {
			continue
		}
		p.wrap(statement, fmt.Sprintf("if !mutantOn(%d) { ", p.add(statement, "no call: "+p.code(statement))), " }")
	}
}

func isCall(expression ast.Expr) bool {
	call, ok := expression.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return !ok || name.Name != "panic" // which ends a function that returns a value
}

func (p *planter) text() string {
	// Edits are in the order of ast.Inspect, outer before inner; where two end at one offset, the inner ends first.
	for i := range p.edits {
		if p.edits[i].isEnd {
			p.edits[i].length = -i // only for the order
		}
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int {
		if a.at != b.at {
			return a.at - b.at
		}
		if a.isEnd != b.isEnd {
			if a.isEnd {
				return -1
			}
			return 1
		}
		if a.isEnd {
			return a.length - b.length
		}
		return 0
	})
	var text strings.Builder
	done := 0
	for _, e := range p.edits {
		text.Write(p.source[done:e.at])
		text.WriteString(e.text)
		done = e.at
		if !e.isEnd {
			done += e.length
		}
	}
	text.Write(p.source[done:])
	return text.String()
}
