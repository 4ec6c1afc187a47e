package serve

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/text"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The limits that hold unless MoveOptions widens them. Beyond, the rules of the fields hold.
const (
	maxTitle    = 200
	maxQuestion = 500
	maxText     = 2000
	maxContent  = 100_000
	maxAddress  = 2000
)

// Limits checks the limits of a record that may be widened.
type Limits struct {
	widened    []typev1.Limit
	violations []apierror.Violation
}

// Records makes records of the messages of a request, and a result for each. A message that violates
// the rules of its fields, or the limits that check checks, is refused in its result, and its record
// is nil.
func Records[M proto.Message, P, C any](
	validator protovalidate.Validator, options *typev1.MoveOptions, messages []M,
	check func(*Limits, M), recordOf func(M) *Record[P, C],
) (records []*Record[P, C], results []*typev1.MoveResult, err error) {
	records, results = make([]*Record[P, C], len(messages)), make([]*typev1.MoveResult, len(messages))
	for i, message := range messages {
		results[i] = &typev1.MoveResult{}
		violations, err := service.Violations(validator, message)
		if err != nil {
			return nil, nil, err
		}
		if len(violations) == 0 {
			limits := Limits{widened: options.GetWiden()}
			check(&limits, message)
			violations = limits.violations
		}
		if len(violations) > 0 {
			refuse(results[i], violations)
		} else {
			records[i] = recordOf(message)
		}
	}
	return records, results, nil
}

// refuse makes a result say that its record is invalid.
func refuse(result *typev1.MoveResult, violations []apierror.Violation) {
	result.Outcome = typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
	for _, v := range violations[:min(len(violations), maxProblems)] {
		result.Problems = append(result.Problems, &typev1.MoveProblem{Field: v.Field, Reason: "INVALID_PARAMETER", Message: v.Message})
	}
}

func (l *Limits) isWidened(limit typev1.Limit) bool { return slices.Contains(l.widened, limit) }

// Violate adds a violation.
func (l *Limits) Violate(field, message string) {
	l.violations = append(l.violations, apierror.Violation{Field: field, Message: message})
}

func (l *Limits) atMost(limit typev1.Limit, length, most int, unit, field string) {
	if length > most && !l.isWidened(limit) {
		l.Violate(field, fmt.Sprintf("must be at most %d %s (%s)", most, unit, nameOf(limit)))
	}
}

func (l *Limits) notEmpty(value, field string) {
	if value == "" && !l.isWidened(typev1.Limit_LIMIT_EMPTY) {
		l.Violate(field, "must not be empty ("+nameOf(typev1.Limit_LIMIT_EMPTY)+")")
	}
}

// nameOf returns a limit as the command line names it, such as title.
func nameOf(limit typev1.Limit) string {
	return strings.ToLower(strings.TrimPrefix(limit.String(), "LIMIT_"))
}

// Title checks a title.
func (l *Limits) Title(value, field string) {
	l.notEmpty(value, field)
	l.atMost(typev1.Limit_LIMIT_TITLE, utf8.RuneCountInString(value), maxTitle, "characters", field)
}

// Name checks a name, which has a visible character.
func (l *Limits) Name(value, field string) {
	l.Title(value, field)
	if value != "" && text.IsBlank(value) && !l.isWidened(typev1.Limit_LIMIT_EMPTY) {
		l.Violate(field, "must have a visible character ("+nameOf(typev1.Limit_LIMIT_EMPTY)+")")
	}
}

// Question checks the question of a vote.
func (l *Limits) Question(value, field string) {
	l.notEmpty(value, field)
	l.atMost(typev1.Limit_LIMIT_TITLE, utf8.RuneCountInString(value), maxQuestion, "characters", field)
}

// Content checks the content of an entry.
func (l *Limits) Content(value, field string) {
	l.notEmpty(value, field)
	l.atMost(typev1.Limit_LIMIT_CONTENT, utf8.RuneCountInString(value), maxContent, "characters", field)
}

// Text checks a text.
func (l *Limits) Text(value, field string) {
	l.notEmpty(value, field)
	l.Description(value, field)
}

// Description checks a text that may be empty.
func (l *Limits) Description(value, field string) {
	l.atMost(typev1.Limit_LIMIT_TEXT, utf8.RuneCountInString(value), maxText, "characters", field)
}

// Address checks the address of an image.
func (l *Limits) Address(value, field string) {
	l.notEmpty(value, field)
	l.Icon(value, field)
}

// Icon checks the address of an image that may be empty.
func (l *Limits) Icon(value, field string) {
	l.atMost(typev1.Limit_LIMIT_ADDRESS, len(value), maxAddress, "bytes", field)
}

// Comments checks comments.
func (l *Limits) Comments(comments []*typev1.MovedComment) {
	for i, each := range comments {
		// The path is made only for a comment that needs it.
		path := func(field string) string { return fmt.Sprintf("comments[%d].%s", i, field) }
		before := len(l.violations)
		l.Text(each.GetText(), "text")
		if reply := each.GetReply(); reply != nil {
			l.Text(reply.GetText(), "reply.text")
		}
		if guest := each.GetGuest(); guest != nil {
			l.Title(guest.GetName(), "guest.name")
			l.Icon(guest.GetIconUrl(), "guest.icon_url")
		}
		for n := before; n < len(l.violations); n++ {
			l.violations[n].Field = path(l.violations[n].Field)
		}
	}
}

// Photo checks a photo.
func (l *Limits) Photo(n int, addressField, address, description string) {
	before := len(l.violations)
	l.Address(address, addressField)
	l.Description(description, "description")
	for i := before; i < len(l.violations); i++ {
		l.violations[i].Field = fmt.Sprintf("photos[%d].%s", n, l.violations[i].Field)
	}
}
