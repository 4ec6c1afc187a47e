package account

import (
	"fmt"
	"slices"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/text"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

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

// storedTime returns a time in the precision of the store.
func storedTime(t *timestamppb.Timestamp) time.Time {
	return t.AsTime().Truncate(time.Millisecond)
}
