package account

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/text"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// partsBatch is how many sessions or rewards are stored at a time.
const partsBatch = 1000

// part is a session or reward of a record.
type part[T any] struct {
	document T
	of       *incoming
	// field is its path in the record.
	field string
}

// storeParts stores parts that are missing. It returns those that exist, as they are stored.
// A part that another call deletes meanwhile is neither.
func storeParts[T any](
	ctx context.Context, m *moveIn, c *docstore.Collection[string, T], id func(*T) string, parts []part[T],
) (existing []part[T], stored map[string]T, err error) {
	stored = make(map[string]T)
	for batch := range slices.Chunk(parts, partsBatch) {
		var taken []part[T]
		if m.isDry {
			taken = batch
		} else if taken, err = insertParts(ctx, m, c, batch); err != nil {
			return nil, nil, err
		}
		ids := make([]string, len(taken))
		for i := range taken {
			ids[i] = id(&taken[i].document)
		}
		// An earlier call may have stored them and failed before a majority had them.
		found, err := c.GetDurable(ctx, ids)
		if err != nil {
			return nil, nil, err
		}
		for _, each := range found {
			stored[id(&each.Document)] = each.Document
		}
		for i, each := range taken {
			if _, isDurable := stored[ids[i]]; !isDurable {
				recent, err := c.GetLinearizable(ctx, ids[i])
				if err != nil && !errors.Is(err, docstore.ErrNotFound) {
					return nil, nil, err
				}
				if err != nil {
					if m.isDry {
						m.noteAdded(each.of)
					}
					continue
				}
				stored[ids[i]] = recent
			}
			existing = append(existing, each)
		}
	}
	return existing, stored, nil
}

// insertParts stores parts and returns those that exist already.
func insertParts[T any](
	ctx context.Context, m *moveIn, c *docstore.Collection[string, T], parts []part[T],
) (taken []part[T], err error) {
	documents := make([]T, len(parts))
	for i := range parts {
		documents[i] = parts[i].document
	}
	positions, err := c.InsertNew(ctx, documents)
	if err != nil {
		return nil, err
	}
	for i, each := range parts {
		if _, isTaken := slices.BinarySearch(positions, i); isTaken {
			taken = append(taken, each)
		} else {
			m.noteAdded(each.of)
		}
	}
	return taken, nil
}

// storeRewards stores the rewards of records. With an update it also corrects their amounts.
func (m *moveIn) storeRewards(ctx context.Context, accepted []*incoming) error {
	var parts []part[reward]
	for _, each := range accepted {
		for i, given := range each.record.GetRewards() {
			id := rewardID(each.record.GetUserId(), movedRewardSource+given.GetOldId())
			parts = append(parts, part[reward]{reward{ID: id, Amount: given.GetAmount()}, each, fmt.Sprintf("rewards[%d]", i)})
		}
	}
	existing, stored, err := storeParts(ctx, m, m.rewards, func(r *reward) string { return r.ID }, parts)
	if err != nil {
		return err
	}
	for _, each := range existing {
		switch {
		case stored[each.document.ID].Amount == each.document.Amount:
			continue
		case !m.isUpdate:
			each.of.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
			continue
		}
		m.noteAdded(each.of)
		if m.isDry {
			continue
		}
		_, err := m.rewards.Update(ctx, each.document.ID, func(r *reward) error {
			r.Amount = each.document.Amount
			return nil
		})
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

// storeSessions stores the sessions of records. They have the first generation, in which they
// are open. In another one, all sessions of the old service are closed, and none is stored.
func (m *moveIn) storeSessions(ctx context.Context, accepted []*incoming) error {
	var parts []part[session]
	for _, each := range accepted {
		if each.stored.CredentialGeneration != 0 || each.record.GetSessions() == nil {
			continue
		}
		given := make(map[string]bool)
		for i, one := range each.record.GetSessions().GetSessions() {
			document := m.sessionOf(each.record.GetUserId(), one.GetToken(), one.GetExpireTime(), one.GetCreateTime(), m.now)
			given[document.ID] = true
			if document.ExpireMillis > m.now.UnixMilli() {
				parts = append(parts, part[session]{document, each, fmt.Sprintf("sessions.sessions[%d].token", i)})
			}
		}
		if m.isUpdate {
			if err := m.closeOthers(ctx, each, given); err != nil {
				return err
			}
		}
	}
	existing, stored, err := storeParts(ctx, m, m.sessions, func(s *session) string { return s.ID }, parts)
	if err != nil {
		return err
	}
	for _, each := range existing {
		if stored[each.document.ID].UserID != each.document.UserID {
			each.of.result.Problems = append(each.of.result.Problems, &typev1.MoveProblem{
				Field: each.field, Reason: "ID_TAKEN", Message: "another user has this session",
			})
			each.of.result.Problems = each.of.result.Problems[:min(len(each.of.result.Problems), maxMoveProblems)]
		}
	}
	return nil
}

// closeOthers closes the sessions of a user that were moved in before and are not among the
// given ones. A session is closed for good only if a majority lacks it: an earlier call may have
// deleted it and failed.
func (m *moveIn) closeOthers(ctx context.Context, of *incoming, given map[string]bool) error {
	moved := sessionsOf(of.stored)
	moved.As = docstore.Durable
	for batch, err := range m.sessions.Batches(ctx, moved) {
		if err != nil {
			return err
		}
		for _, each := range batch {
			if !each.IsMoved || given[each.ID] || !m.isOpen(each, of.stored) {
				continue
			}
			m.noteAdded(of)
			if of.result.Removed == nil {
				of.result.Removed = &typev1.MoveRemoved{}
			}
			of.result.Removed.Sessions++
			if m.isDry {
				continue
			}
			if err := m.deleteSession(ctx, each); err != nil && !errors.Is(err, docstore.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// maxMoveProblems bounds the problems of one result.
const maxMoveProblems = 20

// problemsOf returns why a record cannot be stored, whatever is stored already: by its own rules,
// and by those of CreateUser where no limit is widened.
func problemsOf(validator protovalidate.Validator, record *accountv1.MovedUser, widen []typev1.Limit) ([]*typev1.MoveProblem, error) {
	violations, err := service.Violations(validator, record)
	if err != nil {
		return nil, err
	}
	if len(violations) == 0 {
		if violations, err = service.Violations(validator, asCreated(record, widen)); err != nil {
			return nil, err
		}
		violations = append(violations, ownViolations(record)...)
	}
	problems := make([]*typev1.MoveProblem, 0, len(violations))
	for _, each := range violations {
		problems = append(problems, &typev1.MoveProblem{Field: each.Field, Reason: "INVALID_PARAMETER", Message: each.Message})
	}
	return problems, nil
}

// asCreated returns a request whose violations are those of the limits that are not widened.
func asCreated(record *accountv1.MovedUser, widen []typev1.Limit) *accountv1.CreateUserRequest {
	request := &accountv1.CreateUserRequest{Name: record.GetName(), IconUrl: record.GetIconUrl(), Email: record.GetEmail()}
	limit := typev1.Limit_LIMIT_TITLE
	if text.IsBlank(request.GetName()) {
		limit = typev1.Limit_LIMIT_EMPTY
	}
	if slices.Contains(widen, limit) {
		request.Name = "x"
	}
	if slices.Contains(widen, typev1.Limit_LIMIT_ADDRESS) {
		request.IconUrl = ""
	}
	if slices.Contains(widen, typev1.Limit_LIMIT_EMAIL) {
		request.Email = ""
	}
	return request
}

// ownViolations returns the violations that the contract has no rules for.
func ownViolations(record *accountv1.MovedUser) (violations []apierror.Violation) {
	if checkMovedHash(record.GetPasswordHash()) != nil {
		violations = append(violations, apierror.Violation{Field: "password_hash", Message: "must be in one of the known forms"})
	}
	check := func(field string, t *timestamppb.Timestamp) {
		if t != nil && !t.IsValid() {
			violations = append(violations, apierror.Violation{Field: field, Message: "must be a time from the year 1 to 9999"})
		}
	}
	check("create_time", record.GetCreateTime())
	for i, each := range record.GetSessions().GetSessions() {
		check(fmt.Sprintf("sessions.sessions[%d].expire_time", i), each.GetExpireTime())
		check(fmt.Sprintf("sessions.sessions[%d].create_time", i), each.GetCreateTime())
	}
	return violations
}
