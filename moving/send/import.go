package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/waybook/waybook/moving/movefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Services are the clients of the four services.
type Services struct {
	Account accountv1.AccountServiceClient
	Album   albumv1.AlbumServiceClient
	Blog    blogv1.BlogServiceClient
	Poi     poiv1.PoiServiceClient
}

// ImportOptions say how the data is moved in.
type ImportOptions struct {
	// Input says what is read. Its Folder keeps the records, sorted, and a journal, so that an import
	// that ended early goes on there. It is removed at the end.
	Input Input
	// Place says where the services are. Another place begins anew.
	Place string
	// Update changes what is stored and differs. MaxRemoved is the share of the photos, comments,
	// ballots and recommendations that it may remove, each by itself.
	Update     bool
	MaxRemoved float64
	// Confirm asks the owner a question.
	Confirm func(question string) (isMeant bool, err error)
	// Revive brings back what was deleted in Waybook.
	Revive bool
	// Prune deletes what came in by a move and is not in the files any more, up to MaxRemoved of each kind.
	Prune bool
	// DryRun stores nothing, and keeps no journal.
	DryRun bool
	// Workers is the number of requests at a time.
	Workers int
}

// importer runs one import.
type importer struct {
	services Services
	options  ImportOptions
	intake   *intake

	// mu is held while a worker uses the fields below.
	mu      sync.Mutex
	journal *journal
	summary *Summary
	report  progress.Reporter
	// done counts the records that were handled.
	done int64
	// survey is what the survey found in each bucket.
	survey map[int]surveyed
	// coming are the users whom the survey found to be stored before content is. An import that goes on has none,
	// because its users are stored.
	coming map[movefile.ID]bool
	// extras are what the files do not have; nil unless they are pruned.
	extras *Extras
}

// RefusedError says why an import has changed nothing.
type RefusedError struct{ reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.reason }

// Import checks the files and moves all in that has no problem. A family with a problem is left out as
// a whole and counted. The import may be repeated after any failure: it goes on where it ended, and
// what is stored already is unchanged. The summary is never nil if the error is nil. Errors:
// *RefusedError if nothing was changed, because the files are not whole or an update would remove too
// much; the summary then says what it would do.
func Import(ctx context.Context, services Services, options ImportOptions, report progress.Reporter) (*Summary, error) {
	j, in, err := begin(ctx, options, report)
	if err != nil {
		return nil, err
	}
	i := &importer{
		services: services, options: options, intake: in, journal: j, report: report, summary: newSummary(&in.findings.report),
		survey: map[int]surveyed{}, coming: map[movefile.ID]bool{},
	}
	if err = in.requireWhole(options); err == nil {
		err = i.goOn(ctx)
	}
	if err == nil {
		err = i.run(ctx)
	}
	i.summary.Extras = i.extras
	err = errors.Join(err, in.saveProblems(func(add func(finding) error) error {
		if i.extras != nil {
			for _, each := range slices.Concat(i.extras.Gone, i.extras.Kept) {
				if err := add(each.finding(doneDeleted)); err != nil {
					return err
				}
			}
		}
		return j.refusals(func(r Refusal) error { return add(in.findingOf(r)) })
	}))
	if isRefused := errors.As(err, new(*RefusedError)); !options.DryRun && (err == nil || isRefused && len(j.finished) == 0) {
		err = errors.Join(err, remove(j.folder))
	}
	return i.summary, errors.Join(err, j.close())
}

// goOn asks whether the store has what an import that ended early has stored last. If it was replaced,
// or restored, since, everything is sent again.
func (i *importer) goOn(ctx context.Context) error {
	if len(i.journal.finished) == 0 {
		return nil
	}
	i.report.Start("comparing", progress.Records, 0)
	defer i.report.Finish()
	for _, isUsers := range []bool{true, false} {
		n, found := i.journal.newest(isUsers)
		if !found {
			continue
		}
		s := &sender{importer: i, pass: passSurvey, result: &finished{Pass: passSurvey, Bucket: n}}
		if err := s.bucket(ctx, n); err != nil {
			return err
		}
		s.surveyed(n)
		for _, outcomes := range s.result.Outcomes {
			if outcomes[Created] > 0 {
				i.note("the store has lost what was moved in: everything is sent again")
				return i.journal.forget()
			}
		}
	}
	return nil
}

// run sends the users first, then the contents, then again the entries whose quoted entry was not
// there yet. Before an update, and in place of a dry run, it asks the services what they would do.
func (i *importer) run(ctx context.Context) error {
	all := firstBuckets(userBuckets + contentBuckets)
	people, content := all[:userBuckets], all[userBuckets:]
	if i.options.Update || i.options.DryRun {
		survey := i.resumed()
		if err := i.stage(ctx, "comparing", passSurvey, survey, people, content); err != nil {
			return err
		}
		i.summary = survey
		if err := survey.mayRemove(i.options.MaxRemoved); err != nil {
			return err
		}
	}
	if i.options.Prune {
		if err := i.planPrune(ctx); err != nil {
			return err
		}
	}
	if i.options.DryRun {
		return nil
	}
	i.summary = i.resumed()
	if err := i.stage(ctx, "importing", passRecords, i.summary, people, content); err != nil {
		return err
	}
	if err := i.pass(ctx, passQuotes, i.summary, i.journal.withoutQuotes()); err != nil || i.extras == nil {
		return err
	}
	return i.prune(ctx)
}

// again says how calls are repeated.
func (i *importer) again() retry.Options { return retry.Options{Note: i.note} }

// resumed returns the summary of what an import that ended early has done.
func (i *importer) resumed() *Summary {
	summary := newSummary(&i.intake.findings.report)
	for _, each := range i.journal.finished {
		summary.add(each)
	}
	return summary
}

// stage makes a pass over the users, and then over the contents.
func (i *importer) stage(ctx context.Context, name string, which passName, summary *Summary, people, content []int) error {
	i.report.Start(name, progress.Records, i.intake.findings.report.Lines)
	defer i.report.Finish()
	i.done = 0
	for _, each := range i.journal.finished {
		i.done += each.Records
	}
	i.report.Reach(i.done)
	if err := i.pass(ctx, which, summary, people); err != nil {
		return err
	}
	return i.pass(ctx, which, summary, content)
}

// pass has workers send the buckets that are not finished.
func (i *importer) pass(ctx context.Context, which passName, summary *Summary, buckets []int) error {
	left := slices.DeleteFunc(slices.Clone(buckets), func(n int) bool { return i.journal.isFinished(which, n) })
	return workers.Each(ctx, max(1, i.options.Workers), left, func(ctx context.Context, n int) error {
		s := &sender{importer: i, pass: which, result: &finished{Pass: which, Bucket: n}}
		if err := s.bucket(ctx, n); err != nil {
			return err
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		summary.add(s.result)
		if which == passSurvey && !i.options.DryRun {
			return nil
		}
		return i.journal.finish(s.result)
	})
}

// note reports an event.
func (i *importer) note(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.report.Note(text)
}

// reach reports that further records are handled.
func (i *importer) reach(records int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.done += records
	i.report.Reach(i.done)
}

// Summary is what became of the data.
type Summary struct {
	Report *Report
	// Outcomes counts the roots of each kind by their outcome.
	Outcomes map[movefile.Kind]Outcomes
	// Refusals are the first roots, and records below them, that a service refused, and RefusalCount
	// is their number, without those that were deleted.
	Refusals     []Refusal
	RefusalCount int64
	// QuotesMissing counts the entries whose quoted entry is not there.
	QuotesMissing int64
	// Removed counts the records that an update removes. Deleted counts the photos and comments that users
	// have removed in Waybook, and that stay removed.
	Removed, Deleted Counts
	// Extras are what is pruned, or would be; nil without ImportOptions.Prune.
	Extras *Extras
	// Repeated counts the retries of calls.
	Repeated int64
}

// Counts are numbers of records of each kind.
type Counts map[movefile.Kind]int64

func (c Counts) add(more Counts) {
	for kind, count := range more {
		c[kind] += count
	}
}

// Outcome is what became of a root.
type Outcome int

// The outcomes.
const (
	Created Outcome = iota
	Updated
	Unchanged
	// Different: stored with other content, which stays without an update.
	Different
	// LeftOut: a record of it has a problem in the files.
	LeftOut
	// Deleted: it was moved in earlier, and deleted in Waybook.
	Deleted
	// Refused: a service refused it for another reason.
	Refused
	// OutcomeCount is the number of outcomes.
	OutcomeCount
)

// String returns the outcome's name for programs.
func (o Outcome) String() string {
	return [...]string{"created", "updated", "unchanged", "different", "left_out", "deleted", "refused"}[o]
}

// Outcomes counts roots by their outcome.
type Outcomes [OutcomeCount]int64

func (o *Outcomes) add(more Outcomes) {
	for outcome, count := range more {
		o[outcome] += count
	}
}

// Refusal says why a service refused something.
type Refusal struct {
	At      movefile.Position `json:"at"`
	Root    movefile.Root     `json:"root"`
	Field   string            `json:"field"`
	Reason  string            `json:"reason"`
	Message string            `json:"message"`
}

// maxRefusals is how many refusals a bucket and a summary keep.
const maxRefusals = 20

func newSummary(report *Report) *Summary {
	return &Summary{Report: report, Outcomes: map[movefile.Kind]Outcomes{}, Removed: Counts{}, Deleted: Counts{}}
}

// add adds what became of a bucket. The second pass sends families again, which only settles their
// quotes.
func (s *Summary) add(f *finished) {
	s.Repeated += f.Repeated
	if f.Pass == passQuotes {
		s.QuotesMissing += f.QuotesMissing
		return
	}
	for kind, more := range f.Outcomes {
		o := s.Outcomes[kind]
		o.add(more)
		s.Outcomes[kind] = o
	}
	s.Removed.add(f.Removed)
	s.Deleted.add(f.Deleted)
	s.RefusalCount += f.RefusalCount
	s.Refusals = append(s.Refusals, f.Refusals...)
	slices.SortStableFunc(s.Refusals, func(a, b Refusal) int { return order(a.At, b.At) })
	s.Refusals = s.Refusals[:min(len(s.Refusals), maxRefusals)]
}

// mayRemove returns an error if more than a share of a kind would be removed. A session that is closed
// does not count: its user logs in again.
func (s *Summary) mayRemove(share float64) error {
	var above []string
	for _, kind := range []movefile.Kind{movefile.KindPhoto, movefile.KindComment, movefile.KindBallot, movefile.KindRecommendation} {
		count := s.Removed[kind]
		if all := s.Report.Records[kind] + count; float64(count) > share*float64(all) {
			above = append(above, fmt.Sprintf("%d of %d %s", count, all, plural(kind)))
		}
	}
	if len(above) == 0 {
		return nil
	}
	return &RefusedError{fmt.Sprintf(
		"nothing was changed: the update would remove %s, because the files do not have them. If the files are whole and you mean it, raise --max-removed, which is %v",
		strings.Join(above, ", "), share)}
}

func plural(kind movefile.Kind) string { return strings.Replace(string(kind)+"s", "ys", "ies", 1) }

// Total returns the outcomes of all kinds together.
func (s *Summary) Total() (total Outcomes) {
	for _, o := range s.Outcomes {
		total.add(o)
	}
	return total
}

// Text formats a refusal for people.
func (s *Summary) Text(r Refusal) string {
	text := fmt.Sprintf("%s: %s %s: ", s.Report.Place(r.At), r.Root.Kind, r.Root.ID)
	if r.Field != "" {
		text += r.Field + ": "
	}
	return text + fmt.Sprintf("%s (%s)", r.Message, r.Reason)
}
