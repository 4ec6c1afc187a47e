package movefile

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// form is how a value is written.
type form int

const (
	formText    form = iota // a string
	formID                  // a string, or a positive integer
	formInteger             // an integer
	formDecimal             // a number
	formMoment              // a time, or seconds since 1970
	formDay                 // YYYY-MM-DD
	formObject              // an object
	formList                // an array of objects
)

// rule is what a value must be.
type rule struct {
	form form
	// min and max are characters of a text, values of a number, or items of a list. A text
	// without max has maxBytes.
	min, max int64
	// maxBytes bounds a text in UTF-8; 0 for no bound of its own.
	maxBytes int
	// needsVisible says that a text has at least one visible character.
	needsVisible bool
	// pattern must match a text; patternText says so to people.
	pattern, patternText string
	// other allows a text that matches otherPattern instead.
	other        Allowance
	otherPattern string
	// words are the only texts; word takes the place of another one, as was allowed.
	words []string
	word  string
	// hasStandard says that standard takes the place of a bad number, as was allowed.
	hasStandard bool
	standard    int64
	// long allows a text of more characters, or of more bytes if the rule counts these. short allows
	// an empty or invisible one.
	long, short Allowance
	longMax     int64
}

// Limits of Waybook's contracts.
const (
	maxIDBytes = 100
	maxAmount  = 1_000_000_000
	maxCount   = 1_000_000_000_000
)

// rules returns the rules that the tags name, with the numbers of docs/contract.md and of the
// requests that move records in.
func rules() map[string]rule {
	title := func(r rule) rule {
		r.min, r.long, r.longMax, r.short = 1, LongTitles, maxLongTitle, EmptyTexts
		return r
	}
	text := func(r rule) rule {
		r.max, r.long, r.longMax = 2000, LongTexts, maxLongText
		return r
	}
	address := func(r rule) rule {
		r.maxBytes, r.long, r.longMax = 2000, LongAddresses, maxLongAddress
		return r
	}
	return map[string]rule{
		"id":       {form: formID, maxBytes: maxIDBytes},
		"userRef":  {form: formID, max: MaxUser},
		"nickname": title(rule{max: 100, needsVisible: true}),
		"email": {
			maxBytes: 254, pattern: `^[^@\s]+@[^@\s]+$`, patternText: "this is no email address", other: LoginNames, otherPattern: `^[^#\s](.*\S)?$`,
		},
		"passwordHash": {maxBytes: 300, pattern: passwordPattern, patternText: "this is none of the known forms of a hash", other: OtherPasswords, otherPattern: `.`},
		"idrand":       {pattern: `^[0-9a-f]{32}$`, patternText: "this is not 32 lowercase hexadecimal digits"},
		"title":        title(rule{max: 200}),
		"landmarkName": title(rule{max: 200, needsVisible: true}),
		"guestName":    title(rule{max: 200}),
		"question":     title(rule{max: 500}),
		"choiceText":   title(rule{max: 200}),
		"content":      {min: 1, max: 100_000, long: LongContents, longMax: maxLongContent, short: EmptyTexts},
		"comment":      text(rule{min: 1, short: EmptyTexts}),
		"reply":        text(rule{}),
		"description":  text(rule{}),
		"icon":         address(rule{}),
		"photoURL":     address(rule{min: 1, short: EmptyTexts}),
		"choices":      {form: formList, min: 2, max: 20},
		"vote":         {form: formObject},
		"lat":          {form: formDecimal, min: -90, max: 90, hasStandard: true, standard: 0},
		"lng":          {form: formDecimal, min: -180, max: 180, hasStandard: true, standard: 0},

		"albumCategory":    {form: formInteger, min: 1, max: 16, hasStandard: true, standard: 16},
		"landmarkCategory": {form: formInteger, min: 1, max: 5, hasStandard: true, standard: 4},
		"zoomLevel":        {form: formInteger, min: 0, max: 21, hasStandard: true, standard: 14},
		"mapType":          {form: formInteger, min: 1, max: 3, hasStandard: true, standard: 1},
		"choice":           {form: formInteger, min: 1, max: 20},
		"count":            {form: formInteger, min: 0, max: maxCount},
		"amount":           {form: formInteger, min: 0, max: maxAmount, hasStandard: true, standard: 0},

		"moment":    {form: formMoment},
		"day":       {form: formDay},
		"entryType": {words: EntryTypes(), word: "0_2"},
		"weather":   {words: Weathers(), word: "晴空萬里"},
	}
}

const passwordPattern = `^(\$argon2id\$|\$2[aby]\$|\$[PH1]\$|(md5|sha1|sha256|sha512)(-suffix|-twice)?\$)` +
	`|^([0-9a-fA-F]{40}|[0-9a-fA-F]{32}|[0-9a-fA-F]{64}|[0-9a-fA-F]{128})$` // #nosec G101 -- forms, no password

// EntryTypes returns the types of entries in the order of the contracts (rule 7.2).
func EntryTypes() []string {
	return []string{"0_0", "0_1", "0_2", "0_3", "0_4", "0_5", "0_6", "0_7", "0_8"}
}

// Weathers returns the weathers in the order of the contracts (rule 7.3).
func Weathers() []string {
	return []string{"晴空萬里", "狂風暴雨", "陰雨綿綿", "雨過天晴", "烏雲滿天", "大雪數日", "有彩虹"}
}

// plan says how the fields of a type are read.
type plan struct {
	of     reflect.Type
	fields []field
	// hasParent says that exactly one of the fields that are parents is given.
	hasParent bool
}

// field is a field of a type.
type field struct {
	name, doc string
	rule      rule
	// pattern and other are compiled from the rule; nil if it has none.
	pattern  *regexp.Regexp
	other    *regexp.Regexp
	index    int
	required bool
	isParent bool
	// object is the plan of an object, or of each item of a list.
	object *plan
}

// isOwner reports whether the field names the owner of an album, an entry or a landmark.
func (f *field) isOwner() bool { return f.required && (f.name == "owner_id" || f.name == "author_id") }

// planOf reads the tags of a type.
func planOf(of reflect.Type) *plan {
	all := rules()
	p := &plan{of: of}
	for i := range of.NumField() {
		declared := of.Field(i)
		name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
		ruleName, how, _ := strings.Cut(declared.Tag.Get("move"), ",")
		r, isKnown := all[ruleName]
		if !isKnown {
			panic(fmt.Sprintf("movefile: %s.%s has the unknown rule %q", of.Name(), declared.Name, ruleName))
		}
		f := field{name: name, doc: declared.Tag.Get("doc"), rule: r, index: i, required: how == "required", isParent: how == "parent"}
		if r.pattern != "" {
			f.pattern = regexp.MustCompile(r.pattern)
		}
		if r.other != "" {
			f.other = regexp.MustCompile(r.otherPattern)
		}
		if r.form == formObject || r.form == formList {
			f.object = planOf(declared.Type.Elem())
		}
		p.hasParent = p.hasParent || f.isParent
		p.fields = append(p.fields, f)
	}
	return p
}

// parents returns the names of the fields that are parents.
func (p *plan) parents() (names []string) {
	for _, f := range p.fields {
		if f.isParent {
			names = append(names, f.name)
		}
	}
	return names
}

// plans returns the plan of each kind.
func plans() map[Kind]*plan {
	all := map[Kind]*plan{}
	for _, each := range records() {
		all[each.Kind()] = planOf(reflect.TypeOf(each).Elem())
	}
	return all
}
