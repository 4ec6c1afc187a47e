package send

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/moving/movefile"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Extras are what Waybook has and the files do not have.
type Extras struct {
	// Moved counts what came in by a move, and Made what was made in Waybook.
	Moved, Made Counts
	// Gone came in by a move and is not in the files any more. Kept is the part of it that is not pruned.
	Gone, Kept []Extra
}

// Extra is a user, an album, an entry or a landmark that came in by a move and is not in the files.
type Extra struct {
	Root movefile.Root
	// Why says why it is not pruned; empty if it is.
	Why         string
	id, ownerID int64
	etag        string
}

// Text formats an extra for people.
func (e Extra) Text() string {
	text := fmt.Sprintf("%s %s is not in the files", e.Root.Kind, e.Root.ID)
	if e.Why != "" {
		text += ", and stays: " + e.Why
	}
	return text
}

// finding returns the line of an extra in the list of problems. done is what is done if it is pruned.
func (e Extra) finding(done string) finding {
	if e.Why != "" && done != "" {
		done = doneKept
	}
	return finding{Kind: string(e.Root.Kind), ID: e.Root.ID, Class: "not-in-files", Text: e.Text(), Done: done}
}

// Counts returns the numbers of those that are pruned and of those that stay.
func (e *Extras) Counts() (gone, kept Counts) {
	gone, kept = Counts{}, Counts{}
	for _, each := range slices.Concat(e.Gone, e.Kept) {
		if each.Why == "" {
			gone[each.Root.Kind]++
		} else {
			kept[each.Root.Kind]++
		}
	}
	return gone, kept
}

// maxExtras bounds the extras, and with them the memory: about 200 bytes for each.
const maxExtras = 1_000_000

// add adds what a service has shown.
func (e *Extras) add(files *rootSet, kind movefile.Kind, newID int64, isMoved bool, oldID movefile.ID, ownerID int64, etag, why string) error {
	if !isMoved {
		e.Made[kind]++
		return nil
	}
	e.Moved[kind]++
	root := movefile.Root{Kind: kind, ID: oldID}
	if files.has(root) {
		return nil
	}
	found := Extra{root, why, newID, ownerID, etag}
	if why == "" {
		e.Gone = append(e.Gone, found)
	} else {
		e.Kept = append(e.Kept, found)
	}
	if len(e.Gone)+len(e.Kept) > maxExtras {
		return fmt.Errorf("more than %d users, albums, entries and landmarks are not in the files; are these all files?", maxExtras)
	}
	return nil
}

// changedHere returns why content is not pruned: it was changed in Waybook. A part counts as changed if
// an update has changed it, too.
func changedHere(isAsMoved bool, parts *typev1.PartRevisions) string {
	if isAsMoved && parts.GetComments() == 0 && parts.GetNumbers() == 0 {
		return ""
	}
	return "it was changed after it was moved in"
}

// findExtras asks the services for everything that they have, and compares it with the files.
func (in *intake) findExtras(ctx context.Context, services Services, workers int, report progress.Reporter) (*Extras, error) {
	files, err := in.rootSet(ctx, workers)
	if err != nil {
		return nil, err
	}
	found := &Extras{Moved: Counts{}, Made: Counts{}}
	report.Start("reading what Waybook has", progress.Records, 0)
	defer report.Finish()
	if err := readChanges(ctx, services, time.Time{}, report.Note, func(c Change) error {
		switch {
		case c.IsDeleted():
			return nil
		case c.kind != movefile.KindUser:
			return found.add(files, c.kind, c.ID, c.isMoved, oldID(c.old, c.ID), c.ownerID, c.etag, changedHere(c.isAsMoved, c.GetParts()))
		case in.findings.report.Records[movefile.KindUser] == 0:
			return nil
		}
		return found.add(files, c.kind, c.ID, c.isMoved, numberID(c.ID), 0, "", "a user is deleted by waybookctl user delete")
	}); err != nil {
		return nil, err
	}
	byRoot := func(a, b Extra) int {
		return cmp.Or(cmp.Compare(a.Root.Kind, b.Root.Kind), order(a.Root.ID, b.Root.ID))
	}
	slices.SortFunc(found.Gone, byRoot)
	slices.SortFunc(found.Kept, byRoot)
	return found, nil
}

// rootSet has the users, albums, entries and landmarks of the files, by 8 bytes for each.
type rootSet struct {
	seed   maphash.Seed
	hashes []uint64
}

func (s *rootSet) hash(root movefile.Root) uint64 { return maphash.Comparable(s.seed, root) }

func (s *rootSet) has(root movefile.Root) bool {
	_, isThere := slices.BinarySearch(s.hashes, s.hash(root))
	return isThere
}

func (in *intake) rootSet(ctx context.Context, count int) (*rootSet, error) {
	var mu sync.Mutex
	set := &rootSet{seed: maphash.MakeSeed()}
	err := workers.Each(ctx, max(1, count), firstBuckets(userBuckets+contentBuckets), func(_ context.Context, n int) error {
		items, err := in.roots.read(n)
		if err != nil {
			return err
		}
		var hashes []uint64
		for _, f := range families(items) {
			if in.decode(f); f.record != nil {
				hashes = append(hashes, set.hash(f.root))
			}
			f.forget()
		}
		mu.Lock()
		defer mu.Unlock()
		set.hashes = append(set.hashes, hashes...)
		return nil
	})
	slices.Sort(set.hashes)
	return set, err
}

// planPrune finds what disappeared from the old service. Errors: *RefusedError if the files may have it, or
// if it is more than the share that may be removed.
func (i *importer) planPrune(ctx context.Context) error {
	for _, group := range i.intake.findings.report.Sorted() {
		if !group.IsAllowed && (group.Kind == "" || isRoot(group.Kind) && group.Field == "id") {
			return &RefusedError{"nothing was changed: --prune would delete what a line that cannot be read may hold: " + i.intake.findings.report.Text(group.First[0])}
		}
	}
	found, err := i.intake.findExtras(ctx, i.services, i.options.Workers, i.report)
	if err != nil {
		return err
	}
	i.extras = found
	gone, _ := found.Counts()
	var above []string
	for _, kind := range movefile.Kinds() {
		if all := found.Moved[kind]; float64(gone[kind]) > i.options.MaxRemoved*float64(all) {
			above = append(above, fmt.Sprintf("%d of %d %s", gone[kind], all, plural(kind)))
		}
	}
	for _, each := range found.Gone[:min(len(found.Gone), maxRefusals)] {
		i.note("to delete: " + each.Text())
	}
	if more := len(found.Gone) - maxRefusals; more > 0 {
		i.note(fmt.Sprintf("to delete: %d more; a dry run with --problems lists all", more))
	}
	if len(above) == 0 {
		return nil
	}
	return &RefusedError{fmt.Sprintf("nothing was changed: --prune would delete %s, because the files do not have them. If the files are whole and you mean it, raise --max-removed, which is %v",
		strings.Join(above, ", "), i.options.MaxRemoved)}
}

// prune deletes what disappeared from the old service. What somebody changes meanwhile stays.
func (i *importer) prune(ctx context.Context) error {
	all := make([]*Extra, len(i.extras.Gone))
	for n := range all {
		all[n] = &i.extras.Gone[n]
	}
	return workers.Each(ctx, max(1, i.options.Workers), all, func(ctx context.Context, e *Extra) error {
		_, err := retry.Do(ctx, i.again(), func() error {
			err := i.delete(ctx, e)
			switch status.Code(err) {
			case codes.NotFound:
				return nil // an earlier try has deleted it, or somebody else
			case codes.Aborted:
				e.Why = "it was changed meanwhile"
				return nil
			}
			return err
		})
		return err
	})
}

func (i *importer) delete(ctx context.Context, e *Extra) (err error) {
	switch e.Root.Kind {
	case movefile.KindAlbum:
		_, err = i.services.Album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: e.ownerID, AlbumId: e.id, Etag: e.etag})
	case movefile.KindEntry:
		_, err = i.services.Blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: e.ownerID, BlogId: e.id, Etag: e.etag})
	default:
		_, err = i.services.Poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: e.ownerID, PoiId: e.id, Etag: e.etag})
	}
	return err
}
