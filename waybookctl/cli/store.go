package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

type storeCommands struct {
	Prepare storePrepare `cmd:"" help:"Make the collections and indexes that the services need, and shard what is to be sharded."`
	Check   storeCheck   `cmd:"" help:"Look for missing indexes, orphans and wrong counts; mend them with --fix."`
	Dump    storeDump    `cmd:"" help:"Write all that a store holds to a file, to keep it or to load it elsewhere."`
	Load    storeLoad    `cmd:"" help:"Fill an empty store from a file that dump wrote."`
}

// storeChoice says which store, in the words of the services' own flags.
type storeChoice struct {
	Data       string   `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default. No service may have it open."`
	MongoDBURI string   `twin:"" name:"mongodb-uri" placeholder:"URI" help:"The MongoDB that the services use, instead of the embedded store."`
	Service    []string `placeholder:"SERVICE" enum:"account,album,blog,poi" help:"Only what these services keep; needed for the embedded store of a single one."`
}

// Help says how the store is reached.
func (storeChoice) Help() string {
	return `It opens the store itself, as a service does, and calls none.`
}

func (c storeChoice) options() storekeeping.Options {
	return storekeeping.Options{Store: service.StoreFlags{Data: c.Data, MongoDBURI: c.MongoDBURI}, Services: c.Service}
}

// summed reports the documents of all collections that were read so far.
func summed(report progress.Reporter) func(collection string, documents int64) {
	reading, before, last := "", int64(0), int64(0)
	return func(collection string, documents int64) {
		if collection != reading || documents < last {
			reading, before = collection, before+last
		}
		last = documents
		report.Reach(before + last)
	}
}

type storePrepare struct {
	storeChoice `embed:""`
}

// Run prepares the store.
func (c *storePrepare) Run(ctx context.Context, out *output.Printer) error {
	prepared, err := storekeeping.Prepare(ctx, c.options())
	if err != nil {
		return err
	}
	value, err := output.FromJSON(prepared)
	if err != nil {
		return err
	}
	return out.Value(value, func(page *output.Page) {
		output.Rows(page, []output.Column[storekeeping.PreparedCollection]{
			{Head: "SERVICE", Cell: func(p storekeeping.PreparedCollection) string { return p.Service }},
			{Head: "COLLECTION", Cell: func(p storekeeping.PreparedCollection) string { return p.Name }},
			{Head: "STATE", Cell: stateOf},
			{Head: "INDEXES MADE", Cell: func(p storekeeping.PreparedCollection) string { return strings.Join(p.IndexesMade, " ") }},
			{Head: "PLACEMENT", Cell: func(p storekeeping.PreparedCollection) string { return p.Placement }},
		}, prepared.Collections)
	})
}

func stateOf(p storekeeping.PreparedCollection) string {
	if p.Made {
		return "made"
	}
	return "was there"
}

type storeCheck struct {
	storeChoice `embed:""`

	Fix bool `help:"Make missing indexes, remove orphans and raise counts that are too low."`
}

// faultsError is a store in which something is wrong.
type faultsError struct{ mayFix bool }

// Error says what to do.
func (e faultsError) Error() string {
	if e.mayFix {
		return "the store has faults; --fix mends what can be mended"
	}
	return "the store has faults that can't be mended here"
}

// Run checks the store: exit status 1 when something is wrong with it.
func (c *storeCheck) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	mode := integrity.Look
	if c.Fix {
		mode = integrity.Repair
	}
	options := c.options()
	options.Progress = summed(report)
	report.Start("checking", progress.Documents, 0)
	checked, err := storekeeping.Check(ctx, options, mode)
	report.Finish()
	if err != nil {
		return err
	}
	value, err := output.FromJSON(checked)
	if err != nil {
		return err
	}
	err = out.Value(value, func(page *output.Page) {
		output.Rows(page, []output.Column[storekeeping.CollectionReport]{
			{Head: "SERVICE", Cell: func(r storekeeping.CollectionReport) string { return r.Service }},
			{Head: "COLLECTION", Cell: func(r storekeeping.CollectionReport) string { return r.Name }},
			{Head: "DOCUMENTS", Cell: func(r storekeeping.CollectionReport) string { return number(r.Documents) }},
			{Head: "INDEXES OF OTHERS", Cell: func(r storekeeping.CollectionReport) string { return strings.Join(r.Undeclared, " ") }},
		}, checked.Collections)
		output.Rows(page, []output.Column[storekeeping.Finding]{
			{Head: "FAULT", Cell: func(f storekeeping.Finding) string { return string(f.Kind) }},
			{Head: "COLLECTION", Cell: func(f storekeeping.Finding) string { return f.Collection }},
			{Head: "COUNT", Cell: func(f storekeeping.Finding) string { return number(f.Count) }},
			{Head: "MENDED", Cell: func(f storekeeping.Finding) string { return number(f.Repaired) }},
			{Head: "OF", Cell: func(f storekeeping.Finding) string { return ids(f.Parents) }},
			{Head: "WHAT", Cell: func(f storekeeping.Finding) string { return f.Detail }},
		}, checked.Findings)
		page.Text("The store is " + verdicts[checked.Verdict] + ".")
	})
	if err == nil && checked.Verdict == storekeeping.Found {
		return faultsError{mayFix: !c.Fix}
	}
	return err
}

var verdicts = map[storekeeping.Verdict]string{
	storekeeping.Clean: "clean", storekeeping.Fixed: "mended", storekeeping.Found: "not clean",
}

func ids(list []int64) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(words, " ")
}
