package storekeeping

import (
	"fmt"
	"strings"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore/restoring"
)

// Verdict is the outcome of a check.
type Verdict string

// The verdicts.
const (
	// Clean means that nothing is wrong.
	Clean Verdict = "clean"
	// Fixed means that the check repaired everything that was wrong.
	Fixed Verdict = "fixed"
	// Found means that faults remain.
	Found Verdict = "found"
)

// Report is what a check found.
type Report struct {
	Verdict     Verdict            `json:"verdict"`
	Findings    []Finding          `json:"findings"`
	Collections []CollectionReport `json:"collections"`
	// File describes the embedded store's file; nil for a MongoDB.
	File *FileReport `json:"file,omitempty"`
}

// FileReport describes the file of an embedded store.
type FileReport struct {
	// FreeBytes is how much of Bytes is free for new documents. A check that repairs does not know
	// it and reports 0.
	Bytes     int64 `json:"bytes"`
	FreeBytes int64 `json:"free_bytes"`
}

// A compaction pays if it returns at least half of a file and this many bytes.
const minReturnedBytes = 64 << 20

// IsWorthCompacting reports whether a compaction returns much space to the file system.
func (f FileReport) IsWorthCompacting() bool {
	return f.FreeBytes >= minReturnedBytes && f.FreeBytes >= f.Bytes/2
}

// CollectionReport describes a collection after the check.
type CollectionReport struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	// Exists is false for a collection that was never created. A service without any collection has
	// never used this store, which is not a fault.
	Exists    bool  `json:"exists"`
	Documents int64 `json:"documents"`
	// Undeclared are indexes that the services do not use. Other versions or operators may have
	// created them.
	Undeclared []string `json:"undeclared_indexes,omitempty"`
}

// The kinds of findings in addition to those of package integrity.
const (
	// Damage means that the embedded store's file is inconsistent.
	Damage integrity.Kind = "damage"
	// UnfinishedLoad means that a load of a dump was interrupted.
	UnfinishedLoad integrity.Kind = "unfinished_load"
	// MissingCollection means that a service has other collections, but not this one.
	MissingCollection integrity.Kind = "missing_collection"
	// MissingIndex means that an index is missing or differs from its declaration.
	MissingIndex integrity.Kind = "missing_index"
	// ShardKey means that the shard key does not allow the collection's unique indexes.
	ShardKey integrity.Kind = "shard_key"
	// Unstamped means that documents on MongoDB have no time of their latest change.
	Unstamped integrity.Kind = "unstamped"
	// Unchecked means that documents could not be checked because an index is missing.
	Unchecked integrity.Kind = "unchecked"
)

// Finding is one kind of fault in one collection.
type Finding struct {
	Service    string         `json:"service,omitempty"`
	Collection string         `json:"collection,omitempty"`
	Kind       integrity.Kind `json:"kind"`
	// Count is how many documents or indexes are wrong. Repaired is how many of those were
	// repaired.
	Count    int64 `json:"count"`
	Repaired int64 `json:"repaired"`
	// Parents are the ids of some of the albums, entries or landmarks concerned.
	Parents []int64 `json:"parents,omitempty"`
	// Detail describes the fault for people.
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

// ofConstraint describes a constraint's finding in words.
func ofConstraint(service string, constraint integrity.Constraint, found integrity.Finding) Finding {
	finding := Finding{
		Service: service, Collection: found.Collection, Kind: found.Kind,
		Count: found.Count, Repaired: found.Repaired, Parents: found.Parents,
	}
	switch found.Kind {
	case integrity.Orphan:
		finding.Detail = fmt.Sprintf("hang on documents of %s that are gone", constraint.Parents)
	case integrity.Busy:
		finding.Detail = fmt.Sprintf("changed during every look at their %s and were not checked; check again at a quieter time", constraint.Children)
	case integrity.WrongTally:
		finding.Detail = fmt.Sprintf("have numbers that differ from the totals of %s; check which of the two is right", constraint.Children)
	}
	return finding
}

// maxDetailBytes bounds the errors shown for a damaged file.
const maxDetailBytes = 2000

// ofDamage describes the faults that the embedded store's own check found.
func ofDamage(err error) Finding {
	detail := err.Error()
	count := int64(strings.Count(detail, "\n")) + 1
	if len(detail) > maxDetailBytes {
		detail = strings.ToValidUTF8(detail[:maxDetailBytes], "") + " ..."
	}
	return Finding{Kind: Damage, Count: count, Detail: "the file is damaged; restore a backup. Nothing else was checked: " + detail}
}

// ofUnfinishedLoad describes an interrupted load.
func ofUnfinishedLoad(incomplete *restoring.IncompleteError) Finding {
	return Finding{
		Kind: UnfinishedLoad, Count: int64(len(incomplete.Collections)),
		Detail: incomplete.Error() + ". Nothing else was checked",
	}
}
