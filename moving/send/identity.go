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

// item returns an identity, and the kind and the identifier of its record, for a bucket. Its key names
// what it is or refers to.
func (i identity) item(at movefile.Position, kind movefile.Kind, of movefile.ID) item {
	is := "0"
	if i.isReference {
		is = "1"
	}
	return item{at, keyOf(string(i.space), i.id), []byte(strings.Join([]string{is, string(kind), string(i.allow), i.field, string(of)}, "\x00"))}
}

// keyOf returns the key of what has an identifier. name has no zero byte.
func keyOf(name string, id movefile.ID) []byte {
	return append(append(append(make([]byte, 0, len(name)+1+len(id)), name...), 0), id...)
}

// splitKey returns what keyOf joined.
func splitKey(key []byte) (name string, id movefile.ID) {
	before, after, _ := bytes.Cut(key, []byte{0})
	return string(before), movefile.ID(after)
}

// match is an identity at a position.
type match struct {
	identity
	at   movefile.Position
	kind movefile.Kind
	of   movefile.ID
}

// matchOf reads an item of an identity.
func matchOf(from item) (match, error) {
	parts := bytes.SplitN(from.data, []byte{0}, 5)
	if len(parts) != 5 {
		return match{}, fmt.Errorf("a temporary file was changed: %q", from.data)
	}
	name, id := splitKey(from.key)
	return match{
		identity: identity{space(name), id, isReference(from), movefile.Allowance(parts[2]), string(parts[3])},
		at:       from.at, kind: movefile.Kind(parts[1]), of: movefile.ID(parts[4]),
	}, nil
}

// isReference reports whether an item of an identity refers to it.
func isReference(from item) bool { return bytes.HasPrefix(from.data, []byte("1")) }

// resolve finds duplicates and dangling references among the identities of a bucket. Few items are decoded.
func resolve(items []item, isKnown func(space) bool, report func(match, movefile.Fault) error) error {
	slices.SortFunc(items, func(a, b item) int {
		switch by := bytes.Compare(a.key, b.key); {
		case by != 0:
			return by
		case isReference(a) == isReference(b):
			return order(a.at, b.at)
		case isReference(b):
			return -1
		}
		return 1
	})
	var first item
	for _, each := range items {
		isThere := bytes.Equal(each.key, first.key)
		if isReference(each) == isThere {
			if !isThere {
				first = each
			}
			continue
		}
		found, err := matchOf(each)
		switch {
		case err != nil:
		case found.isReference && isKnown(found.space):
			err = report(found, movefile.Fault{
				Class: movefile.Dangling, Field: found.field, Value: string(found.id), Text: fmt.Sprintf("the %s %s is not in the files", found.space, found.id), Allow: found.allow,
			})
		case !found.isReference && found.space != choices: // of choices, the entry is reported
			fault := movefile.Fault{
				Class: movefile.Duplicate, Value: string(found.id), Text: fmt.Sprintf("the %s %s is there already", found.space, found.id), Allow: movefile.Duplicates,
				First: first.at,
			}
			if found.space == emails {
				if bytes.Equal(each.data, first.data) {
					continue // of the same user, whose identifier is reported
				}
				fault.Allow = "" // the content of another user would lack its owner
			}
			err = report(found, fault)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
