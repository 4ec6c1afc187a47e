package account

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/rules"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

const (
	// maxMovedSessionLife bounds a session from the call on. Browsers keep no cookie longer.
	maxMovedSessionLife = 400 * 24 * time.Hour
	// movedRewardSource begins the source of a reward that was moved in. GrantReward takes no
	// such word with an identifier of ours, because the edge names no such source.
	movedRewardSource = "old/"
)

// take adds a record to those of its kind, or refuses it.
func (i *insertion) take(record *moveinv1.Record, result *moveinv1.Result) error {
	violations, err := i.violationsOf(record)
	if err != nil {
		return err
	}
	switch given, opened, got := record.GetUser(), record.GetSession(), record.GetReward(); {
	case len(violations) > 0:
		refuseRecord(result, "INVALID_PARAMETER", apierror.Invalid("", violations...).Message)
	case given != nil && !i.small.Admits(decimal(given.GetId())):
		refuseRecord(result, "ID_NOT_SMALL", i.small.NotAdmitted())
	case given != nil:
		result.Id = given.GetId()
		i.givenUsers.add(incomer[user]{i.userOf(given), given.GetId(), result, func(stored user) {
			if !stored.IsMoved {
				refuseRecord(result, "ID_TAKEN", "a user who was created here has this identifier")
				return
			}
			settle(result, given, stored.asMoved(given))
		}})
	case opened != nil:
		i.takeSession(opened, result)
	default:
		document := reward{ID: rewardID(got.GetUserId(), movedRewardSource+got.GetId()), Amount: got.GetAmount()}
		i.owners = append(i.owners, got.GetUserId())
		i.givenRewards.add(incomer[reward]{document, got.GetUserId(), result, func(stored reward) {
			settle(result, got, &moveinv1.Reward{Id: got.GetId(), UserId: got.GetUserId(), Amount: stored.Amount})
		}})
	}
	return nil
}

// takeSession adds a session that has not ended.
func (i *insertion) takeSession(record *moveinv1.Session, result *moveinv1.Result) {
	document := i.sessionOf(record.GetUserId(), record.GetIdrand(), record.GetExpireTime(), record.GetCreateTime(), i.now)
	if i.hasEnded(document) {
		result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		return
	}
	i.owners = append(i.owners, document.UserID)
	i.givenSessions.add(incomer[session]{document, document.UserID, result, func(stored session) {
		switch {
		case stored.UserID != document.UserID:
			refuseRecord(result, "ID_TAKEN", "another user has this session")
		case !i.isOpen(stored, i.present[document.UserID]):
			result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		default:
			// Times may follow from the use of the session, or from the time of a call.
			result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
		}
	}})
}

// violationsOf returns why a record cannot be stored, whatever is stored already.
func (i *insertion) violationsOf(record *moveinv1.Record) ([]apierror.Violation, error) {
	kinds := record.ProtoReflect().Descriptor().Oneofs().ByName("record")
	message := record.ProtoReflect().Get(record.ProtoReflect().WhichOneof(kinds)).Message().Interface()
	violations, err := rules.Violations(i.validator, message)
	if err != nil {
		return nil, err
	}
	hash := record.GetUser().GetPasswordHash()
	if checkMovedHash(hash) != nil {
		violations = append(violations, apierror.Violation{Field: "password_hash", Message: "must be in one of the known forms"})
	}
	if hash != "" && record.GetUser().GetEmail() == "" {
		violations = append(violations, apierror.Violation{Field: "password_hash", Message: "needs an email address"})
	}
	return violations, nil
}

// settle sets the result of a record that was there. stored is the record that would say what is stored. All fields
// are compared, so a field that the code forgets is always different.
func settle(result *moveinv1.Result, record, stored proto.Message) {
	result.Outcome = moveinv1.Outcome_OUTCOME_UNCHANGED
	fields := record.ProtoReflect().Descriptor().Fields()
	for n := range fields.Len() {
		if field := fields.Get(n); !record.ProtoReflect().Get(field).Equal(stored.ProtoReflect().Get(field)) {
			result.Outcome = moveinv1.Outcome_OUTCOME_DIFFERENT
			result.Fields = append(result.Fields, string(field.Name()))
		}
	}
}

// userOf returns the user to store.
func (i *insertion) userOf(record *moveinv1.User) user {
	u := user{
		// noEmailKey is also as unique as the id.
		ID: record.GetId(), RequestKey: noEmailKey(record.GetId()), IconURL: record.GetIconUrl(), CreateTime: i.now,
		PasswordHash: record.GetPasswordHash(), PasswordIsMoved: record.GetPasswordHash() != "", IsMoved: true,
	}
	u.setName(record.GetName())
	u.setEmail(record.GetEmail())
	if record.GetCreateTime() != nil {
		u.CreateTime = storedTime(record.GetCreateTime())
	}
	return u
}

// asMoved returns the record of a stored user. It says as the given one does what that leaves open or what is the same
// when it is stored. A password that was made here, also when the user logged in with the old one, is not compared.
func (u user) asMoved(given *moveinv1.User) *moveinv1.User {
	stored := &moveinv1.User{
		Id: u.ID, Name: u.Name, IconUrl: u.IconURL, Email: u.Email, PasswordHash: u.PasswordHash, CreateTime: timestamppb.New(u.CreateTime),
	}
	if u.PasswordHash != "" && !u.PasswordIsMoved {
		stored.PasswordHash = given.GetPasswordHash()
	}
	if given.GetCreateTime() == nil || storedTime(given.GetCreateTime()).Equal(u.CreateTime) {
		stored.CreateTime = given.GetCreateTime()
	}
	return stored
}

// sessionOf returns the session to store. It has the first generation, in which moved sessions are open.
func (s *server) sessionOf(userID int64, token string, expires, created *timestamppb.Timestamp, now time.Time) session {
	end := now.Add(s.life.Total)
	if expires != nil {
		end = expires.AsTime()
	}
	return session{
		ID: tokenID(token), UserID: userID, ExpireMillis: min(end.UnixMilli(), now.Add(maxMovedSessionLife).UnixMilli()),
		CreateMillis: max(0, created.AsTime().UnixMilli()), UsedMillis: now.UnixMilli(), IsMoved: true,
	}
}

// storedTime returns a time in the precision of the store.
func storedTime(t *timestamppb.Timestamp) time.Time {
	return t.AsTime().Truncate(time.Millisecond)
}
