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
	"github.com/waybook/waybook/internal/docstore/restoring"
)

// The kinds of findings besides those of package integrity. A service has other collections, but
// not this one; or an index is missing or differs from its declaration.
const (
	MissingCollection integrity.Kind = "missing_collection"
	MissingIndex      integrity.Kind = "missing_index"
)

// Report is what a check found.
type Report struct {
	Findings    []integrity.Finding `json:"findings"`
	Collections []CollectionReport  `json:"collections"`
	// FileBytes is the size of an embedded store's file, of which FreeBytes are free for new
	// documents.
	FileBytes int64 `json:"file_bytes,omitempty"`
	FreeBytes int64 `json:"free_bytes,omitempty"`
}

// CollectionReport describes a collection.
type CollectionReport struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	// Exists is false for a collection that was never created. A service without any has never
	// used this store.
	Exists    bool  `json:"exists"`
	Documents int64 `json:"documents"`
	// UnnamedFiles are files of removed photos and icons, and of uploads that failed. A sweep of
	// the service deletes them within two days.
	UnnamedFiles int64 `json:"unnamed_files,omitempty"`
	// Undeclared are indexes that other versions or operators have created.
	Undeclared []string `json:"undeclared_indexes,omitempty"`
}

// Check checks a store for missing indexes, orphans, and wrong numbers in parents. With
// integrity.Repair it creates the indexes and removes the orphans; with integrity.Look it writes
// nothing. A damaged file, an interrupted load and an index that cannot be created are errors. On
// MongoDB, services may keep running.
func Check(ctx context.Context, options Options, mode integrity.Mode) (report Report, err error) {
	store, err := options.openExisting(ctx, mode)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if file, isEmbedded := store.(*embedded.Engine); isEmbedded {
		if err := file.Check(ctx); err != nil {
			return report, fmt.Errorf("check the file, and restore a backup if it is damaged: %.2000w", err)
		}
		report.FileBytes, report.FreeBytes = file.FileBytes(), file.FreeBytes()
	}
	if err := restoring.Refuse(ctx, store); err != nil {
		return report, err
	}
	err = options.Examine(ctx, store, mode, &report)
	return report, err
}

// Examine is the part of Check that works on any open store. It adds to a report.
func (o Options) Examine(ctx context.Context, store docstore.Engine, mode integrity.Mode, report *Report) error {
	parts, err := o.parts()
	if err != nil {
		return err
	}
	report.Findings = []integrity.Finding{}
	for _, p := range parts {
		findings, err := o.examinePart(ctx, store, p, mode, report)
		if err != nil {
			return fmt.Errorf("check %s: %w", p.name, err)
		}
		for _, found := range findings {
			found.Service = p.name
			report.Findings = append(report.Findings, found)
		}
	}
	if !slices.ContainsFunc(report.Collections, func(c CollectionReport) bool { return c.Exists }) {
		return errors.New("the store has no collections of these services; check that it is the right store")
	}
	return nil
}

// examinePart checks the collections of one service. It reads what belongs together only if no
// index is missing.
func (o Options) examinePart(
	ctx context.Context, store docstore.Engine, p part, mode integrity.Mode, report *Report,
) (findings []integrity.Finding, err error) {
	collections, constraints, err := p.inspect(ctx, store)
	isUsed := slices.ContainsFunc(collections, collection.exists)
	if err == nil && isUsed && mode == integrity.Repair {
		// Opening the collections as the service does creates what is missing.
		constraints, err = p.open(ctx, deps(store))
	}
	if err != nil {
		return nil, err
	}
	isWhole := isUsed
	withFiles, err := p.fileStores(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range collections {
		documents, err := c.found.Table.Count(ctx, docstore.All(docstore.IDIndex).Everywhere())
		if err != nil {
			return nil, err
		}
		report.Collections = append(report.Collections,
			CollectionReport{Service: p.name, Name: c.spec.Name, Exists: c.found.Exists, Documents: documents,
				Undeclared: c.found.Undeclared})
		if c.found.Exists && slices.Contains(withFiles, c.spec.Name) {
			lacking, err := o.checkFiles(ctx, store, c, &report.Collections[len(report.Collections)-1])
			if err != nil {
				return nil, err
			}
			findings = append(findings, lacking...)
		}
		missing := integrity.Finding{
			Collection: c.spec.Name, Kind: MissingIndex, Count: int64(len(c.found.Missing)),
			Detail: strings.Join(c.found.Missing, ", "),
		}
		if !c.found.Exists {
			missing.Kind, missing.Count, missing.Detail = MissingCollection, 1, "was never created"
		}
		switch {
		case missing.Count == 0 || !isUsed:
			continue
		case mode == integrity.Repair:
			missing.Repaired = missing.Count
		default:
			isWhole = false
		}
		findings = append(findings, missing)
	}
	for _, constraint := range constraints {
		if !isWhole {
			break
		}
		found, err := constraint.Check(ctx, mode, o.progress)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}
