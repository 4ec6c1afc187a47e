package storekeeping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/docstore/restoring"
)

// Check checks a store for a damaged embedded file, an interrupted load, missing indexes, orphans,
// and wrong numbers in parents. With integrity.Repair it creates the indexes, removes the orphans,
// and counts choices that nobody has counted; with integrity.Look it writes nothing. It reads all documents, page by page. On MongoDB, services may keep running; an
// embedded store must not be open elsewhere.
func Check(ctx context.Context, options Options, mode integrity.Mode) (report Report, err error) {
	report = newReport()
	parts, err := options.parts()
	if err != nil {
		return report, err
	}
	store, err := options.openExisting(ctx, mode)
	if damage, isDamaged := errors.AsType[*embedded.DamageError](err); isDamaged {
		report.Findings = append(report.Findings, ofDamage(damage))
		return report.judged(), nil
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if file, isEmbedded := store.(*embedded.Engine); isEmbedded {
		if err := file.Check(ctx); err != nil {
			if ctx.Err() != nil {
				return report, err
			}
			report.Findings = append(report.Findings, ofDamage(err))
			return report.judged(), nil
		}
		report.File = &FileReport{Bytes: file.FileBytes(), FreeBytes: file.FreeBytes()}
	}
	var incomplete *restoring.IncompleteError
	if err := restoring.Refuse(ctx, store); errors.As(err, &incomplete) {
		report.Findings = append(report.Findings, ofUnfinishedLoad(incomplete))
		return report.judged(), nil
	} else if err != nil {
		return report, err
	}
	examined, err := options.examine(ctx, store, parts, mode)
	examined.File = report.File
	return examined, err
}

// Examine is the part of Check that works on any open store.
func Examine(ctx context.Context, store docstore.Engine, mode integrity.Mode) (Report, error) {
	return Options{}.examine(ctx, store, allParts(), mode)
}

func newReport() Report { return Report{Findings: []Finding{}, Collections: []CollectionReport{}} }

func (o Options) examine(ctx context.Context, store docstore.Engine, parts []part, mode integrity.Mode) (Report, error) {
	report := newReport()
	for _, p := range parts {
		c := check{options: o, mode: mode, store: store, part: p, report: &report}
		if err := c.run(ctx); err != nil {
			return report, fmt.Errorf("check %s: %w", p.name, err)
		}
	}
	if !slices.ContainsFunc(report.Collections, func(c CollectionReport) bool { return c.Exists }) {
		return report, errors.New("the store has no collections of these services; check that it is the right store")
	}
	return report.judged(), nil
}

// check is the check of one service.
type check struct {
	options Options
	mode    integrity.Mode
	store   docstore.Engine
	part    part
	report  *Report
}

func (c check) run(ctx context.Context) error {
	before, constraints, err := c.part.inspect(ctx, c.store)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(before, collection.exists) {
		return c.list(ctx, before)
	}
	after, mode, obstacle := before, integrity.Look, error(nil)
	if c.mode == integrity.Repair {
		// Opening the collections as the service does creates what is missing.
		writable, err := c.part.open(ctx, deps(c.store))
		if ctx.Err() != nil || errors.Is(err, docstore.ErrUnavailable) {
			return err
		}
		obstacle = err
		if after, constraints, err = c.part.inspect(ctx, c.store); err != nil {
			return err
		}
		if obstacle == nil {
			constraints, mode = writable, integrity.Repair
		}
	}
	c.reportMissing(before, after, obstacle)
	if err := c.checkConstraints(ctx, after, constraints, mode); err != nil {
		return err
	}
	if err := c.reportServer(ctx, after, mode); err != nil {
		return err
	}
	return c.list(ctx, after)
}

// reportMissing reports collections and indexes that were missing before a repair, and whether they
// exist after it. obstacle is why some could not be created.
func (c check) reportMissing(before, after []collection, obstacle error) {
	reason := ""
	if obstacle != nil {
		reason = ": " + obstacle.Error()
	}
	for i, was := range before {
		is := after[i]
		finding := Finding{Service: c.part.name, Collection: was.spec.Name}
		switch {
		case !was.found.Exists:
			finding.Kind, finding.Count, finding.Detail = MissingCollection, 1, "was never created"
			if is.found.Exists {
				finding.Repaired = 1
			}
		case len(was.found.Missing) > 0:
			finding.Kind, finding.Count = MissingIndex, int64(len(was.found.Missing))
			finding.Repaired = finding.Count - int64(len(is.found.Missing))
			finding.Detail = "missing, or not as declared: " + strings.Join(was.found.Missing, ", ")
		default:
			continue
		}
		if finding.Repaired < finding.Count {
			finding.Detail += reason
		}
		c.add(finding)
	}
}

// reportServer reports what only a MongoDB has: shard keys that do not allow the unique indexes of a collection, and
// documents that followers never see, which a repair stamps.
func (c check) reportServer(ctx context.Context, collections []collection, mode integrity.Mode) error {
	server, isMongoDB := c.store.(*mongo.Engine)
	if !isMongoDB {
		return nil
	}
	for _, each := range collections {
		if _, err := server.Placement(ctx, each.spec); errors.Is(err, mongo.ErrShardKey) {
			c.add(Finding{Service: c.part.name, Collection: each.spec.Name, Kind: ShardKey, Count: 1, Detail: err.Error()})
		} else if err != nil {
			return err
		}
		finding := Finding{Service: c.part.name, Collection: each.spec.Name, Kind: Unstamped, Detail: "have no time of their latest change, so followers never see them"}
		var err error
		if finding.Count, err = server.Unstamped(ctx, each.spec); err != nil {
			return err
		}
		if finding.Count == 0 {
			continue
		}
		if mode == integrity.Repair {
			if finding.Repaired, err = server.Stamp(ctx, each.spec); err != nil {
				return err
			}
		}
		c.add(finding)
	}
	return nil
}

func (c check) checkConstraints(ctx context.Context, collections []collection, constraints []integrity.Constraint, mode integrity.Mode) error {
	for _, constraint := range constraints {
		if slices.ContainsFunc(collections, func(each collection) bool {
			return each.spec.Name == constraint.Children && slices.Contains(each.found.Missing, constraint.Index)
		}) {
			c.add(Finding{
				Service: c.part.name, Collection: constraint.Children, Kind: Unchecked, Count: 1,
				Detail: fmt.Sprintf("index %s is missing, by which its documents would be read", constraint.Index),
			})
			continue
		}
		findings, err := constraint.Check(ctx, mode, c.options.progress)
		if err != nil {
			return err
		}
		for _, found := range findings {
			c.add(ofConstraint(c.part.name, constraint, found))
		}
	}
	return nil
}

// list adds the service's collections to the report.
func (c check) list(ctx context.Context, collections []collection) error {
	for _, each := range collections {
		documents, err := each.found.Table.Count(ctx, docstore.All(docstore.IDIndex).Everywhere())
		if err != nil {
			return err
		}
		c.report.Collections = append(c.report.Collections, CollectionReport{
			Service: c.part.name, Name: each.spec.Name, Exists: each.found.Exists,
			Documents: documents, Undeclared: each.found.Undeclared,
		})
	}
	return nil
}

func (c check) add(finding Finding) { c.report.Findings = append(c.report.Findings, finding) }

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
	// FreeBytes is how much of Bytes is free for new documents.
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
		finding.Detail = fmt.Sprintf("hang on documents of %s that are gone or not moved in yet", constraint.Parents)
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
	if pages, isPages := err.(*embedded.DamageError); isPages {
		detail, count = strings.Join(pages.Faults, "; "), int64(pages.Count)
	}
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
