package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/movein"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

const (
	// maxMoveTries bounds how often documents are read again that other calls store or delete.
	maxMoveTries = 16
	// maxMovedSessionLife bounds a session from the call on. Browsers keep no cookie longer.
	maxMovedSessionLife = 400 * 24 * time.Hour
	// movedRewardSource begins the source of a reward that was moved in. GrantRewards takes no
	// such word with an identifier of ours, because the edge names no such source.
	movedRewardSource = "old/"
)

// insertion is one call of MoveIn.
type insertion struct {
	*server
	now time.Time
	// userIDs are those of records. present are those who are there, or would be. gone are those
	// who were deleted here.
	userIDs []int64
	present map[int64]user
	gone    map[int64]bool

	givenUsers    intake[int64, user]
	givenSessions intake[string, session]
	givenRewards  intake[string, reward]
}

// intake are the records of one kind that are not refused.
type intake[K docstore.Key, T any] struct {
	documents *docstore.Collection[K, T]
	id        func(T) K
	// store is Insert, or says what that would return.
	store    func(context.Context, ...T) error
	incomers []incomer[T]
	isGiven  map[K]bool
}

func newIntake[K docstore.Key, T any](documents *docstore.Collection[K, T], id func(T) K) intake[K, T] {
	return intake[K, T]{documents, id, documents.Insert, nil, map[K]bool{}}
}

// incomer is the document that a record is stored as.
type incomer[T any] struct {
	document T
	userID   int64
	result   *moveinv1.Result
	// meet compares the record with the document that is stored, and sets the result.
	meet func(stored T)
}

// MoveIn inserts users, sessions and rewards of an old service. It stores users first, so what
// belongs to them may be in the same request.
func (s *server) MoveIn(ctx context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	i := &insertion{
		server: s, now: s.now(), present: map[int64]user{}, gone: map[int64]bool{},
		givenUsers:    newIntake(s.users, func(u user) int64 { return u.ID }),
		givenSessions: newIntake(s.sessions, func(opened session) string { return opened.ID }),
		givenRewards:  newIntake(s.rewards, func(got reward) string { return got.ID }),
	}
	if request.GetValidateOnly() {
		i.givenUsers.store, i.givenSessions.store, i.givenRewards.store = i.takenEmails, pretend[session], pretend[reward]
	}
	reply := &moveinv1.MoveInResponse{}
	for _, record := range request.GetRecords() {
		result := &moveinv1.Result{}
		reply.Results = append(reply.Results, result)
		if movein.Check(record, result) {
			i.take(record, result)
		}
	}
	if err := i.look(ctx); err != nil {
		return nil, err
	}
	i.givenUsers.incomers = slices.DeleteFunc(i.givenUsers.incomers, i.isDeleted)
	if err := i.givenUsers.insert(ctx); err != nil {
		return nil, err
	}
	for _, each := range i.givenUsers.incomers {
		if each.result.GetOutcome() == moveinv1.Outcome_OUTCOME_INSERTED {
			each.result.Id, i.present[each.userID] = each.userID, each.document
		}
	}
	// In another generation than the first, all sessions of the old service are closed.
	i.givenSessions.incomers = owned(i, i.givenSessions.incomers,
		func(u user) bool { return u.CredentialGeneration == 0 })
	i.givenRewards.incomers = owned(i, i.givenRewards.incomers, func(user) bool { return true })
	if err := i.givenSessions.insert(ctx); err != nil {
		return nil, err
	}
	return reply, i.givenRewards.insert(ctx)
}

// take adds a record to those of its kind, or refuses it.
func (i *insertion) take(record *moveinv1.Record, result *moveinv1.Result) {
	switch of := record.GetRecord().(type) {
	case *moveinv1.Record_User:
		i.takeUser(of.User, result)
	case *moveinv1.Record_Session:
		i.takeSession(of.Session, result)
	case *moveinv1.Record_Reward:
		id, userID := rewardID(of.Reward.GetUserId(), movedRewardSource+of.Reward.GetId()), of.Reward.GetUserId()
		i.userIDs = append(i.userIDs, userID)
		i.givenRewards.add(incomer[reward]{reward{ID: id, Amount: of.Reward.GetAmount()}, userID, result,
			func(stored reward) {
				movein.Settle(result, of.Reward,
					&moveinv1.Reward{Id: of.Reward.GetId(), UserId: userID, Amount: stored.Amount})
			}})
	}
}

// takeUser adds a user whose password has a known form, and belongs to an address.
func (i *insertion) takeUser(given *moveinv1.User, result *moveinv1.Result) {
	switch hash := given.GetPasswordHash(); {
	case checkMovedHash(hash) != nil:
		movein.Refuse(result, "INVALID_PARAMETER", "user.password_hash: must be in one of the known forms")
	case hash != "" && given.GetEmail() == "":
		movein.Refuse(result, "INVALID_PARAMETER", "user.password_hash: needs an email address")
	case !i.small.Admits(decimal(given.GetId())):
		movein.Refuse(result, "ID_NOT_SMALL", "%s", i.small.NotAdmitted())
	default:
		i.userIDs = append(i.userIDs, given.GetId())
		i.givenUsers.add(incomer[user]{i.userOf(given), given.GetId(), result, func(stored user) {
			i.present[stored.ID], result.Id = stored, stored.ID
			if !stored.IsMoved {
				movein.Refuse(result, "ID_TAKEN", "a user who was created here has this identifier")
				return
			}
			movein.Settle(result, given, stored.asMoved(given))
		}})
	}
}

// takeSession adds a session that has not ended. It has the first generation, in which moved
// sessions are open.
func (i *insertion) takeSession(given *moveinv1.Session, result *moveinv1.Result) {
	end := i.now.Add(i.life.Total)
	if given.GetExpireTime() != nil {
		end = given.GetExpireTime().AsTime()
	}
	opened := session{
		ID: tokenID(given.GetIdrand()), UserID: given.GetUserId(), UsedMillis: i.now.UnixMilli(), IsMoved: true,
		ExpireMillis: min(end.UnixMilli(), i.now.Add(maxMovedSessionLife).UnixMilli()),
		CreateMillis: max(0, given.GetCreateTime().AsTime().UnixMilli()),
	}
	if i.hasEnded(opened) {
		result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		return
	}
	i.userIDs = append(i.userIDs, opened.UserID)
	i.givenSessions.add(incomer[session]{opened, opened.UserID, result, func(stored session) {
		switch {
		case stored.UserID != opened.UserID:
			movein.Refuse(result, "ID_TAKEN", "another user has this session")
		case !i.isOpen(stored, i.present[opened.UserID]):
			result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		default:
			// Times may follow from the use of the session, or from the time of a call.
			result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
		}
	}})
}

// add adds a record, unless an earlier one of the request is the same thing.
func (in *intake[K, T]) add(each incomer[T]) {
	if id := in.id(each.document); in.isGiven[id] {
		movein.Refuse(each.result, "REPEATED", "an earlier record of the request is the same thing")
	} else {
		in.isGiven[id] = true
		in.incomers = append(in.incomers, each)
	}
}

// insert inserts the documents that are not there, and compares the others. If a document is there
// and a read does not show it, it is not durable yet or another call is deleting it.
func (in *intake[K, T]) insert(ctx context.Context) error {
	open := in.incomers
	for range maxMoveTries {
		ids := make([]K, len(open))
		for n, each := range open {
			ids[n] = in.id(each.document)
		}
		found, gone, err := getOrGone(ctx, in.documents, ids)
		if err != nil {
			return err
		}
		stored := make(map[K]T, len(found))
		for _, each := range found {
			stored[in.id(each)] = each
		}
		var absent []incomer[T]
		var documents []T
		for n, each := range open {
			if document, isThere := stored[ids[n]]; isThere {
				each.meet(document)
			} else if gone[ids[n]] != 0 {
				each.result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
			} else {
				absent, documents = append(absent, each), append(documents, each.document)
			}
		}
		if len(absent) == 0 {
			return nil
		}
		errs := make([]error, len(documents))
		if err := in.store(ctx, documents...); err != nil {
			refused, isRefused := errors.AsType[*docstore.RefusedError](err)
			if !isRefused {
				return err
			}
			errs = refused.Errs
		}
		open = nil
		for n, each := range absent {
			duplicate, isDuplicate := errors.AsType[*docstore.DuplicateError](errs[n])
			switch {
			case errs[n] == nil:
				each.result.Outcome = moveinv1.Outcome_OUTCOME_INSERTED
			case !isDuplicate:
				return errs[n]
			case duplicate.Index == byEmail().Name:
				movein.Refuse(each.result, "EMAIL_TAKEN", "another user already has this email address")
			default:
				open = append(open, each)
			}
		}
	}
	return apierror.New(codes.Aborted, "CONFLICT", "other calls kept changing the same records; retry")
}

// getOrGone returns the documents that are stored, and the states of those that are deleted. It
// shows only what no later failure of a server undoes.
func getOrGone[K docstore.Key, T any](ctx context.Context, c *docstore.Collection[K, T],
	ids []K) (found []T, gone map[K]int64, err error) {
	if found, err = c.GetMany(ctx, ids, docstore.Durable); err != nil || len(found) == len(ids) {
		return found, nil, err
	}
	gone, err = c.Deleted(ctx, ids)
	return found, gone, err
}

// pretend says that all documents would be inserted.
func pretend[T any](context.Context, ...T) error { return nil }

// takenEmails refuses each user whose address another one has.
func (i *insertion) takenEmails(ctx context.Context, users ...user) error {
	errs, isTaken := make([]error, len(users)), map[string]bool{}
	for n, u := range users {
		_, err := i.users.Find(ctx, byEmail().Is(u.EmailKey))
		switch {
		case err == nil || isTaken[u.EmailKey]:
			errs[n] = &docstore.DuplicateError{Index: byEmail().Name}
		case !errors.Is(err, docstore.ErrNotFound):
			return err
		}
		isTaken[u.EmailKey] = true
	}
	return &docstore.RefusedError{Errs: errs}
}

// look finds the users of records. It reads burials last, because a deletion writes them first.
func (i *insertion) look(ctx context.Context) error {
	found, gone, err := getOrGone(ctx, i.users, i.userIDs)
	if err != nil {
		return err
	}
	for _, each := range found {
		i.present[each.ID] = each
	}
	var missing []string
	for _, id := range i.userIDs {
		if _, isThere := i.present[id]; !isThere {
			missing = append(missing, decimal(id))
		}
	}
	_, buried, err := i.moved.OfManyOrGone(ctx, missing)
	for _, id := range i.userIDs {
		i.gone[id] = gone[id] != 0 || buried[decimal(id)]
	}
	return err
}

// isDeleted reports whether a user was deleted here, and then sets the result.
func (i *insertion) isDeleted(given incomer[user]) bool {
	if i.gone[given.userID] {
		given.result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
	}
	return i.gone[given.userID]
}

// owned returns the sessions or rewards of users who were moved in and may have them, and sets the
// results of the others. What belonged to a deleted user was deleted with the user.
func owned[T any](i *insertion, incomers []incomer[T], mayHave func(user) bool) []incomer[T] {
	return slices.DeleteFunc(incomers, func(each incomer[T]) bool {
		owner := i.present[each.userID]
		switch {
		case i.gone[each.userID], owner.IsMoved && !mayHave(owner):
			each.result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		case !owner.IsMoved:
			movein.Refuse(each.result, "USER_NOT_FOUND", "no user was moved in with this identifier")
		default:
			return false
		}
		return true
	})
}

// userOf returns the user to store.
func (i *insertion) userOf(record *moveinv1.User) user {
	u := user{
		// noEmailKey is also as unique as the id.
		ID: record.GetId(), RequestKey: noEmailKey(record.GetId()), IconURL: record.GetIconUrl(),
		CreateTime:   movein.TimeOr(record.GetCreateTime(), timestamppb.New(i.now)),
		PasswordHash: record.GetPasswordHash(), PasswordIsMoved: record.GetPasswordHash() != "", IsMoved: true,
	}
	u.setName(record.GetName())
	u.setEmail(record.GetEmail())
	return u
}

// asMoved returns the record of a stored user. It says as the given one does what that leaves open
// or what is the same when it is stored. A password that was made here, also when the user logged
// in with the old one, is not compared.
func (u user) asMoved(given *moveinv1.User) *moveinv1.User {
	stored := &moveinv1.User{
		Id: u.ID, Name: u.Name, IconUrl: u.iconURL(), Email: u.Email, PasswordHash: u.PasswordHash,
		CreateTime: timestamppb.New(u.CreateTime),
	}
	if u.PasswordHash != "" && !u.PasswordIsMoved {
		stored.PasswordHash = given.GetPasswordHash()
	}
	if given.GetCreateTime() == nil || movein.Time(given.GetCreateTime()).Equal(u.CreateTime) {
		stored.CreateTime = given.GetCreateTime()
	}
	return stored
}
