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

// Text is a kind of texts, with its limits: those hold unless MoveOptions widens them. Beyond, the rules of the fields hold.
type Text struct {
	limit typev1.Limit
	most  int // characters, or bytes of an address
	// isName asks for a visible character.
	isAddress, mayBeEmpty, isName bool
}

// The kinds of texts. A title is also a choice of a vote, and the name of a guest.
var (
	Title        = Text{limit: typev1.Limit_LIMIT_TITLE, most: 200}
	Name         = Text{limit: typev1.Limit_LIMIT_TITLE, most: 200, isName: true}
	Question     = Text{limit: typev1.Limit_LIMIT_TITLE, most: 500}
	EntryText    = Text{limit: typev1.Limit_LIMIT_CONTENT, most: 100_000}
	remark       = Text{limit: typev1.Limit_LIMIT_TEXT, most: 2000}
	caption      = Text{limit: typev1.Limit_LIMIT_TEXT, most: 2000, mayBeEmpty: true}
	imageAddress = Text{limit: typev1.Limit_LIMIT_ADDRESS, most: 2000, isAddress: true}
	icon         = Text{limit: typev1.Limit_LIMIT_ADDRESS, most: 2000, isAddress: true, mayBeEmpty: true}
)

// Check checks a text.
func (l *Limits) Check(kind Text, value, field string) {
	length, unit := utf8.RuneCountInString(value), "characters"
	if kind.isAddress {
		length, unit = len(value), "bytes"
	}
	isEmptyRefused := !l.isWidened(typev1.Limit_LIMIT_EMPTY)
	if isEmptyRefused && value == "" && !kind.mayBeEmpty {
		l.Violate(field, "must not be empty (empty)")
	}
	if length > kind.most && !l.isWidened(kind.limit) {
		l.Violate(field, fmt.Sprintf("must be at most %d %s (%s)", kind.most, unit, strings.ToLower(strings.TrimPrefix(kind.limit.String(), "LIMIT_"))))
	}
	if isEmptyRefused && kind.isName && value != "" && text.IsBlank(value) {
		l.Violate(field, "must have a visible character (empty)")
	}
}

// Comments checks comments.
func (l *Limits) Comments(comments []*typev1.MovedComment) {
	for i, each := range comments {
		before := len(l.violations)
		l.Check(remark, each.GetText(), "text")
		if reply := each.GetReply(); reply != nil {
			l.Check(remark, reply.GetText(), "reply.text")
		}
		if guest := each.GetGuest(); guest != nil {
			l.Check(Title, guest.GetName(), "guest.name")
			l.Check(icon, guest.GetIconUrl(), "guest.icon_url")
		}
		l.within("comments", i, before)
	}
}

// Photo checks a photo.
func (l *Limits) Photo(n int, addressField, address, description string) {
	before := len(l.violations)
	l.Check(imageAddress, address, addressField)
	l.Check(caption, description, "description")
	l.within("photos", n, before)
}

// within puts the fields of the latest violations below an item of a list.
func (l *Limits) within(list string, n, before int) {
	for i := before; i < len(l.violations); i++ {
		l.violations[i].Field = fmt.Sprintf("%s[%d].%s", list, n, l.violations[i].Field)
	}
}
