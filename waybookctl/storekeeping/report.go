package storekeeping

import (
	"fmt"
	"strings"

	"github.com/waybook/waybook/internal/content/integrity"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts.
const (
	// Clean: nothing is wrong.
	Clean Verdict = "clean"
	// Fixed: all that was wrong no longer is.
	Fixed Verdict = "fixed"
	// Found: something is wrong.
	Found Verdict = "found"
)

// Report is what a check found.
type Report struct {
	Verdict     Verdict            `json:"verdict"`
	Findings    []Finding          `json:"findings"`
	Collections []CollectionReport `json:"collections"`
}

// CollectionReport is a collection as the check left it.
type CollectionReport struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	// Exists is false for a collection that was never made. When a service has none at
	// all it has never run on this store, and nothing is wrong.
	Exists    bool  `json:"exists"`
	Documents int64 `json:"documents"`
	// Undeclared are indexes that the services do not use. Other versions may, or
	// people who made them.
	Undeclared []string `json:"undeclared_indexes,omitempty"`
}

// The kinds of findings besides those of package integrity.
const (
	// Damage: the embedded store's file contradicts itself.
	Damage integrity.Kind = "damage"
	// MissingCollection: a service has other collections, and not this one.
	MissingCollection integrity.Kind = "missing_collection"
	// MissingIndex: an index is not there, or not as it is declared.
	MissingIndex integrity.Kind = "missing_index"
	// ShardKey: a sharded cluster can't keep the collection's unique indexes.
	ShardKey integrity.Kind = "shard_key"
	// Unchecked: documents could not be checked, for want of an index.
	Unchecked integrity.Kind = "unchecked"
)

// Finding is all that is wrong in one way in one collection.
type Finding struct {
	Service    string         `json:"service,omitempty"`
	Collection string         `json:"collection,omitempty"`
	Kind       integrity.Kind `json:"kind"`
	// Count is how many documents or indexes are wrong, Repaired how many of them no
	// longer are.
	Count    int64 `json:"count"`
	Repaired int64 `json:"repaired"`
	// Parents are the ids of some albums, entries or landmarks that this is about.
	Parents []int64 `json:"parents,omitempty"`
	// Detail says it in words.
	Detail string `json:"detail"`
}

// judged returns the report with its verdict.
func (r Report) judged() Report {
	r.Verdict = Clean
	for _, finding := range r.Findings {
		if finding.Repaired < finding.Count {
			r.Verdict = Found
			return r
		}
		r.Verdict = Fixed
	}
	return r
}

// ofConstraint says in words what a constraint found.
func ofConstraint(service string, constraint integrity.Constraint, found integrity.Finding) Finding {
	finding := Finding{
		Service: service, Collection: found.Collection, Kind: found.Kind,
		Count: found.Count, Repaired: found.Repaired, Parents: found.Parents,
	}
	switch found.Kind {
	case integrity.Orphan:
		finding.Detail = fmt.Sprintf("hang on documents of %s that are gone", constraint.Parents)
	case integrity.LowCount:
		finding.Detail = fmt.Sprintf("count fewer %s than they have", constraint.Children)
	case integrity.WrongTally:
		finding.Detail = fmt.Sprintf("have other numbers than %s add up to; which of the two is right, only you can tell", constraint.Children)
	}
	return finding
}

// maxDetailBytes bounds what of a damaged file's errors is shown.
const maxDetailBytes = 2000

// ofDamage says what the embedded store's own check found.
func ofDamage(err error) Finding {
	detail := err.Error()
	count := int64(strings.Count(detail, "\n")) + 1
	if len(detail) > maxDetailBytes {
		detail = strings.ToValidUTF8(detail[:maxDetailBytes], "") + " ..."
	}
	return Finding{Kind: Damage, Count: count, Detail: "the file is damaged, restore a backup; nothing else was checked: " + detail}
}
