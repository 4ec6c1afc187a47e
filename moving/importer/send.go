package importer

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/retry"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// A request has at most maxRecords and maxBytes, or one record. At most maxFiles of its records
// have files, so that all workers have some.
const (
	maxRecords = 1000
	maxBytes   = 1 << 20
	maxFiles   = 25
)

// sender sends records in batches, several at a time.
type sender struct {
	Options
	ctx context.Context
	// pending are the batches that are not sent yet, by the kind of content that their records are
	// of, or belong to.
	pending map[typev1.Kind]*batch
	// stage is that of the last record. One of another stage waits until all before it are
	// acknowledged.
	stage stage
	// group sends, until ctx of it ends.
	group   *errgroup.Group
	working context.Context

	// mu guards what follows, and the report.
	mu     sync.Mutex
	report *Report
	watch  progress.Reporter
	done   int64
}

// batch is a request, with where its records are from.
type batch struct {
	records []*moveinv1.Record
	places  []place
	bytes   int
	files   int
	// isChained says that the records may need those of batches before: sessions and rewards their
	// users, entries those that they quote.
	isChained bool
}

// stage is the part of the files that a record is in: users, with their sessions and rewards;
// content; what belongs to it. Its records need those of earlier ones.
type stage struct{ isOfUsers, isOfChildren bool }

func newSender(ctx context.Context, options Options, report *Report, watch progress.Reporter) *sender {
	s := &sender{Options: options, ctx: ctx, report: report, watch: watch, pending: map[typev1.Kind]*batch{}}
	s.begin()
	return s
}

func (s *sender) begin() {
	s.group, s.working = errgroup.WithContext(s.ctx)
	s.group.SetLimit(s.Workers)
}

// put sends a record, now or later.
func (s *sender) put(l *line) error {
	kind, parentOldID := parent.OfRecord(l.Record)
	if next := (stage{kind == typev1.Kind_KIND_USER, parentOldID != ""}); next != s.stage {
		if err := s.settle(); err != nil {
			return err
		}
		s.stage = next
	}
	const lead = 4 // the tag and the length of a record, at most
	size := proto.Size(l.Record) + lead
	b := s.pending[kind]
	if b != nil && (len(b.records) == maxRecords || b.bytes+size > maxBytes || b.files == maxFiles) {
		if err := s.dispatch(b); err != nil {
			return err
		}
		b = nil
	}
	if b == nil {
		b = &batch{}
		s.pending[kind] = b
	}
	b.records, b.places, b.bytes = append(b.records, l.Record), append(b.places, l.at), b.bytes+size
	if s.Input.Photos != nil && l.Kind == format.KindPhoto {
		b.files++
	}
	b.isChained = b.isChained || s.stage.isOfUsers || l.Kind == format.KindEntry
	return nil
}

// settle sends what is pending, and waits until all is acknowledged.
func (s *sender) settle() error {
	for _, b := range s.pending {
		if err := s.dispatch(b); err != nil {
			return err
		}
	}
	clear(s.pending)
	return s.wait()
}

// wait waits until all that was sent is acknowledged.
func (s *sender) wait() error {
	err := s.group.Wait()
	s.begin()
	return err
}

// dispatch sends a batch once a worker is free, and a chained one once all before it are
// acknowledged.
func (s *sender) dispatch(b *batch) error {
	if b.isChained {
		if err := s.wait(); err != nil {
			return err
		}
	}
	if s.working.Err() != nil {
		return cmp.Or(s.group.Wait(), context.Cause(s.working))
	}
	ctx := s.working
	s.group.Go(func() error { return s.send(ctx, b) })
	return nil
}

// persist does something again and again while the service is away.
func (s *sender) persist(ctx context.Context, do func() error) error {
	_, err := retry.Do(ctx, retry.Options{Note: func(text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watch.Note(text)
	}}, do)
	return err
}

// send sends a batch, and the files of its photos.
func (s *sender) send(ctx context.Context, b *batch) error {
	var results []*moveinv1.Result
	err := s.persist(ctx, func() error {
		reply, err := s.Service.MoveIn(ctx, &moveinv1.MoveInRequest{Records: b.records, ValidateOnly: s.Verify})
		results = reply.GetResults()
		return err
	})
	if err != nil {
		return err
	}
	if len(results) != len(b.records) {
		return fmt.Errorf("a service gave %d results for %d records", len(results), len(b.records))
	}
	if err := s.takeAll(b, results); err != nil {
		return err
	}
	return s.sendFiles(ctx, b, results)
}

// takeAll counts what became of a batch.
func (s *sender) takeAll(b *batch, results []*moveinv1.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, result := range results {
		if err := s.take(b.places[n], b.records[n], result); err != nil {
			return err
		}
	}
	s.done += int64(len(b.records))
	s.watch.Reach(s.done)
	return nil
}

// outcome returns the column of a report that a result counts in.
func (s *sender) outcome(result *moveinv1.Result) string {
	outcome := strings.ToLower(strings.TrimPrefix(result.GetOutcome().String(), "OUTCOME_"))
	if s.Verify && outcome == "inserted" {
		return absent
	}
	return outcome
}

// take counts what became of a record, and reports all but what should.
func (s *sender) take(at place, record *moveinv1.Record, result *moveinv1.Result) error {
	outcome := s.outcome(result)
	s.report.of(at.Kind)[outcome]++
	if outcome == "inserted" || outcome == "unchanged" {
		return nil
	}
	text, isKnown := map[string]string{
		absent:      "it is not in Waybook",
		"different": "Waybook has it otherwise, and keeps it so",
		"deleted":   "it was deleted in Waybook, and stays deleted",
		"refused":   result.GetReason() + ": " + result.GetMessage(),
	}[outcome]
	if !isKnown {
		return fmt.Errorf("a service gave the outcome %s, which this program does not know", outcome)
	}
	return s.report.add(at, record, format.Fault{
		Field: strings.Join(result.GetFields(), ","), Class: format.Class(outcome), Value: result.GetReason(),
		Text: text,
	})
}
