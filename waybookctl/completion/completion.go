// Package completion computes the candidates for the next word of a command line from the tree of
// commands. It also holds the shell scripts that ask for them. The scripts do not depend on the
// commands, so they stay valid when the commands change.
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

// Script returns the script for a shell: bash, zsh or fish.
func Script(shell string) (string, error) {
	text, err := scripts.ReadFile("scripts/" + shell)
	return string(text), err
}

// Candidate is a word that may come next.
type Candidate struct {
	Word, Help string
}

// Candidates returns the possible completions of the last word; the other words precede it on the
// command line. The result is empty when any text is allowed, such as a file name.
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
	return slices.DeleteFunc(place.candidates(words[last]), func(each Candidate) bool {
		return !strings.HasPrefix(each.Word, words[last])
	})
}

// joinEquals joins a flag, = and a value into one word; bash splits them into three.
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

// position is a position on a command line.
type position struct {
	node *kong.Node
	// flag is the flag that needs its value next, if any.
	flag *kong.Flag
	// arguments counts the node's arguments so far.
	arguments int
	// flagsEnded reports that the command line had a --.
	flagsEnded bool
}

// pass advances past a word.
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

// candidates returns the words that may follow, given how the word begins.
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

// flags returns the flags that the node accepts, its own first.
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

// find returns the flag with a name, dashes included.
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

// values returns the values that a flag or an argument may have, each after prefix. It is empty
// unless they are known.
func values(value *kong.Value, prefix string) (found []Candidate) {
	for _, word := range Words(value) {
		found = append(found, Candidate{Word: prefix + word})
	}
	return found
}

// Words returns the allowed values of a flag or an argument, from its tags words and enum or from its
// type's Words method. It is empty when there is none.
func Words(value *kong.Value) []string {
	kind := value.Target.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem() // an optional value may be nil here
	}
	if worded, ok := reflect.Zero(kind).Interface().(interface{ Words() []string }); ok {
		return worded.Words()
	}
	if words := value.Tag.Get("words"); words != "" {
		return strings.Split(words, ",")
	}
	if value.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(value.EnumSlice(), func(word string) bool { return word == "" })
}
