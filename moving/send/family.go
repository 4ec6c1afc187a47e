package send

import (
	"cmp"
	"slices"

	"github.com/waybook/waybook/moving/movefile"
)

// family is a user, an album, an entry or a landmark with all that hangs on it.
type family struct {
	root movefile.Root
	at   movefile.Position
	// record is the root's own; nil if the files do not have it. bytes is the length of its line.
	record movefile.Record
	bytes  int
	// children are the others, in the order of kinds and identifiers.
	children []child
	// isRefused says that a record of the family has a problem.
	isRefused bool
	// isLeftOut says that it is not sent. isUnchanged says that no service has answered otherwise.
	isLeftOut, isUnchanged bool
	// records counts the lines.
	records int64
}

// child is a record below a root. bytes is the length of its line.
type child struct {
	record movefile.Record
	at     movefile.Position
	bytes  int
}

// families brings the records of a bucket together, in the order of their roots.
func (in *intake) families(items []item) []*family {
	slices.SortFunc(items, func(a, b item) int { return order(a.at, b.at) })
	found := map[movefile.Root]*family{}
	for _, each := range items {
		record, faults := in.decoder.Decode(each.data)
		if record == nil {
			continue
		}
		root := record.Root()
		f := found[root]
		if f == nil {
			f = &family{root: root, at: each.at}
			found[root] = f
		}
		f.records++
		mark := in.findings.marks[each.at]
		f.isRefused = f.isRefused || mark&refused != 0 || movefile.IsBad(faults)
		switch {
		case mark&dropped != 0:
		case isRoot(record.Kind()):
			if mark&orphaned != 0 {
				giveTo(in.input.NewOwner, record)
			}
			f.record, f.at, f.bytes = record, each.at, len(each.data)
		default:
			f.children = append(f.children, child{record, each.at, len(each.data)})
		}
	}
	all := make([]*family, 0, len(found))
	for _, f := range found {
		slices.SortStableFunc(f.children, func(a, b child) int {
			return cmp.Or(cmp.Compare(a.record.Kind(), b.record.Kind()), order(idOf(a.record), idOf(b.record)))
		})
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *family) int {
		return cmp.Or(cmp.Compare(a.root.Kind, b.root.Kind), order(a.root.ID, b.root.ID))
	})
	return all
}

// giveTo gives an album, an entry or a landmark to a user.
func giveTo(owner movefile.ID, record movefile.Record) {
	switch record := record.(type) {
	case *movefile.Album:
		record.OwnerID = owner
	case *movefile.Entry:
		record.AuthorID = owner
	case *movefile.Landmark:
		record.OwnerID = owner
	}
}

func isRoot(kind movefile.Kind) bool {
	switch kind {
	case movefile.KindUser, movefile.KindAlbum, movefile.KindEntry, movefile.KindLandmark:
		return true
	}
	return false
}

// order compares identifiers, or positions.
func order[T interface{ Before(T) bool }](a, b T) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// idOf returns what orders a record among its kind under a root.
func idOf(record movefile.Record) movefile.ID {
	switch record := record.(type) {
	case nil:
		return ""
	case *movefile.Photo:
		return record.ID
	case *movefile.Comment:
		return record.ID
	case *movefile.Ballot:
		return record.UserID
	case *movefile.Recommendation:
		return record.UserID
	case *movefile.Reward:
		return record.ID
	}
	return record.Root().ID
}

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
)

// parts splits a family.
func (f *family) parts() (all []*part) {
	now := &part{family: f, bytes: f.bytes}
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

// recordsOf returns the records of one type among children.
func recordsOf[Record movefile.Record](children []child) (found []Record) {
	for _, each := range children {
		if record, is := each.record.(Record); is {
			found = append(found, record)
		}
	}
	return found
}

// kindsOfLists are the kinds of children that requests and replies list, by the names of the lists.
var kindsOfLists = map[string]movefile.Kind{"photos": movefile.KindPhoto, "comments": movefile.KindComment}

// placeOf returns the position of the nth child of a kind, from 0, or else that of the root.
func (f *family) placeOf(children []child, kind movefile.Kind, n int) movefile.Position {
	for _, each := range children {
		if each.record.Kind() != kind {
			continue
		}
		if n == 0 {
			return each.at
		}
		n--
	}
	return f.at
}

// named counts the recommendations, and the ballots of each choice.
func (f *family) named() (recommendations int64, ballots map[int64]int64) {
	ballots = map[int64]int64{}
	for _, each := range recordsOf[*movefile.Ballot](f.children) {
		ballots[each.Choice]++
	}
	return int64(len(recordsOf[*movefile.Recommendation](f.children))), ballots
}

// number returns an identifier of a user, which the decoder has found to be a number.
func number(id movefile.ID) int64 {
	n, _ := id.Number()
	return n
}
