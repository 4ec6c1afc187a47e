package send

import (
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/moving/movefile"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// part is as much of a family as fits into a request.
type part struct {
	family *family
	// number counts the parts before; isLast says that none follows.
	number int32
	isLast bool

	children []child
	// bytes is the length of its lines. Its message is hardly ever longer: it has no names.
	bytes int
}

const (
	// maxPartBytes bounds a part, and maxRequestBytes the parts of a request after which no other
	// one is added. gRPC's limit of a message is 4 MiB.
	maxPartBytes    = 1 << 20
	maxRequestBytes = 2 << 20
	// maxRequestRecords is the number of records in a request.
	maxRequestRecords = 1000
	// maxPartChildren bounds the children of a part.
	maxPartChildren = 5000
	// maxBeforeBytes bounds what the last part of content says about those before.
	maxBeforeBytes = 2 << 20
)

// parts splits a family. Sessions are in the first part, because a service takes them for all of a user.
func (f *family) parts() (all []*part) {
	now := &part{family: f, bytes: f.bytes}
	for _, each := range f.sessions {
		now.bytes += each.bytes
	}
	for _, each := range f.children {
		if count := len(now.children); count == maxPartChildren || count > 0 && now.bytes+each.bytes > maxPartBytes {
			all = append(all, now)
			now = &part{family: f, bytes: f.bytes, number: now.number + 1}
		}
		now.children = append(now.children, each)
		now.bytes += each.bytes
	}
	now.isLast = true
	return append(all, now)
}

// before returns what the parts before the last one have, which an update keeps. It returns nil for other parts, and if
// that is too much for a request; then nothing under the content is removed.
func (p *part) before() *typev1.MovedBefore {
	if p.number == 0 || !p.isLast {
		return nil
	}
	before := &typev1.MovedBefore{}
	for _, each := range p.family.children[:len(p.family.children)-len(p.children)] {
		switch record := each.record.(type) {
		case *movefile.Photo:
			before.PhotoOldIds = append(before.PhotoOldIds, string(record.ID))
		case *movefile.Comment:
			before.CommentOldIds = append(before.CommentOldIds, string(record.ID))
		case *movefile.Recommendation:
			before.RecommenderIds = append(before.RecommenderIds, number(record.UserID))
		case *movefile.Ballot:
			before.VoterIds = append(before.VoterIds, number(record.UserID))
		}
	}
	if proto.Size(before) > maxBeforeBytes {
		return nil
	}
	return before
}
