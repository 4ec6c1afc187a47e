package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// moveIn is one call of MoveInUsers.
type moveIn struct {
	*server
	isUpdate, isDry, isRevival bool
	now                        time.Time
}

// incoming is a record that is not refused.
type incoming struct {
	record *accountv1.MovedUser
	result *typev1.MoveResult
	// stored is the user after the call.
	stored user
}

// MoveInUsers stores users of an old service. It stores each user before the user's
// sessions and rewards, so a repeated call finds what is missing.
func (s *server) MoveInUsers(ctx context.Context, request *accountv1.MoveInUsersRequest) (*accountv1.MoveInUsersResponse, error) {
	m := &moveIn{server: s, isUpdate: request.GetOptions().GetUpdate(), isDry: request.GetOptions().GetValidateOnly(), isRevival: request.GetOptions().GetRevive(), now: s.now()}
	reply := &accountv1.MoveInUsersResponse{}
	open, isRepeated := make([]*incoming, 0, len(request.GetUsers())), make(map[int64]bool)
	for _, record := range request.GetUsers() {
		result := &typev1.MoveResult{}
		reply.Results = append(reply.Results, result)
		problems, err := problemsOf(s.validator, record, request.GetOptions().GetWiden())
		if err != nil {
			return nil, err
		}
		if isRepeated[record.GetUserId()] {
			problems = append(problems, &typev1.MoveProblem{Field: "user_id", Reason: "REPEATED", Message: "an earlier record of the request has the same user_id"})
		}
		if !s.small.Admits(decimal(record.GetUserId())) {
			problems = append(problems, &typev1.MoveProblem{Field: "user_id", Reason: "ID_NOT_SMALL", Message: s.small.NotAdmitted()})
		}
		if len(problems) > 0 {
			refuse(result, problems...)
			continue
		}
		isRepeated[record.GetUserId()] = true
		result.Id = record.GetUserId()
		open = append(open, &incoming{record: record, result: result})
	}
	open, buried, err := m.refuseBuried(ctx, open)
	if err != nil {
		return nil, err
	}
	if err := m.storeUsers(ctx, open); err != nil {
		return nil, err
	}
	accepted := make([]*incoming, 0, len(open))
	for _, each := range open {
		if each.isIn() {
			accepted = append(accepted, each)
		} else {
			buried = slices.DeleteFunc(buried, func(oldID string) bool { return oldID == decimal(each.record.GetUserId()) })
		}
	}
	if !m.isDry {
		if err := m.moved.Revive(ctx, buried); err != nil {
			return nil, err
		}
	}
	if err := m.storeSessions(ctx, accepted); err != nil {
		return nil, err
	}
	return reply, m.storeRewards(ctx, accepted)
}

// isIn reports whether the user is stored and equals the record.
func (i *incoming) isIn() bool {
	outcome := i.result.GetOutcome()
	return outcome != typev1.MoveOutcome_MOVE_OUTCOME_REFUSED && outcome != typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
}

// noteAdded notes that a part was stored of a user who was there already.
func (m *moveIn) noteAdded(to *incoming) {
	if to.result.GetOutcome() != typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED {
		return
	}
	to.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_CREATED // of the rest of the record
	if m.isUpdate {
		to.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_UPDATED
	}
}

// refuseBuried refuses the users who were moved in and deleted, unless the call brings them back. It
// returns the others, and whom it brings back.
func (m *moveIn) refuseBuried(ctx context.Context, open []*incoming) (others []*incoming, buried []string, err error) {
	oldIDs := make([]string, len(open))
	for i, each := range open {
		oldIDs[i] = decimal(each.record.GetUserId())
	}
	_, gone, err := m.moved.OfManyOrGone(ctx, oldIDs)
	if err != nil {
		return nil, nil, err
	}
	for i, each := range open {
		if gone[oldIDs[i]] && !m.isRevival {
			refuseDeleted(each.result)
			continue
		}
		others = append(others, each)
		if gone[oldIDs[i]] {
			buried = append(buried, oldIDs[i])
		}
	}
	return others, buried, nil
}

func refuseDeleted(result *typev1.MoveResult) {
	refuse(result, &typev1.MoveProblem{Reason: "DELETED", Message: "the user was deleted here"})
}

func refuse(result *typev1.MoveResult, problems ...*typev1.MoveProblem) {
	result.Id, result.Outcome = 0, typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
	result.Problems = problems[:min(len(problems), maxMoveProblems)]
}

func refuseEmail(result *typev1.MoveResult) {
	refuse(result, &typev1.MoveProblem{Field: "email", Reason: "EMAIL_TAKEN", Message: "another user already has this email address"})
}

// storeUsers stores the users of records and sets the outcomes. It reads what no failover undoes, so a
// user who is unchanged stays so.
func (m *moveIn) storeUsers(ctx context.Context, open []*incoming) error {
	for range maxMoveTries {
		if len(open) == 0 {
			return nil
		}
		ids := make([]int64, len(open))
		for i, each := range open {
			ids[i] = each.record.GetUserId()
		}
		found, gone, err := m.users.GetManyOrGone(ctx, ids)
		if err != nil {
			return err
		}
		stored := make(map[int64]user, len(found))
		for _, u := range found {
			stored[u.ID] = u
		}
		var created, again []*incoming
		for _, each := range open {
			before, exists := stored[each.record.GetUserId()]
			if gone[each.record.GetUserId()] {
				refuseDeleted(each.result)
				continue
			}
			if !exists {
				created = append(created, each)
				continue
			}
			isSettled, err := m.meet(ctx, each, before)
			if err != nil {
				return err
			}
			if !isSettled {
				again = append(again, each)
			}
		}
		insert := m.insertUsers
		if m.isDry {
			insert = m.wouldInsert
		}
		taken, err := insert(ctx, created)
		if err != nil {
			return err
		}
		open = append(again, taken...)
	}
	return apierror.New(codes.Aborted, "CONFLICT", "other calls kept changing the same users; retry")
}

// meet compares a record with the user who exists, and changes the user if the call is an update.
// It returns false if the user has been deleted meanwhile.
func (m *moveIn) meet(ctx context.Context, each *incoming, before user) (isSettled bool, err error) {
	each.stored = before
	if !apply(&each.stored, each.record) {
		each.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED
		return true, nil
	}
	switch {
	case !before.IsMoved:
		refuse(each.result, &typev1.MoveProblem{Field: "user_id", Reason: "ID_TAKEN", Message: "a user who was created here has this identifier"})
		return true, nil
	case !m.isUpdate:
		each.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
		return true, nil
	}
	each.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_UPDATED
	if m.isDry {
		return true, m.checkEmail(ctx, each)
	}
	each.stored, err = m.users.Update(ctx, before.ID, func(u *user) error {
		apply(u, each.record)
		return nil
	})
	var duplicate *docstore.DuplicateError
	switch {
	case errors.Is(err, docstore.ErrNotFound):
		return false, nil
	case errors.As(err, &duplicate):
		refuseEmail(each.result)
		return true, nil
	}
	return true, err
}

// apply gives a user the content of a record, and reports whether that is a change. It leaves a
// password alone that was made here.
func apply(u *user, record *accountv1.MovedUser) (isChanged bool) {
	before := *u
	if record.GetName() != u.Name {
		u.setName(record.GetName())
	}
	if record.GetEmail() != u.Email {
		u.setEmail(record.GetEmail())
	}
	u.IconURL = record.GetIconUrl()
	if u.PasswordIsMoved || u.PasswordHash == "" {
		u.PasswordHash, u.PasswordIsMoved = record.GetPasswordHash(), record.GetPasswordHash() != ""
	}
	if record.GetCreateTime() != nil {
		if created := storedTime(record.GetCreateTime()); !created.Equal(u.CreateTime) {
			u.CreateTime = created
		}
	}
	return *u != before
}

// insertUsers stores new users and returns the records whose user another call has stored.
func (m *moveIn) insertUsers(ctx context.Context, created []*incoming) (taken []*incoming, err error) {
	documents := make([]user, len(created))
	for i, each := range created {
		id := each.record.GetUserId()
		// noEmailKey is also as unique as the id.
		documents[i] = user{ID: id, RequestKey: noEmailKey(id), CreateTime: m.now, IsMoved: true}
		documents[i].setName(each.record.GetName())
		documents[i].setEmail(each.record.GetEmail())
		apply(&documents[i], each.record)
	}
	errs, err := m.users.InsertMany(ctx, documents)
	if err != nil {
		return nil, err
	}
	for i, each := range created {
		var duplicate *docstore.DuplicateError
		switch {
		case errs[i] == nil:
			each.stored, each.result.Outcome = documents[i], typev1.MoveOutcome_MOVE_OUTCOME_CREATED
		case !errors.As(errs[i], &duplicate):
			return nil, errs[i]
		case duplicate.Index == byEmail().Name:
			refuseEmail(each.result)
		default:
			taken = append(taken, each)
		}
	}
	return taken, nil
}

// wouldInsert sets the outcomes that insertUsers would set.
func (m *moveIn) wouldInsert(ctx context.Context, created []*incoming) (taken []*incoming, err error) {
	hasEmail := make(map[string]bool, len(created))
	for _, each := range created {
		each.stored = user{ID: each.record.GetUserId()}
		each.result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_CREATED
		key := emailKey(each.record.GetEmail())
		if key != "" && hasEmail[key] {
			refuseEmail(each.result)
			continue
		}
		hasEmail[key] = true
		if err := m.checkEmail(ctx, each); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// checkEmail refuses a record whose email address another user has.
func (m *moveIn) checkEmail(ctx context.Context, each *incoming) error {
	if each.record.GetEmail() == "" {
		return nil
	}
	owner, err := m.users.Find(ctx, byEmail().Is(emailKey(each.record.GetEmail())))
	if errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	if err == nil && owner.ID != each.record.GetUserId() {
		refuseEmail(each.result)
	}
	return err
}
