package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
)

type moveVerify struct {
	Edge string `arg:"" help:"Address of Waybook's edge, such as http://127.0.0.1:8080."`

	moveFiles `embed:""`

	Sample  float64 `default:"1" placeholder:"SHARE" help:"Share of the albums, entries and landmarks that are read, from 0 to 1; ${default}, which is all, by default."`
	Workers int     `default:"4" placeholder:"NUMBER" help:"Limit of the requests at a time; ${default} by default."`
}

// Help returns the detailed help.
func (*moveVerify) Help() string {
	return `The command reads albums, entries and landmarks back by their old identifiers, as clients read them, and compares the
replies with the files. It reports differences with file and line. Give the files and the flags --allow and --time-zone of the
import; --time-zone is also that of the edge. Identifiers of photos and quoted entries may differ, and the order of
photos and comments whose identifiers are no numbers. Content that users have changed since differs, too.

It then asks the services for everything that Waybook has. Users, albums, entries and landmarks that were moved in and
are not in the files count as differences; move import --prune deletes them. What was made in Waybook is only counted.

The exit status is that of diff: 0 if nothing differs, 1 if something does, and 2 if there was trouble.`
}

// Run verifies.
func (c *moveVerify) Run(ctx context.Context, call *services, connection *Connection, in io.Reader, out *output.Printer, report progress.Reporter) (err error) {
	options := send.VerifyOptions{Services: call.Services, Sample: c.Sample, Workers: c.Workers, Timeout: connection.Timeout}
	if !(c.Sample > 0 && c.Sample <= 1) || c.Workers < 1 || c.Workers > 64 || connection.Timeout <= 0 {
		return usageError("--sample must be above 0 and at most 1, --workers from 1 to 64, --timeout more than 0")
	}
	if options.Edge, err = peer.ParseAddress(c.Edge); err != nil {
		return usageError("EDGE: " + err.Error())
	}
	input, remove, err := c.input(in, out, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	options.Input = input
	found, err := send.Verify(ctx, options, report)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if found != nil {
		if printed := c.print(out, found); printed != nil {
			return printed
		}
	}
	if err != nil {
		return err
	}
	same, different, unread := total(found.Same), total(found.Different), total(found.Unread)
	switch {
	case unread > 0:
		return fmt.Errorf("%d could not be read; %d differ", unread, different)
	case same+different == 0:
		return errors.New("nothing was compared")
	case different > 0:
		return differentError(fmt.Sprintf("%d of %d differ", different, same+different))
	case len(found.Extras.Gone)+len(found.Extras.Kept) > 0:
		return differentError(fmt.Sprintf("%d were moved in and are not in the files", len(found.Extras.Gone)+len(found.Extras.Kept)))
	}
	return nil
}

// maxExtraLines is how many things that are not in the files the command prints.
const maxExtraLines = 20

func total(counts map[movefile.Kind]int64) (sum int64) {
	for _, count := range counts {
		sum += count
	}
	return sum
}

func (c *moveVerify) print(out *output.Printer, found *send.Verified) error {
	kinds := []movefile.Kind{movefile.KindAlbum, movefile.KindEntry, movefile.KindLandmark}
	counts := output.Object{}
	for _, kind := range kinds {
		counts = append(counts, output.Field{Name: string(kind), Value: output.Object{
			{Name: "same", Value: found.Same[kind]}, {Name: "different", Value: found.Different[kind]},
			{Name: "unread", Value: found.Unread[kind]}, {Name: "left_out", Value: found.LeftOut[kind]},
		}})
	}
	differences := output.List{}
	for _, each := range found.Differences {
		differences = append(differences, output.Object{
			{Name: "file", Value: found.Report.Files[each.At.File]}, {Name: "line", Value: each.At.Line},
			{Name: "kind", Value: string(each.Root.Kind)}, {Name: "id", Value: string(each.Root.ID)}, {Name: "text", Value: each.Text},
		})
	}
	extras := found.Extras
	if extras == nil { // the verification ended early
		extras = &send.Extras{}
	}
	gone, kept := extras.Counts()
	value := output.Object{
		{Name: "kinds", Value: counts}, {Name: "differences", Value: differences},
		{Name: "not_in_files", Value: countsValue(gone)}, {Name: "kept", Value: countsValue(kept)},
		{Name: "made_in_waybook", Value: countsValue(extras.Made)},
	}
	return out.Value(value, func(page *output.Page) {
		output.Rows(page, []string{"KIND", "SAME", "DIFFERENT", "UNREAD", "LEFT OUT"}, kinds, func(k movefile.Kind) []string {
			return []string{string(k), number(found.Same[k]), number(found.Different[k]), number(found.Unread[k]), number(found.LeftOut[k])}
		})
		for _, each := range found.Differences {
			page.Line(fmt.Sprintf("%s: %s %s: %s", found.Report.Place(each.At), each.Root.Kind, each.Root.ID, each.Text))
		}
		all := slices.Concat(extras.Gone, extras.Kept)
		for _, each := range all[:min(len(all), maxExtraLines)] {
			page.Line(output.Visible(each.Text()))
		}
		printCounts(page, "NOT IN THE FILES", gone)
		printCounts(page, "NOT IN THE FILES, AND KEPT", kept)
		printCounts(page, "MADE IN WAYBOOK", extras.Made)
	})
}
