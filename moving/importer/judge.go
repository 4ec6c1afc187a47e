package importer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// judge decides which records are left out, by those before them.
type judge struct {
	index   *index
	decoder format.Decoder
	// hasUsers says that a user came. References before it are not checked, and hasUnchecked says
	// that there was one.
	hasUsers, hasUnchecked bool

	// These are of the record at hand: the line, the hashes that nothing before may have, and what
	// is known of the content that it belongs to, or of the owner of content.
	*line
	hashes []uint64
	parent known
}

// known is what the index has of a record, and 0 of what is not there: the creation in seconds
// since 1970, or 0, and behind that, in 8 bits, that the record is there, and the number of
// choices in the vote of an entry.
type known uint64

const (
	isThere     known = 1 << 7
	maskChoices known = 1<<7 - 1
)

// verdict says whether a record stays, and how it is mended: what it loses, and behind that, in 8
// bits, the creation of what it belongs to, in seconds since 1970, for a time that it lacks.
type verdict uint64

const (
	kept verdict = 1 << iota
	withoutQuote
	withoutEmail
	whatItLoses = 1<<8 - 1
)

func (l *line) isKept() bool { return l.verdict&kept != 0 }

// isSound reports whether a line has a record with no faults but those that were mended.
func (l *line) isSound() bool { return l.Record != nil && format.IsMended(l.Faults) }

// mend mends a record as its verdict says.
func (l *line) mend(decoder format.Decoder) {
	if l.verdict&withoutQuote != 0 {
		l.Record.GetEntry().QuotedId = ""
	}
	if l.verdict&withoutEmail != 0 {
		l.Record.GetUser().Email, l.Record.GetUser().PasswordHash = "", ""
	}
	if len(l.Faults) > 0 {
		decoder.Complete(l.Record, time.Unix(int64(l.verdict)>>8, 0)) // #nosec G115 -- as it was
	}
}

// take judges a line, and mends its record.
func (j *judge) take(l *line) {
	j.line, j.hashes, j.parent = l, j.hashes[:0], 0
	if l.isSound() {
		j.compare(l.Record)
		l.verdict |= verdict(j.parent) &^ whatItLoses
	}
	j.hasUsers = j.hasUsers || l.Kind == format.KindUser
	if l.isSound() {
		l.verdict |= kept
		l.mend(j.decoder)
		j.enter(l.Record)
	}
}

func (j *judge) compare(record *moveinv1.Record) {
	of := format.SubjectOf(record)
	if of.Parent != "" {
		j.parent = j.refer(string(of.Parent)+"_id", of.Parent, of.ParentID, "")
	}
	missingUser := format.Repair("")
	if j.Kind == format.KindComment {
		missingUser = "missing-author"
	}
	if owner := j.user(of, missingUser); of.Parent == "" {
		j.parent = owner
	}
	field, id := "id", of.ID
	switch r := record.GetRecord().(type) {
	case *moveinv1.Record_User:
		if j.hasUnchecked && !j.hasUsers {
			j.fault("wrong-order", "", "", "records before the first user refer to users. "+order, "")
		}
	case *moveinv1.Record_Session:
		field, id = "idrand", r.Session.GetIdrand()
	case *moveinv1.Record_Reward:
		id = of.UserID + "/" + id
	case *moveinv1.Record_Entry:
		quoted := r.Entry.GetQuotedId()
		if quoted != "" && j.refer("quoted_id", format.KindEntry, quoted, "missing-quote") == 0 {
			j.verdict |= withoutQuote
		}
	case *moveinv1.Record_Ballot:
		field = of.UserField
		if choice := r.Ballot.GetChoice(); j.parent != 0 && known(choice) > j.parent&maskChoices { // #nosec G115 -- 1 to 20
			j.fault(dangling, "choice", fmt.Sprint(choice),
				fmt.Sprintf("the entry has %d choices", j.parent&maskChoices), "")
		}
	case *moveinv1.Record_Recommendation:
		field = of.UserField
	}
	j.unique(field, j.Kind+of.Parent, id, "")
	email := record.GetUser().GetEmail()
	if email != "" && !j.unique("email", "email", strings.ToLower(email), "duplicate-email") {
		j.verdict |= withoutEmail
	}
}

// dangling records refer to what is not there.
const dangling format.Class = "dangling"

const order = "The order is users, content, what belongs to content"

// fault adds a fault, which a rule mends with --repair, unless the rule is empty.
func (j *judge) fault(class format.Class, field, value, text string, rule format.Repair) {
	if !j.decoder.Repair {
		rule = ""
	}
	j.Faults = append(j.Faults, format.Fault{Class: class, Field: field, Value: value, Text: text, Repair: rule})
}

// user checks a reference to a user, if there is one and the files have users. It returns what is
// known of the user.
func (j *judge) user(of format.Subject, rule format.Repair) known {
	if of.UserID == "" || !j.hasUsers {
		j.hasUnchecked = j.hasUnchecked || of.UserID != ""
		return 0
	}
	return j.refer(of.UserField, format.KindUser, of.UserID, rule)
}

// refer checks a reference. It returns what is known of the other record.
func (j *judge) refer(field string, kind format.Kind, id string, rule format.Repair) known {
	found := j.index.get(j.hash(kind, id))
	if found == 0 {
		j.fault(dangling, field, id, fmt.Sprintf("no %s %s comes before, or it was left out. %s", kind, id, order),
			rule)
	}
	return known(found)
}

// unique checks that nothing before is the same thing, and reports whether that is so.
func (j *judge) unique(field string, kind format.Kind, id string, rule format.Repair) bool {
	hash := j.hash(kind, id)
	isNew := j.index.get(hash) == 0
	if isNew {
		j.hashes = append(j.hashes, hash)
	} else {
		value := id
		if field == "idrand" { // a reader of it could log in
			value = ""
		}
		j.fault("duplicate", field, value, "an earlier record has the same", rule)
	}
	return isNew
}

// enter notes that the record is there.
func (j *judge) enter(record *moveinv1.Record) {
	value := isThere | known(len(record.GetEntry().GetVote().GetChoices()))&maskChoices // #nosec G115 -- 0 to 20
	created := cmp.Or(record.GetUser().GetCreateTime(), record.GetAlbum().GetCreateTime(),
		record.GetEntry().GetCreateTime(), record.GetLandmark().GetCreateTime())
	value |= known(created.GetSeconds()) << 8 // #nosec G115 -- back in time
	for _, hash := range j.hashes {
		j.index.add(hash, uint64(value))
	}
}

func (j *judge) hash(kind format.Kind, id string) uint64 {
	return j.index.hash(string(kind) + " " + id)
}
