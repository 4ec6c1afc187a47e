package move

import (
	"cmp"
	"slices"

	"github.com/waybook/waybook/waybookctl/movefile"
)

// family is a user, an album, an entry or a landmark with all that hangs on it.
type family struct {
	root movefile.Root
	at   movefile.Position
	// record is the root's own; nil if the files do not have it.
	record movefile.Record
	// children are the others, in the order of kinds and identifiers.
	children []child
	// isRefused says that a record of the family has a problem.
	isRefused bool
	// records counts the lines.
	records int64
}

// child is a record below a root.
type child struct {
	record movefile.Record
	at     movefile.Position
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
		f.isRefused = f.isRefused || mark == refused || movefile.IsBad(faults)
		switch {
		case mark == dropped:
		case isRoot(record.Kind()):
			f.record, f.at = record, each.at
		default:
			f.children = append(f.children, child{record, each.at})
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

// idOf returns what orders a child among its kind.
func idOf(record movefile.Record) movefile.ID {
	switch record := record.(type) {
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
	return ""
}
