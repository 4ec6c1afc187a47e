package send

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/edge/peer"
	"github.com/waybook/waybook/moving/comparison"
	"github.com/waybook/waybook/moving/movefile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/workers"
)

// VerifyOptions say how a verification reads.
type VerifyOptions struct {
	Input Input
	// Services are asked for what the files do not have.
	Services Services
	// Edge is the address of the edge.
	Edge peer.Address
	// Sample is the share of albums, entries and landmarks that are read, from 0 to 1.
	Sample float64
	// Workers is the number of requests at a time, and Timeout bounds each.
	Workers int
	Timeout time.Duration
}

// Verified is the result of a verification.
type Verified struct {
	Report *Report
	// Same, Different and Unread count the albums, entries and landmarks of each kind. LeftOut counts
	// those that were not compared, because a record of them has a problem.
	Same, Different, Unread, LeftOut map[movefile.Kind]int64
	// Differences are the first ones.
	Differences []Mismatch
	// Extras are what Waybook has and the files do not have.
	Extras *Extras
}

// Mismatch is one difference between a file and a reply.
type Mismatch struct {
	At   movefile.Position
	Root movefile.Root
	Text string
}

// maxMismatches is how many differences are kept.
const maxMismatches = 20

const (
	// maxElements and maxPairs bound the memory of comparisons.
	maxElements = 1_000_000
	maxPairs    = 100_000
	// maxReplyBytes bounds a reply: that of the largest album that a comparison can hold.
	maxReplyBytes = 256 << 20
	// maxUnread is how many requests may fail before the verification ends.
	maxUnread = 20
)

// ErrNoUsers reports that the names of the users are unknown.
var ErrNoUsers = errors.New("the files have no users, whose names the replies have; name their file, too")

// Verify reads back what the files hold and compares. The replies may have other identifiers of photos
// and quoted entries, and another order of photos and comments whose identifiers are no numbers;
// nothing else may differ. Then the services are asked for what the files do not have.
func Verify(ctx context.Context, options VerifyOptions, report progress.Reporter) (_ *Verified, err error) {
	in, err := read(ctx, options.Input, keepRecords, report)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.saveProblems(nil)) }()
	if in.findings.report.Records[movefile.KindUser] == 0 {
		return nil, ErrNoUsers
	}
	known, err := newPeople(in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, known.close()) }()
	v := &verifier{
		options: options, intake: in, people: known,
		client:   peer.NewClient(options.Edge, "waybookctl-move", peer.Limits{Connections: options.Workers, Timeout: options.Timeout, ReplyBytes: maxReplyBytes}),
		comparer: comparison.New(comparison.Options{Strict: strictRules(), Zone: options.Input.Zone, MaxElements: maxElements, MaxPairs: maxPairs}),
		found: &Verified{
			Report: &in.findings.report, Same: map[movefile.Kind]int64{}, Different: map[movefile.Kind]int64{},
			Unread: map[movefile.Kind]int64{}, LeftOut: map[movefile.Kind]int64{},
		},
	}
	defer v.client.Close()
	if err := v.run(ctx, report); err != nil {
		return v.found, err
	}
	if v.found.Extras, err = in.findExtras(ctx, options.Services, options.Workers, report); err != nil {
		return v.found, err
	}
	for _, each := range slices.Concat(v.found.Extras.Gone, v.found.Extras.Kept) {
		if err := in.findings.list(each.finding("")); err != nil {
			return v.found, err
		}
	}
	return v.found, nil
}

// strictRules are the rules that allow nothing here.
func strictRules() (strict []comparison.Rule) {
	for _, each := range comparison.Rules() {
		if each.Rule != comparison.RuleIDs && each.Rule != comparison.RuleListOrder {
			strict = append(strict, each.Rule)
		}
	}
	return strict
}

// verifier runs one verification.
type verifier struct {
	options  VerifyOptions
	intake   *intake
	people   *people
	client   *peer.Client
	comparer *comparison.Comparer

	mu    sync.Mutex
	found *Verified
	done  int64
}

func (v *verifier) run(ctx context.Context, report progress.Reporter) error {
	report.Start("verifying", progress.Records, v.intake.findings.report.Lines)
	defer report.Finish()
	return workers.Run(ctx, v.options.Workers, func(_ context.Context, put func(*family) error) error { return v.produce(put, report) }, v.family)
}

// produce hands out the families.
func (v *verifier) produce(put func(*family) error, report progress.Reporter) error {
	for n := userBuckets; n < userBuckets+contentBuckets; n++ {
		items, err := v.intake.roots.read(n)
		if err != nil {
			return err
		}
		for _, f := range families(items) {
			v.done += f.records()
			report.Reach(v.done)
			if rand.Float64() >= v.options.Sample { // #nosec G404 -- a sample
				continue
			}
			if err := put(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// family reads a family back and compares.
func (v *verifier) family(ctx context.Context, f *family) error {
	v.intake.decode(f)
	defer f.forget()
	switch {
	case f.record == nil:
		return nil
	case f.isRefused:
		return v.count(v.found.LeftOut, f)
	}
	x := expected{people: v.people, zone: v.options.Input.Zone}
	query, want, err := x.of(f)
	if err != nil {
		return err
	}
	v.withoutMissingQuote(f, want)
	reply, err := v.client.Ask(ctx, peer.Request{Method: http.MethodGet, Query: query.Encode()})
	if err != nil {
		return v.unread(f, err)
	}
	got, err := v.comparer.Parse(reply.Body)
	if err != nil {
		return v.unread(f, err)
	}
	verdict := v.comparer.Compare(want, got)
	if verdict.Outcome != comparison.Different {
		return v.count(v.found.Same, f)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found.Different[f.root.Kind]++
	for _, each := range verdict.Differences {
		if err := v.add(Mismatch{f.place(each.Path), f.root, each.String()}, each.Path, "different", each.New); err != nil {
			return err
		}
	}
	return nil
}

// add adds a mismatch to the list, and to the first ones.
func (v *verifier) add(m Mismatch, field, class, value string) error {
	if len(v.found.Differences) < maxMismatches {
		v.found.Differences = append(v.found.Differences, m)
	}
	return v.intake.findings.list(finding{
		File: v.intake.input.Files[m.At.File], Line: m.At.Line, Kind: string(m.Root.Kind), ID: m.Root.ID,
		Field: field, Class: class, Value: value, Text: m.Text,
	})
}

// withoutMissingQuote removes the quote of an entry that is not in the files, as the import did.
func (v *verifier) withoutMissingQuote(f *family, want *comparison.Element) {
	if v.intake.findings.marks[f.at]&unquoted != 0 {
		want.Children = slices.DeleteFunc(want.Children, func(e *comparison.Element) bool { return e.Name == "replyBlogID" })
	}
}

func (v *verifier) count(into map[movefile.Kind]int64, f *family) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	into[f.root.Kind]++
	return nil
}

// unread counts a family whose reply could not be read.
func (v *verifier) unread(f *family, err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found.Unread[f.root.Kind]++
	var total int64
	for _, count := range v.found.Unread {
		total += count
	}
	if total > maxUnread {
		return fmt.Errorf("%s %s: %w", f.root.Kind, f.root.ID, err)
	}
	return v.add(Mismatch{f.at, f.root, err.Error()}, "", "unread", "")
}

// place returns the position of the record that a path of the expected reply comes from.
func (f *family) place(path string) movefile.Position {
	for list, kind := range kindsOfLists {
		_, rest, _ := strings.Cut(path, "/"+list+"/"+strings.TrimSuffix(list, "s"))
		digits, _, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(digits); err == nil {
			return f.placeOf(f.children, kind, n-1)
		}
	}
	return f.at
}
