package send

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybook/waybook/moving/movefile"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/retry"
)

// sender sends one bucket.
type sender struct {
	*importer
	pass   passName
	result *finished
	// request are the parts of the next request, all of one kind, and bytes is their size.
	request []*part
	bytes   int
}

// surveyed is what the survey found in a bucket.
type surveyed struct {
	// unchanged are the families that are stored as they are, in order.
	unchanged []bool
	// settled is the result of the bucket if no family is left to be sent.
	settled *finished
}

// bucket sends the families of a bucket, in order. Those that the survey found unchanged need not be
// sent.
func (s *sender) bucket(ctx context.Context, n int) error {
	survey := s.surveyed(n)
	if s.pass == passRecords && survey.settled != nil {
		*s.result = *survey.settled
		s.result.Pass = passRecords
		s.reach(s.result.Records)
		return nil
	}
	items, err := s.intake.roots.read(n)
	if err != nil {
		return err
	}
	s.result.Outcomes, s.result.Removed, s.result.Deleted = map[movefile.Kind]Outcomes{}, Counts{}, Counts{}
	all := families(items)
	for n, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case s.pass == passQuotes && f.root.Kind != movefile.KindEntry:
			continue
		case s.pass == passRecords && n < len(survey.unchanged) && survey.unchanged[n]:
			s.result.Records += f.records()
			s.count(f.root.Kind, Unchanged)
			s.reached(f)
			continue
		}
		s.intake.decode(f)
		if s.pass == passQuotes && !quotes(f) {
			f.forget()
			continue
		}
		if err := s.family(ctx, f); err != nil {
			return err
		}
	}
	if err := s.flush(ctx); err != nil || s.pass != passSurvey {
		return err
	}
	survey = surveyed{unchanged: make([]bool, len(all)), settled: s.result}
	for n, f := range all {
		survey.unchanged[n] = f.isUnchanged
		if !f.isUnchanged && !f.isLeftOut {
			survey.settled = nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.survey[n] = survey
	return nil
}

// surveyed returns what the survey found in a bucket, once.
func (s *sender) surveyed(n int) surveyed {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.survey[n]
	delete(s.survey, n)
	return found
}

// quotes reports whether a family is an entry that quotes another.
func quotes(f *family) bool {
	e, isEntry := f.record.(*movefile.Entry)
	return isEntry && e.QuotedID != ""
}

// family sends a family, or puts it into the next request.
func (s *sender) family(ctx context.Context, f *family) error {
	if s.pass != passQuotes {
		s.result.Records += f.records()
	}
	f.isLeftOut = f.isRefused || f.record == nil
	f.isUnchanged = !f.isLeftOut
	if f.isLeftOut {
		if f.record != nil {
			s.count(f.root.Kind, LeftOut)
		}
		s.reached(f)
		f.forget()
		return nil
	}
	parts := f.parts()
	if len(s.request) > 0 && (s.request[0].family.root.Kind != f.root.Kind || len(parts) > 1 || len(s.request) == maxRequestRecords ||
		s.bytes+parts[0].bytes > maxRequestBytes) {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	for _, each := range parts {
		s.request = append(s.request, each)
		s.bytes += each.bytes
		if len(parts) > 1 {
			// A part follows when the one before is stored.
			if err := s.flush(ctx); err != nil || f.isRefused {
				return err
			}
		}
	}
	return nil
}

// reached reports the records of a family as handled.
func (s *sender) reached(f *family) {
	if s.pass != passQuotes {
		s.reach(f.records())
	}
}

func (s *sender) count(kind movefile.Kind, outcome Outcome) {
	o := s.result.Outcomes[kind]
	o[outcome]++
	s.result.Outcomes[kind] = o
}

// flush sends the next request, and takes its results.
func (s *sender) flush(ctx context.Context) error {
	if len(s.request) == 0 {
		return nil
	}
	request := s.request
	s.request, s.bytes = nil, 0
	var results []*typev1.MoveResult
	repeated, err := retry.Do(ctx, s.again(), func() (err error) {
		results, err = s.call(ctx, request)
		return err
	})
	s.result.Repeated += repeated
	if err != nil {
		return err
	}
	if len(results) != len(request) {
		return fmt.Errorf("the service gave %d results for %d records", len(results), len(request))
	}
	for n, each := range request {
		s.take(each, results[n])
		if each.isLast || each.family.isRefused {
			each.family.forget()
		}
	}
	return nil
}

// call sends parts of one kind.
func (s *sender) call(ctx context.Context, request []*part) ([]*typev1.MoveResult, error) {
	options := &typev1.MoveOptions{Update: s.options.Update, Revive: s.options.Revive, ValidateOnly: s.pass == passSurvey, Widen: widened(s.options.Input.Allowed)}
	switch request[0].family.root.Kind {
	case movefile.KindUser:
		areSessionsKnown := s.intake.findings.report.Records[movefile.KindSession] > 0
		reply, err := s.services.Account.MoveInUsers(ctx, &accountv1.MoveInUsersRequest{
			Options: options, Users: each(request, func(p *part) *accountv1.MovedUser { return userOf(p, areSessionsKnown) }),
		})
		return reply.GetResults(), err
	case movefile.KindAlbum:
		reply, err := s.services.Album.MoveInAlbums(ctx, &albumv1.MoveInAlbumsRequest{Options: options, Albums: each(request, albumOf)})
		return reply.GetResults(), err
	case movefile.KindEntry:
		reply, err := s.services.Blog.MoveInBlogs(ctx, &blogv1.MoveInBlogsRequest{Options: options, Blogs: each(request, entryOf)})
		return reply.GetResults(), err
	default:
		reply, err := s.services.Poi.MoveInPois(ctx, &poiv1.MoveInPoisRequest{Options: options, Pois: each(request, landmarkOf)})
		return reply.GetResults(), err
	}
}

func each[T any](request []*part, convert func(*part) T) []T {
	converted := make([]T, len(request))
	for n, p := range request {
		converted[n] = convert(p)
	}
	return converted
}

// widened returns the limits of the services that the allowances widen.
func widened(allowed movefile.Allowed) (limits []typev1.Limit) {
	for _, each := range []struct {
		allowance movefile.Allowance
		limit     typev1.Limit
	}{
		{movefile.LongTitles, typev1.Limit_LIMIT_TITLE}, {movefile.LongTexts, typev1.Limit_LIMIT_TEXT},
		{movefile.LongContents, typev1.Limit_LIMIT_CONTENT}, {movefile.LongAddresses, typev1.Limit_LIMIT_ADDRESS},
		{movefile.EmptyTexts, typev1.Limit_LIMIT_EMPTY}, {movefile.LoginNames, typev1.Limit_LIMIT_EMAIL},
	} {
		if allowed.Has(each.allowance) {
			limits = append(limits, each.limit)
		}
	}
	return limits
}

// take takes the result of a part. With the last one, or one that was refused, it is known what became of the family.
func (s *sender) take(p *part, result *typev1.MoveResult) {
	f, outcome := p.family, result.GetOutcome()
	if s.pass == passSurvey {
		switch {
		case s.isOwnerComing(f, result):
			outcome, result = typev1.MoveOutcome_MOVE_OUTCOME_CREATED, nil
		case f.root.Kind == movefile.KindUser && outcome == typev1.MoveOutcome_MOVE_OUTCOME_CREATED:
			s.come(f.root.ID)
		}
	}
	f.isRefused = outcome == typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
	if f.isRefused || f.outcome == typev1.MoveOutcome_MOVE_OUTCOME_UNSPECIFIED || f.outcome == typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED {
		f.outcome = outcome
	}
	isStored := !f.isRefused && f.outcome != typev1.MoveOutcome_MOVE_OUTCOME_CREATED
	if s.options.Update && isStored && p.number > 0 && p.isLast && p.before() == nil {
		result.Problems = append(result.Problems, &typev1.MoveProblem{
			Reason: reasonNotRemoved, Message: "it has too much below it for an update to remove what the files do not have, which stays if there is any",
		})
	}
	f.isUnchanged = f.isUnchanged && outcome == typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED &&
		!result.GetIsQuoteMissing() && len(result.GetProblems()) == 0
	if s.pass != passQuotes {
		s.result.Removed.take(result.GetRemoved())
		s.result.Deleted.take(result.GetDeleted())
		for _, problem := range result.GetProblems() {
			s.refuse(p, problem)
		}
	}
	if !p.isLast && !f.isRefused {
		return
	}
	if result.GetIsQuoteMissing() {
		s.result.QuotesMissing++
	}
	if s.pass == passQuotes {
		return
	}
	if isDeleted(result) {
		s.count(f.root.Kind, Deleted)
	} else {
		s.count(f.root.Kind, outcomeOf(f.outcome))
	}
	s.reached(f)
}

// take adds what a service has counted.
func (c Counts) take(counts *typev1.MoveRemoved) {
	for kind, count := range map[movefile.Kind]int32{
		movefile.KindPhoto: counts.GetPhotos(), movefile.KindComment: counts.GetComments(), movefile.KindBallot: counts.GetBallots(),
		movefile.KindRecommendation: counts.GetRecommendations(), movefile.KindSession: counts.GetSessions(),
	} {
		c[kind] += int64(count)
	}
}

func outcomeOf(outcome typev1.MoveOutcome) Outcome {
	switch outcome {
	case typev1.MoveOutcome_MOVE_OUTCOME_CREATED:
		return Created
	case typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED:
		return Unchanged
	case typev1.MoveOutcome_MOVE_OUTCOME_UPDATED:
		return Updated
	case typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT:
		return Different
	}
	return Refused
}

const (
	// reasonDeleted is the reason of a service for refusing what was deleted.
	reasonDeleted = "DELETED"
	// reasonNotRemoved says that an update removes nothing below content.
	reasonNotRemoved = "NOT_REMOVED"
)

func isDeleted(result *typev1.MoveResult) bool {
	problems := result.GetProblems()
	return result.GetOutcome() == typev1.MoveOutcome_MOVE_OUTCOME_REFUSED && len(problems) == 1 && problems[0].GetReason() == reasonDeleted
}

// come notes that a service would store a user.
func (s *sender) come(user movefile.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming[user] = true
}

// isOwnerComing reports whether a survey refuses content only because its owner is not stored yet, whom
// the import stores before.
func (s *sender) isOwnerComing(f *family, result *typev1.MoveResult) bool {
	problems := result.GetProblems()
	if len(problems) != 1 || problems[0].GetReason() != "USER_NOT_FOUND" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := ownerOf(f.record)
	return owner != nil && s.coming[*owner]
}

// refuse keeps the reason why a service refused a part, or something in it.
func (s *sender) refuse(p *part, problem *typev1.MoveProblem) {
	if problem.GetReason() != reasonDeleted {
		s.result.RefusalCount++
	}
	at := p.family.at
	name, rest, _ := strings.Cut(problem.GetField(), "[")
	index, _, _ := strings.Cut(rest, "]")
	if kind, hasChildren := kindsOfLists[name]; hasChildren {
		if n, err := strconv.Atoi(index); err == nil {
			at = p.family.placeOf(p.children, kind, n)
		}
	}
	s.result.Refusals = append(s.result.Refusals, Refusal{
		At: at, Root: p.family.root, Field: problem.GetField(), Reason: problem.GetReason(), Message: problem.GetMessage(),
	})
}
