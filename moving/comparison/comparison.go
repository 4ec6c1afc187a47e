// Package comparison compares two XML replies to the same request, of an old server and a new one,
// as clients that follow the legacy contract read them. It knows neither HTTP nor the operations.
//
// A difference is allowed if no such client can rely on what differs. Each kind of allowed
// difference has a Rule, so that a verdict names what it forgave.
package comparison

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/text"
)

// Outcome says how two replies relate.
type Outcome int

// The outcomes.
const (
	// Same: the replies have the same elements with the same texts, in the same order.
	Same Outcome = iota
	// Allowed: they differ, and every difference is one that a Rule allows.
	Allowed
	// Different: clients can see a difference.
	Different
)

// String returns the outcome's name for programs.
func (o Outcome) String() string {
	return [...]string{Same: "same", Allowed: "allowed", Different: "different"}[o]
}

// Verdict is the result of one comparison.
type Verdict struct {
	Outcome Outcome
	// Rules are the rules that allowed a difference, each once. A Different verdict may have
	// some, too.
	Rules []Rule
	// Differences are the first differences that no rule allows; at most maxDifferences.
	Differences []Difference
	// Count is the number of all of them.
	Count int
}

// Difference is one place where the replies differ.
type Difference struct {
	// Path names the element, such as response/comments/comment2/time. The new reply may have
	// the same item of a list elsewhere.
	Path string
	// What says what differs.
	What string
	// Old and New are the beginnings of the two texts; empty for a missing element.
	Old, New string
}

// String describes the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s (old %q, new %q)", d.Path, d.What, d.Old, d.New)
}

const (
	maxDifferences = 20
	// maxShown is the most bytes that a Difference has of a text.
	maxShown = 200
)

// Options configure a Comparer.
type Options struct {
	// Strict are rules that allow nothing.
	Strict []Rule
	// Zone is the time zone of times that name none. Both servers have the same.
	Zone *time.Location
	// MaxElements bounds the elements of one reply. It bounds the memory of a comparison: an
	// element takes about 150 bytes and its text.
	MaxElements int
	// MaxPairs bounds the pairs of identifiers that are learned; a pair takes about 300 bytes.
	// Further pairs are allowed without being kept.
	MaxPairs int
}

// Comparer compares replies. It learns which identifiers of the old server belong to which of the
// new. It is safe for concurrent use.
type Comparer struct {
	options Options
	strict  ruleSet
	pairs   pairs
}

// New returns a Comparer that knows no pairs of identifiers.
func New(options Options) *Comparer {
	c := &Comparer{options: options}
	for _, rule := range options.Strict {
		c.strict.add(rule)
	}
	c.pairs.limit = options.MaxPairs
	return c
}

// Parse reads a reply within the limits of the Comparer.
func (c *Comparer) Parse(reply []byte) (*Element, error) { return parse(reply, c.options.MaxElements) }

// Compare compares two replies to the same request.
func (c *Comparer) Compare(old, new *Element) Verdict {
	w := walk{comparer: c}
	w.root(old, new)
	v := Verdict{Rules: w.rules.list(), Differences: w.differences, Count: w.count}
	switch {
	case w.count > 0:
		v.Outcome = Different
	case len(v.Rules) > 0:
		v.Outcome = Allowed
	}
	if v.Outcome != Different {
		// A reply that differs may be of other content, whose identifiers are no pairs.
		c.pairs.learn(w.learned)
	}
	return v
}

// Rule names a kind of allowed differences.
type Rule int

// The rules. Rules lists them with their meanings.
const (
	RuleIDs Rule = iota
	RuleDates
	RuleNumbers
	RuleOrder
	RuleListOrder
	RuleImageHosts
	RuleOptional
	RulePhotoNames
	RuleFailureText
	RuleWhiteSpace
	RuleAttributes
	// RuleCount is the number of rules.
	RuleCount
)

// RuleEntry explains a rule to operators.
type RuleEntry struct {
	Rule Rule
	// Name is the name for programs.
	Name string
	// Forgives says which differences the rule allows, and Sees which ones of the same elements
	// it does not.
	Forgives, Sees string
}

// Rules returns all rules in their order.
func Rules() []RuleEntry {
	return []RuleEntry{
		{RuleIDs, "ids", "another identifier of an album, entry, landmark, photo or comment, if the two always stand for each other",
			"an identifier that stood for another one before; every identifier of a user"},
		{RuleDates, "dates", "another form of a time or of a part of a date; a part of a time, such as the seconds, that one reply lacks",
			"another moment, in the parts that both have"},
		{RuleNumbers, "numbers", "another form of a number, such as 25.0330 and 25.033; a coordinate that is rounded, by up to 5 cm", "another number"},
		{RuleOrder, "order", "another order of the fields of an element, which clients find by name", "a missing or additional field"},
		{RuleListOrder, "list-order", "another order of albums, entries, landmarks, photos and comments, which the legacy contract leaves open",
			"a missing, additional or changed item; another order of the choices of a vote"},
		{RuleImageHosts, "image-hosts", "another scheme, host or port in the address of an image, or none", "another path or query"},
		{RuleOptional, "optional", "an optional field that is absent in one reply, and empty or has its default in the other",
			"an optional field with another value; an absent field that is not optional"},
		{RulePhotoNames, "photo-names", "a landmark's photo whose address the old server names photo or photoPath, and the new one both", "another address"},
		{RuleFailureText, "failure-text", "another text of info, or none, where both replies are FAILED", "SUCCESS where the other is FAILED"},
		{RuleWhiteSpace, "white-space", "white space at the ends of a text; CR LF, CR and LF as a line break", "white space within a text"},
		{RuleAttributes, "attributes", "attributes of elements, of which the legacy contract has none", "nothing else: attributes never count"},
	}
}

// String returns the rule's name for programs.
func (r Rule) String() string { return Rules()[r].Name }

// ParseRule returns the rule of a name.
func ParseRule(name string) (Rule, error) {
	var names []string
	for _, each := range Rules() {
		if each.Name == name {
			return each.Rule, nil
		}
		names = append(names, each.Name)
	}
	return 0, fmt.Errorf("there is no rule %q; the rules are %s", name, strings.Join(names, ", "))
}

// ruleSet is a set of rules.
type ruleSet uint32

func (s *ruleSet) add(rule Rule)     { *s |= 1 << rule }
func (s ruleSet) has(rule Rule) bool { return s&(1<<rule) != 0 }

func (s ruleSet) list() (rules []Rule) {
	for rule := range RuleCount {
		if s.has(rule) {
			rules = append(rules, rule)
		}
	}
	return slices.Clip(rules)
}

// shown returns the beginning of a text.
func shown(s string) string { return text.Beginning(s, maxShown) }
