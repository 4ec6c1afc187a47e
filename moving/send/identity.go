package send

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/moving/movefile"
)

// identity says that a record is something, or refers to it.
type identity struct {
	space space
	id    movefile.ID
	// isReference says that the record refers to it.
	isReference bool
	// allow is the allowance under which the reference may lead to nothing, and field is where it is.
	allow movefile.Allowance
	field string
}

// space names a set of identifiers, as messages name it.
type space string

const (
	users          space = "user"
	emails         space = "email address"
	sessions       space = "session"
	rewards        space = "reward"
	ballots        space = "ballot"
	recommendation space = "recommendation"
	choices        space = "choice"
)

// identitiesOf returns what a record is and refers to. Fields that could not be read are left out.
func identitiesOf(record movefile.Record) (all []identity) {
	is := func(in space, parts ...movefile.ID) {
		if slices.Contains(parts, "") {
			return
		}
		texts := make([]string, len(parts))
		for i, part := range parts {
			texts[i] = string(part)
		}
		all = append(all, identity{space: in, id: movefile.ID(strings.Join(texts, " of "))})
	}
	refers := func(field string, to space, id movefile.ID, allow movefile.Allowance) {
		if id != "" {
			all = append(all, identity{space: to, id: id, isReference: true, allow: allow, field: field})
		}
	}
	root := record.Root()
	parent := string(root.Kind) + "_id"
	switch record := record.(type) {
	case *movefile.User:
		is(users, record.ID)
		is(emails, movefile.ID(strings.ToLower(record.Email)))
	case *movefile.Session:
		is(sessions, movefile.ID(record.IDRand))
		refers("user_id", users, record.UserID, movefile.DanglingRecords)
	case *movefile.Reward:
		is(rewards, record.ID, record.UserID)
		refers("user_id", users, record.UserID, movefile.DanglingRecords)
	case *movefile.Album:
		is(space(root.Kind), record.ID)
		refers("owner_id", users, record.OwnerID, movefile.NewOwner)
	case *movefile.Landmark:
		is(space(root.Kind), record.ID)
		refers("owner_id", users, record.OwnerID, movefile.NewOwner)
	case *movefile.Entry:
		is(space(root.Kind), record.ID)
		refers("author_id", users, record.AuthorID, movefile.NewOwner)
		refers("quoted_id", space(movefile.KindEntry), record.QuotedID, movefile.DanglingRecords)
		if record.Vote != nil {
			for n := range record.Vote.Choices {
				is(choices, movefile.ID(strconv.Itoa(n+1)), record.ID)
			}
		}
	case *movefile.Photo:
		is("photo of "+kindOf(root), record.ID)
		refers(parent, space(root.Kind), root.ID, movefile.DanglingRecords)
	case *movefile.Comment:
		is("comment on "+kindOf(root), record.ID)
		refers(parent, space(root.Kind), root.ID, movefile.DanglingRecords)
		refers("author_id", users, record.AuthorID, movefile.DanglingRecords)
	case *movefile.Ballot:
		is(ballots, record.UserID, record.EntryID)
		if record.Choice > 0 && root.ID != "" {
			refers("choice", choices, movefile.ID(strconv.FormatInt(record.Choice, 10))+" of "+root.ID, movefile.DanglingRecords)
		}
		refers("user_id", users, record.UserID, movefile.DanglingRecords)
	case *movefile.Recommendation:
		is(recommendation+" of "+kindOf(root), record.UserID, root.ID)
		refers(parent, space(root.Kind), root.ID, movefile.DanglingRecords)
		refers("user_id", users, record.UserID, movefile.DanglingRecords)
	}
	return all
}

func kindOf(root movefile.Root) space { return space(root.Kind) }

// encode writes an identity, and the kind and the identifier of its record, for a bucket. Identities of the same thing
// begin alike, and those that are it come before those that refer to it.
func (i identity) encode(kind movefile.Kind, of movefile.ID) []byte {
	order := "0"
	if i.isReference {
		order = "1"
	}
	return []byte(strings.Join([]string{string(i.space), string(i.id), order, string(kind), string(i.allow), string(of), i.field}, "\x00"))
}

// match is an identity at a position.
type match struct {
	identity
	at   movefile.Position
	kind movefile.Kind
	of   movefile.ID
}

// decodeMatch reads what encode wrote.
func decodeMatch(from item) (match, error) {
	parts := bytes.Split(from.data, []byte{0})
	if len(parts) != 7 {
		return match{}, fmt.Errorf("a temporary file was changed: %q", from.data)
	}
	return match{
		identity: identity{space(parts[0]), movefile.ID(parts[1]), string(parts[2]) == "1", movefile.Allowance(parts[4]), string(parts[6])},
		at:       from.at, kind: movefile.Kind(parts[3]), of: movefile.ID(parts[5]),
	}, nil
}

// resolve finds duplicates and dangling references among the identities of a bucket. Few items are decoded.
func resolve(items []item, isKnown func(space) bool, report func(match, movefile.Fault) error) error {
	type headed struct {
		subject     []byte
		isReference bool
		item
	}
	all := make([]headed, len(items))
	for n, each := range items {
		all[n].subject, all[n].isReference = head(each.data)
		all[n].item = each
	}
	slices.SortFunc(all, func(a, b headed) int {
		switch by := bytes.Compare(a.subject, b.subject); {
		case by != 0:
			return by
		case a.isReference == b.isReference:
			return order(a.at, b.at)
		case b.isReference:
			return -1
		}
		return 1
	})
	var first headed
	for _, each := range all {
		isThere := bytes.Equal(each.subject, first.subject)
		if each.isReference == isThere {
			if !isThere {
				first = each
			}
			continue
		}
		found, err := decodeMatch(each.item)
		switch {
		case err != nil:
		case each.isReference && isKnown(found.space):
			err = report(found, movefile.Fault{
				Class: movefile.Dangling, Field: found.field, Value: string(found.id), Text: fmt.Sprintf("the %s %s is not in the files", found.space, found.id), Allow: found.allow,
			})
		case !each.isReference && found.space != choices: // of choices, the entry is reported
			err = report(found, movefile.Fault{
				Class: movefile.Duplicate, Value: string(found.id), Text: fmt.Sprintf("the %s %s is there already", found.space, found.id), Allow: movefile.Duplicates,
				First: first.at,
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// head returns the part of an encoded identity that names it, and whether the record refers to it.
func head(data []byte) (subject []byte, isReference bool) {
	end := 0
	for range 2 {
		end += 1 + bytes.IndexByte(data[end:], 0)
	}
	return data[:end], end < len(data) && data[end] == '1'
}
