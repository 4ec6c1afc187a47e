// Package completion tells what may come next on a command line, from the tree of
// commands itself, and has the scripts that ask it from a shell. The scripts know
// nothing of the commands, so they need not be renewed when those change.
package completion

import (
	"embed"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed scripts
var scripts embed.FS

// Script is the script for a shell: bash, zsh or fish.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + shell)
	return string(text), err
}

// Candidate is a word that may come next.
type Candidate struct {
	Word, Help string
}

// Candidates returns what the last of some words may become; the others are before it
// on the command line. The result is empty when anything may come, such as a file.
func Candidates(model *kong.Application, words []string) []Candidate {
	words = joinEquals(words)
	if len(words) == 0 {
		words = []string{""}
	}
	place := position{node: model.Node}
	last := len(words) - 1
	for _, word := range words[:last] {
		place.pass(word)
	}
	var found []Candidate
	for _, candidate := range place.candidates(words[last]) {
		if strings.HasPrefix(candidate.Word, words[last]) {
			found = append(found, candidate)
		}
	}
	return found
}

// joinEquals makes one word of a flag, = and a value, which bash takes for three.
func joinEquals(words []string) []string {
	var joined []string
	for i := 0; i < len(words); i++ {
		if words[i] == "=" && len(joined) > 0 && strings.HasPrefix(joined[len(joined)-1], "--") {
			joined[len(joined)-1] += "="
			if i++; i < len(words) {
				joined[len(joined)-1] += words[i]
			}
			continue
		}
		joined = append(joined, words[i])
	}
	return joined
}

// position is a place on a command line.
type position struct {
	node *kong.Node
	// flag is the flag whose value comes next, if one does.
	flag *kong.Flag
	// arguments is how many of the node's arguments there were.
	arguments int
	// flagsEnded says that there was a --.
	flagsEnded bool
}

// pass goes past a word.
func (p *position) pass(word string) {
	switch {
	case p.flag != nil:
		p.flag = nil
	case p.flagsEnded:
		p.arguments++
	case word == "--":
		p.flagsEnded = true
	case strings.HasPrefix(word, "-") && word != "-":
		name, _, hasValue := strings.Cut(word, "=")
		if flag := p.find(name); flag != nil && !hasValue && !flag.IsBool() {
			p.flag = flag
		}
	default:
		for _, child := range p.node.Children {
			if child.Name == word {
				p.node = child
				return
			}
		}
		p.arguments++
	}
}

// candidates are the words that may come here, given how the word begins.
func (p *position) candidates(begun string) []Candidate {
	if p.flag != nil {
		return values(p.flag.Value, "")
	}
	if name, _, hasValue := strings.Cut(begun, "="); hasValue && strings.HasPrefix(name, "--") && !p.flagsEnded {
		if flag := p.find(name); flag != nil {
			return values(flag.Value, name+"=")
		}
		return nil
	}
	if strings.HasPrefix(begun, "-") && !p.flagsEnded {
		return p.flags()
	}
	var found []Candidate
	for _, child := range p.node.Children {
		if !child.Hidden {
			found = append(found, Candidate{child.Name, child.Help})
		}
	}
	if p.arguments < len(p.node.Positional) {
		found = append(found, values(p.node.Positional[p.arguments], "")...)
	}
	return found
}

// flags are the flags that the node takes, its own first.
func (p *position) flags() (found []Candidate) {
	groups := p.node.AllFlags(true)
	slices.Reverse(groups)
	for _, group := range groups {
		for _, flag := range group {
			found = append(found, Candidate{"--" + flag.Name, flag.Help})
		}
	}
	return found
}

// find finds a flag by its name with dashes.
func (p *position) find(name string) *kong.Flag {
	for _, group := range p.node.AllFlags(false) {
		for _, flag := range group {
			if name == "--"+flag.Name || flag.Short != 0 && name == "-"+string(flag.Short) {
				return flag
			}
		}
	}
	return nil
}

// values are the values that a flag or an argument may have, if they are few, each
// after a prefix.
func values(value *kong.Value, prefix string) (found []Candidate) {
	for _, word := range Words(value) {
		found = append(found, Candidate{Word: prefix + word})
	}
	return found
}

// Words are all that a value may be, if that is given: by the enum tag or by a method
// of its type.
func Words(value *kong.Value) []string {
	kind := value.Target.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem() // an optional value may be nil here
	}
	if worded, ok := reflect.Zero(kind).Interface().(interface{ Words() []string }); ok {
		return worded.Words()
	}
	if value.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(value.EnumSlice(), func(word string) bool { return word == "" })
}
