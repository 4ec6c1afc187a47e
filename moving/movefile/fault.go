package movefile

import (
	"fmt"
	"slices"
	"strings"
)

// Class is a kind of faults.
type Class string

// The classes.
const (
	// Unreadable: the line is no object of a known kind.
	Unreadable Class = "unreadable"
	// UnknownField: the kind does not have the field.
	UnknownField Class = "unknown-field"
	// Missing: a required field is absent.
	Missing Class = "missing"
	// WrongType: the value has another JSON type or form.
	WrongType Class = "wrong-type"
	// OutOfRange: the value is outside the contract.
	OutOfRange Class = "out-of-range"
	// TooLong: the text is longer than the contract allows, or than was allowed.
	TooLong Class = "too-long"
	// Blank: a name has no visible character.
	Blank Class = "blank"
	// Characters: XML cannot carry a character of the text.
	Characters Class = "characters"
	// Conflict: fields exclude each other.
	Conflict Class = "conflict"
	// Duplicate: an earlier record has the same identifier.
	Duplicate Class = "duplicate"
	// Dangling: what the record refers to is not in the files.
	Dangling Class = "dangling"
	// Incomplete: a file is empty, or lacks records that its end record counts. Nothing is imported.
	Incomplete Class = "incomplete"
)

// Fault is what is wrong with a record.
type Fault struct {
	Class Class
	// Field is the field, such as vote.choices[2].description; empty if it is the whole record.
	Field string
	// Value is the beginning of its value, as the file has it.
	Value string
	// Text says what is wrong and what to do about it.
	Text string
	// Allow names the allowance under which it is no fault; empty if there is none. IsAllowed says
	// that it was given.
	Allow     Allowance
	IsAllowed bool
	// First is where the earlier record of a Duplicate is.
	First Position
}

// IsBad reports whether one of some faults is not allowed.
func IsBad(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.IsAllowed })
}

// String formats the fault for people.
func (f Fault) String() string {
	text := f.Text
	if f.Field != "" {
		text = f.Field + ": " + text
	}
	switch f.Allow {
	case "":
	case NewOwner:
		text += " (--new-owner USER)"
	default:
		text += fmt.Sprintf(" (--allow %s)", f.Allow)
	}
	return text
}

// Allowance names what an old service allowed and Waybook does not, or what is mended on the way.
type Allowance string

// The allowances.
const (
	LongTitles        Allowance = "long-titles"
	LongTexts         Allowance = "long-texts"
	LongContents      Allowance = "long-contents"
	LongAddresses     Allowance = "long-addresses"
	EmptyTexts        Allowance = "empty-texts"
	LoginNames        Allowance = "login-names"
	ControlCharacters Allowance = "control-characters"
	DanglingRecords   Allowance = "dangling"
	Duplicates        Allowance = "duplicates"
	OddValues         Allowance = "odd-values"
	BadTimes          Allowance = "bad-times"
	OtherPasswords    Allowance = "other-passwords"
	BadParts          Allowance = "bad-parts"
	// NewOwner has a user as its value. So ParseAllowed does not read it.
	NewOwner Allowance = "new-owner"
)

// The lengths of texts under an allowance, in characters; of an address in bytes.
const (
	maxLongTitle   = 2000
	maxLongText    = 20_000
	maxLongContent = 1_000_000
	maxLongAddress = 8000
)

// AllowanceEntry explains an allowance to operators.
type AllowanceEntry struct {
	Allowance Allowance
	// Admits says what is no problem any more, and Seen what clients see then.
	Admits, Seen string
	// IsRepair: something is left out, or has another value. Otherwise, everything stays as it is.
	IsRepair bool
}

// Allowances returns all of them.
func Allowances() []AllowanceEntry {
	const whole = "the whole text; who changes it later must keep to the limits"
	return []AllowanceEntry{
		{LongTitles, "titles, names of users, landmarks and guests, questions and choices of up to 2,000 characters", whole, false},
		{LongTexts, "comments, replies and descriptions of photos of up to 20,000 characters", whole, false},
		{LongContents, "texts of entries of up to 1,000,000 characters", whole, false},
		{LongAddresses, "addresses of images of up to 8,000 bytes", "the whole address", false},
		{EmptyTexts, "empty titles, names of users, landmarks and guests, texts of entries, comments and addresses", "an empty element", false},
		{LoginNames, "other texts as email addresses, if they do not begin with `#`", "a login with that text in place of an email address", false},
		{ControlCharacters, "characters that XML 1.0 cannot carry", "U+FFFD in their place", true},
		{DanglingRecords, "references to what the files do not have",
			"no child without its parent, no ballot or recommendation of a missing user (the counts include them), a comment of a missing user without a name, an entry without its quote", true},
		{Duplicates, "records with the identifier of an earlier record of their kind", "the earlier record", true},
		{OddValues, "numbers in quotes; missing, unreadable and unknown coordinates, categories, types, weathers, zoom levels, map types, scores and amounts; " +
			"votes with another number of choices; a password without an email address; an author with two names; the time of no reply",
			"the number; or 0, the category 16 of albums and 4 of landmarks, the type 0_2, the weather 晴空萬里, zoom level 14, map type 1; the entry without the vote; " +
				"no password; the name of the account; no reply", true},
		{BadTimes, "missing and unreadable times and days, such as 0000-00-00", "1970-01-01, the day of its creation as that of an entry, or no time where none is required", true},
		{OtherPasswords, "hashes of passwords in unknown forms", "a user who cannot log in with the old password", true},
		{BadParts, "photos, comments, ballots, recommendations, sessions and rewards with any other problem", "the rest without them", true},
	}
}

// Allowed is a set of allowances.
type Allowed []Allowance

// Has reports whether an allowance is in the set.
func (a Allowed) Has(allowance Allowance) bool { return slices.Contains(a, allowance) }

// AllRepairs returns the allowances that are repairs.
func AllRepairs() (repairs Allowed) {
	for _, each := range Allowances() {
		if each.IsRepair {
			repairs = append(repairs, each.Allowance)
		}
	}
	return repairs
}

// ParseAllowed reads the names of allowances.
func ParseAllowed(names []string) (allowed Allowed, err error) {
	var known []string
	for _, each := range Allowances() {
		known = append(known, string(each.Allowance))
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no allowance %q; there are %s", name, strings.Join(known, ", "))
		}
		allowed = append(allowed, Allowance(name))
	}
	return allowed, nil
}
