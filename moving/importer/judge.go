package importer

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// judge decides which records are left out, by those before them.
type judge struct {
	index   *index
	decoder *format.Decoder
	repair  bool
	// hasUsers says that a user came. References before it are not checked, and hasUnchecked says that there was one.
	hasUsers, hasUnchecked bool

	// These are of the record at hand: what is wrong with it, the hashes that nothing before may have, and what is known of
	// the content that it belongs to, or of the owner of content.
	faults []format.Fault
	hashes []uint64
	parent known
	key    []byte
}

// known is what the index has of a record, and 0 of what is not there: the creation in seconds since 1970, and behind that,
// in 8 bits, that the record is there, whether the creation is known, and the number of choices in the vote of an entry.
type known uint64

const (
	isThere     known = 1 << 7
	hasTime     known = 1 << 6
	maskChoices known = 1<<6 - 1
)

// take judges a line. The record stays if it has no faults but those that were mended.
func (j *judge) take(line *format.Line) (faults []format.Fault, isKept bool) {
	j.faults, j.hashes, j.parent = line.Faults, j.hashes[:0], 0
	if line.Record != nil && isMended(j.faults) {
		j.compare(line.Record)
		isKept = isMended(j.faults)
	}
	j.hasUsers = j.hasUsers || line.Kind == format.KindUser
	if isKept {
		j.enter(line.Record)
	}
	return j.faults, isKept
}

func isMended(faults []format.Fault) bool {
	return !slices.ContainsFunc(faults, func(f format.Fault) bool { return f.Repair == "" })
}

// compare compares the record with those before.
func (j *judge) compare(record *moveinv1.Record) {
	content, id := format.Parent(record)
	if content != "" {
		j.parent = j.refer(string(content)+"_id", content, 0, id, "")
	}
	switch r := record.GetRecord().(type) {
	case *moveinv1.Record_User:
		if j.hasUnchecked && !j.hasUsers {
			j.fault("wrong-order", "", "", "records before the first user refer to users. "+order, "")
		}
		j.unique("id", format.KindUser, r.User.GetId(), "")
		if email := r.User.GetEmail(); email != "" {
			j.unique("email", "email", 0, strings.ToLower(email))
		}
	case *moveinv1.Record_Session:
		j.user("user_id", r.Session.GetUserId(), "")
		j.unique("idrand", format.KindSession, 0, r.Session.GetIdrand())
	case *moveinv1.Record_Reward:
		j.user("user_id", r.Reward.GetUserId(), "")
		j.unique("id", format.KindReward, r.Reward.GetUserId(), r.Reward.GetId())
	case *moveinv1.Record_Album:
		j.parent = j.user("owner_id", r.Album.GetOwnerId(), "")
		j.unique("id", format.KindAlbum, 0, r.Album.GetId())
	case *moveinv1.Record_Landmark:
		j.parent = j.user("owner_id", r.Landmark.GetOwnerId(), "")
		j.unique("id", format.KindLandmark, 0, r.Landmark.GetId())
	case *moveinv1.Record_Entry:
		j.parent = j.user("author_id", r.Entry.GetAuthorId(), "")
		j.unique("id", format.KindEntry, 0, r.Entry.GetId())
		if quoted := r.Entry.GetQuotedId(); quoted != "" && j.refer("quoted_id", format.KindEntry, 0, quoted, "missing-quote") == 0 && j.repair {
			r.Entry.QuotedId = ""
		}
	case *moveinv1.Record_Photo:
		j.unique("id", format.KindPhoto+content, 0, r.Photo.GetId())
	case *moveinv1.Record_Comment:
		if author := r.Comment.GetAuthorId(); author != 0 {
			j.user("author_id", author, "missing-author")
		}
		j.unique("id", format.KindComment+content, 0, r.Comment.GetId())
	case *moveinv1.Record_Ballot:
		j.user("user_id", r.Ballot.GetUserId(), "")
		j.unique("user_id", format.KindBallot, r.Ballot.GetUserId(), id)
		if choice := r.Ballot.GetChoice(); j.parent != 0 && known(choice) > j.parent&maskChoices { // #nosec G115 -- 1 to 20
			j.fault(dangling, "choice", fmt.Sprint(choice), fmt.Sprintf("the entry has %d choices", j.parent&maskChoices), "")
		}
	case *moveinv1.Record_Recommendation:
		j.user("user_id", r.Recommendation.GetUserId(), "")
		j.unique("user_id", format.KindRecommendation+content, r.Recommendation.GetUserId(), id)
	}
}

// dangling records refer to what is not there.
const dangling format.Class = "dangling"

const order = "The order is users, content, what belongs to content"

// fault adds a fault, which a rule mends with --repair, unless the rule is empty.
func (j *judge) fault(class format.Class, field, value, text string, rule format.Repair) {
	if !j.repair {
		rule = ""
	}
	j.faults = append(j.faults, format.Fault{Class: class, Field: field, Value: value, Text: text, Repair: rule})
}

// user checks a reference to a user, if the files have any. It returns what is known of the user.
func (j *judge) user(field string, id int64, rule format.Repair) known {
	if !j.hasUsers {
		j.hasUnchecked = true
		return 0
	}
	return j.refer(field, format.KindUser, id, "", rule)
}

// refer checks a reference to what has a number or a text. It returns what is known of it.
func (j *judge) refer(field string, kind format.Kind, number int64, text string, rule format.Repair) known {
	if found := j.index.get(j.hash(kind, number, text)); found != 0 {
		return known(found)
	}
	if text == "" {
		text = strconv.FormatInt(number, 10)
	}
	j.fault(dangling, field, text, fmt.Sprintf("no %s %s comes before, or it was left out. %s", kind, text, order), rule)
	return 0
}

// unique checks that nothing before is the same thing.
func (j *judge) unique(field string, kind format.Kind, number int64, text string) {
	hash := j.hash(kind, number, text)
	if j.index.get(hash) != 0 {
		j.fault("duplicate", field, text, "an earlier record has the same", "")
	}
	j.hashes = append(j.hashes, hash)
}

// enter notes that the record is there. With --repair, it gets the times that it lacks.
func (j *judge) enter(record *moveinv1.Record) {
	if j.repair {
		var parent time.Time
		if j.parent&hasTime != 0 {
			parent = time.Unix(int64(j.parent)>>8, 0) // #nosec G115 -- as it was
		}
		j.decoder.Complete(record, parent)
	}
	value := isThere | known(len(record.GetEntry().GetVote().GetChoices()))&maskChoices // #nosec G115 -- 0 to 20
	if created := cmp.Or(
		record.GetUser().GetCreateTime(), record.GetAlbum().GetCreateTime(), record.GetEntry().GetCreateTime(), record.GetLandmark().GetCreateTime(),
	); created != nil {
		value |= known(created.GetSeconds())<<8 | hasTime // #nosec G115 -- back in time
	}
	for _, hash := range j.hashes {
		j.index.put(hash, uint64(value))
	}
}

// hash returns the hash of a thing, which has a number or a text or both.
func (j *judge) hash(kind format.Kind, number int64, text string) uint64 {
	j.key = append(append(j.key[:0], kind...), 0)
	j.key = append(binary.BigEndian.AppendUint64(j.key, uint64(number)), text...) // #nosec G115 -- only its bits matter
	return j.index.hash(j.key)
}
