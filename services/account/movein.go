package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

const (
	// maxMoveTries bounds how often documents are read again that other calls store or delete.
	maxMoveTries = 16
	// emailsBatch is how many addresses one query looks for. MongoDB plans each of them.
	emailsBatch = 100
)

// insertion is one call of MoveIn.
type insertion struct {
	*server
	isDry bool
	now   time.Time
	// present are the users of records who are there, or would be. gone are those who were deleted here.
	present map[int64]user
	gone    map[int64]bool
	// owners are the users of sessions and rewards.
	owners []int64

	givenUsers    intake[int64, user]
	givenSessions intake[string, session]
	givenRewards  intake[string, reward]
}

// intake are the records of one kind that are not refused.
type intake[K docstore.Key, T any] struct {
	id func(T) K
	// look reads what is stored, as no failover undoes, and what was deleted.
	look func(ctx context.Context, ids []K) (stored map[K]T, gone map[K]bool, err error)
	// store is that of docstore.Collection.InsertMany.
	store    func(ctx context.Context, documents []T) (errs []error, err error)
	incomers []incomer[T]
	isGiven  map[K]bool
}

// incomer is the document that a record is stored as.
type incomer[T any] struct {
	document T
	userID   int64
	result   *moveinv1.Result
	// meet compares the record with the document that is stored, and sets the result.
	meet func(stored T)
}

// MoveIn inserts users, sessions and rewards of an old service. It stores users first, so what belongs to them may
// be in the same request.
func (s *server) MoveIn(ctx context.Context, request *moveinv1.MoveInRequest) (*moveinv1.MoveInResponse, error) {
	i := &insertion{server: s, isDry: request.GetValidateOnly(), now: s.now(), present: map[int64]user{}, gone: map[int64]bool{}}
	i.givenUsers = intake[int64, user]{id: func(u user) int64 { return u.ID }, look: i.lookForUsers, store: i.storeUsers, isGiven: map[int64]bool{}}
	i.givenSessions = partsIn(s.sessions, i.isDry, func(part session) string { return part.ID })
	i.givenRewards = partsIn(s.rewards, i.isDry, func(part reward) string { return part.ID })
	reply := &moveinv1.MoveInResponse{Results: make([]*moveinv1.Result, len(request.GetRecords()))}
	for n, record := range request.GetRecords() {
		reply.Results[n] = &moveinv1.Result{}
		if err := i.take(record, reply.Results[n]); err != nil {
			return nil, err
		}
	}
	if err := i.givenUsers.insert(ctx); err != nil {
		return nil, err
	}
	if _, _, err := i.lookForUsers(ctx, i.owners); err != nil {
		return nil, err
	}
	// In another generation than the first, all sessions of the old service are closed.
	i.givenSessions.incomers = owned(i, i.givenSessions.incomers, func(u user) bool { return u.CredentialGeneration == 0 })
	i.givenRewards.incomers = owned(i, i.givenRewards.incomers, func(user) bool { return true })
	if err := i.givenSessions.insert(ctx); err != nil {
		return nil, err
	}
	return reply, i.givenRewards.insert(ctx)
}

// partsIn returns the intake of sessions or rewards.
func partsIn[T any](c *docstore.Collection[string, T], isDry bool, id func(T) string) intake[string, T] {
	parts := intake[string, T]{id: id, store: c.InsertMany, isGiven: map[string]bool{}}
	if isDry {
		parts.store = func(_ context.Context, documents []T) ([]error, error) { return make([]error, len(documents)), nil }
	}
	parts.look = func(ctx context.Context, ids []string) (map[string]T, map[string]bool, error) {
		stored := make(map[string]T, len(ids))
		found, err := c.GetDurable(ctx, ids)
		for _, each := range found {
			stored[id(each.Document)] = each.Document
		}
		return stored, nil, err
	}
	return parts
}

// add adds a record, unless an earlier one of the request is the same thing.
func (in *intake[K, T]) add(each incomer[T]) {
	id := in.id(each.document)
	if in.isGiven[id] {
		refuseRecord(each.result, "REPEATED", "an earlier record of the request is the same thing")
		return
	}
	in.isGiven[id] = true
	in.incomers = append(in.incomers, each)
}

// insert inserts the documents that are not there, and compares the others. If a document is there and its look does
// not show it, it is not durable yet or another call is deleting it.
func (in *intake[K, T]) insert(ctx context.Context) error {
	open := in.incomers
	for range maxMoveTries {
		if len(open) == 0 {
			return nil
		}
		ids := make([]K, len(open))
		for n, each := range open {
			ids[n] = in.id(each.document)
		}
		stored, gone, err := in.look(ctx, ids)
		if err != nil {
			return err
		}
		var absent []incomer[T]
		var documents []T
		for n, each := range open {
			if found, isThere := stored[ids[n]]; isThere {
				each.meet(found)
			} else if gone[ids[n]] {
				each.result.Id, each.result.Outcome = 0, moveinv1.Outcome_OUTCOME_DELETED
			} else {
				absent, documents = append(absent, each), append(documents, each.document)
			}
		}
		if len(absent) == 0 {
			return nil
		}
		errs, err := in.store(ctx, documents)
		if err != nil {
			return err
		}
		if open, err = unsettled(absent, errs); err != nil {
			return err
		}
	}
	return apierror.New(codes.Aborted, "CONFLICT", "other calls kept changing the same records; retry")
}

// unsettled sets the results of documents that were stored or not, and returns those that another call has stored.
func unsettled[T any](absent []incomer[T], errs []error) (taken []incomer[T], err error) {
	for n, each := range absent {
		var duplicate *docstore.DuplicateError
		switch {
		case errs[n] == nil:
			each.result.Outcome = moveinv1.Outcome_OUTCOME_INSERTED
		case !errors.As(errs[n], &duplicate):
			return nil, errs[n]
		case duplicate.Index == byEmail().Name:
			refuseRecord(each.result, "EMAIL_TAKEN", "another user already has this email address")
		default:
			taken = append(taken, each)
		}
	}
	return taken, nil
}

// storeUsers stores new users. In a dry run it returns the errors that it would.
func (i *insertion) storeUsers(ctx context.Context, users []user) (errs []error, err error) {
	if i.isDry {
		errs, err = i.takenEmails(ctx, users)
	} else {
		errs, err = i.users.InsertMany(ctx, users)
	}
	for n := range errs {
		if errs[n] == nil {
			i.present[users[n].ID] = users[n]
		}
	}
	return errs, err
}

// takenEmails returns an error for each user whose address another one has.
func (i *insertion) takenEmails(ctx context.Context, users []user) (errs []error, err error) {
	keys, isTaken := make([]docstore.Span, len(users)), map[string]bool{}
	for n, u := range users {
		keys[n] = docstore.Between(u.EmailKey, u.EmailKey)
	}
	for some := range slices.Chunk(keys, emailsBatch) {
		others, err := i.users.Page(ctx, docstore.Query{Where: byEmail().In(some[0], some[1:]...), Limit: len(some)})
		if err != nil {
			return nil, err
		}
		for _, other := range others.Documents {
			isTaken[other.EmailKey] = true
		}
	}
	errs = make([]error, len(users))
	for n, u := range users {
		if isTaken[u.EmailKey] {
			errs[n] = &docstore.DuplicateError{Index: byEmail().Name}
		}
		isTaken[u.EmailKey] = true
	}
	return errs, nil
}

// lookForUsers reads burials last, because a deletion writes them first.
func (i *insertion) lookForUsers(ctx context.Context, ids []int64) (map[int64]user, map[int64]bool, error) {
	found, gone, err := i.users.GetManyOrGone(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, each := range found {
		i.present[each.ID] = each
	}
	var missing []string
	for _, id := range ids {
		if _, isThere := i.present[id]; !isThere {
			missing = append(missing, decimal(id))
		}
	}
	_, buried, err := i.moved.OfManyOrGone(ctx, missing)
	for _, id := range ids {
		if gone[id] || buried[decimal(id)] {
			i.gone[id] = true
		}
	}
	return i.present, i.gone, err
}

// owned returns the sessions or rewards of users who were moved in and may have them, and sets the results of the
// others. What belonged to a deleted user was deleted with the user.
func owned[T any](i *insertion, incomers []incomer[T], mayHave func(user) bool) []incomer[T] {
	return slices.DeleteFunc(incomers, func(each incomer[T]) bool {
		owner := i.present[each.userID]
		switch {
		case i.gone[each.userID], owner.IsMoved && !mayHave(owner):
			each.result.Outcome = moveinv1.Outcome_OUTCOME_DELETED
		case !owner.IsMoved:
			refuseRecord(each.result, "USER_NOT_FOUND", "no user was moved in with this identifier")
		default:
			return false
		}
		return true
	})
}

func refuseRecord(result *moveinv1.Result, reason, message string) {
	result.Id, result.Outcome, result.Reason, result.Message = 0, moveinv1.Outcome_OUTCOME_REFUSED, reason, message
}
