package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/waybook/waybook/internal/docstore"
)

// failer has the methods that testing.T and rapid.T share.
type failer interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// maxProgramSteps keeps a failing program readable.
const maxProgramSteps = 30

// readsAtEnd are the scans and the walks of what a program has left.
const readsAtEnd = 8

func againstModel(t *testing.T, engine docstore.Engine, programs int) {
	drawPrograms(t, programs)
	program := 0
	rapid.Check(t, func(rt *rapid.T) {
		program++
		spec := placeSpec()
		spec.Name = fmt.Sprintf("program_%d", program)
		c, err := docstore.Open[int64, place](rt.Context(), engine, spec)
		if err != nil {
			rt.Fatal(err)
		}
		table, err := engine.Open(rt.Context(), spec)
		if err != nil {
			rt.Fatal(err)
		}
		m := model{c: c, table: table, places: make(map[int64]place)}
		steps := []func(*rapid.T){
			m.insert, m.insertMany, m.insertMany, m.update, m.update, m.updateMany, m.raise, m.delete, m.walk, m.scan, m.scan, m.scan, m.find, m.get,
			m.deleteAll, m.count,
		}
		m.insertMany(rt)
		for range rapid.IntRange(1, maxProgramSteps).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		for range readsAtEnd {
			m.scan(rt)
			m.walk(rt)
		}
		wantContents(rt, c, m.all())
	})
}

// drawPrograms sets how many programs run and from which seed on, unless the user has set the flags
// -rapid.checks and -rapid.seed. The seed is fixed, so that a test fails for what was changed; 0 draws one.
func drawPrograms(t *testing.T, programs int) {
	chosen := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { chosen[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(programs), "rapid.seed": "1"} {
		if chosen[name] {
			continue
		}
		before := flag.Lookup(name).Value.String()
		must(t, flag.Lookup(name).Value.Set(value))
		t.Cleanup(func() { must(t, flag.Lookup(name).Value.Set(before)) })
	}
}

// model is a collection and its expected contents.
type model struct {
	c      *places
	table  docstore.Table
	places map[int64]place
}

// drawPlace draws from few values, so that the keys of a program often collide.
func drawPlace(rt *rapid.T) place {
	return place{
		ID:    drawID(rt),
		Owner: rapid.Int64Range(-1, 1).Draw(rt, "owner"),
		Title: rapid.SampledFrom([]string{"", "a", "a b", "ab", "山", "🏔"}).Draw(rt, "title"),
		Code:  rapid.SampledFrom([]string{"", "a", "aa", "b", "c", "d", "e", "f", "中", "文"}).Draw(rt, "code"),
		Slot:  rapid.Int64Range(-1, 5).Draw(rt, "slot"),
		Flag:  rapid.Int64Range(0, 2).Draw(rt, "flag"),
		Note:  strings.Repeat("n", rapid.SampledFrom([]int{0, 0, 30, 200, 3000}).Draw(rt, "size")),
	}
}

func (m *model) all() []place {
	return slices.Collect(maps.Values(m.places))
}

// refusals returns the indexes, except the one of _id, in which a place would be a
// duplicate. If there are several, the engine may report any of them.
func (m *model) refusals(p place) []string {
	var refusals []string
	for _, other := range m.places {
		if other.ID == p.ID {
			continue
		}
		if other.Code == p.Code {
			refusals = append(refusals, "code")
		}
		if other.Owner == p.Owner && other.Slot == p.Slot {
			refusals = append(refusals, "owner_slot")
		}
	}
	return refusals
}

func (m *model) wantRefusal(rt *rapid.T, got error, want []string) {
	rt.Helper()
	var duplicate *docstore.DuplicateError
	switch {
	case got == nil && len(want) == 0:
	case errors.As(got, &duplicate) && slices.Contains(want, duplicate.Index):
	default:
		rt.Fatalf("got error %v, want a duplicate in %q", got, want)
	}
}

func (m *model) insert(rt *rapid.T) {
	p := drawPlace(rt)
	m.inserted(rt, p, m.c.Insert(rt.Context(), p))
}

func (m *model) insertMany(rt *rapid.T) {
	places := rapid.SliceOfN(rapid.Custom(drawPlace), 0, 9).Draw(rt, "places")
	errs := refusals(rt, len(places), m.c.Insert(rt.Context(), places...))
	for i, p := range places {
		m.inserted(rt, p, errs[i])
	}
}

func (m *model) inserted(rt *rapid.T, p place, got error) {
	rt.Helper()
	want := m.refusals(p)
	if _, taken := m.places[p.ID]; taken {
		want = []string{docstore.IDIndex}
	}
	m.wantRefusal(rt, got, want)
	if len(want) == 0 {
		m.places[p.ID] = p
	}
}

func (m *model) update(rt *rapid.T) {
	p := drawPlace(rt)
	before, exists := m.places[p.ID]
	if keep := rapid.Bool().Draw(rt, "keep keys"); keep && exists {
		p.Code, p.Owner, p.Slot, p.Seen = before.Code, before.Owner, before.Slot, before.Seen+2
	}
	got, err := m.c.Update(rt.Context(), p.ID, func(stored *place) error {
		if *stored != before {
			rt.Fatalf("stored is %+v, want %+v", *stored, before)
		}
		*stored = p
		return nil
	})
	if !exists {
		if !errors.Is(err, docstore.ErrNotFound) {
			rt.Fatalf("got error %v", err)
		}
		return
	}
	want := m.refusals(p)
	m.wantRefusal(rt, err, want)
	if len(want) == 0 {
		wantEqual(rt, "updated", got, p)
		m.places[p.ID] = p
	}
}

func (m *model) delete(rt *rapid.T) {
	id := drawID(rt)
	_, exists := m.places[id]
	if err := m.c.Delete(rt.Context(), id); exists != (err == nil) || !exists && !errors.Is(err, docstore.ErrNotFound) {
		rt.Fatalf("got error %v", err)
	}
	delete(m.places, id)
}

// updateMany changes the documents with an even number of views, of the ids drawn.
func (m *model) updateMany(rt *rapid.T) {
	ids := rapid.SliceOfNDistinct(rapid.Int64Range(-3, 9), 0, 8, rapid.ID).Draw(rt, "ids")
	title := drawPlace(rt).Title
	isWanted := func(p place) bool { return p.Seen%2 == 0 }
	err := m.c.UpdateMany(rt.Context(), ids, func(stored *place) bool {
		if want, exists := m.places[stored.ID]; !exists || *stored != want {
			rt.Fatalf("stored is %+v, want %+v", *stored, want)
		}
		wanted := isWanted(*stored)
		stored.Title = title
		stored.Seen++
		return wanted
	})
	if err != nil {
		rt.Fatal(err)
	}
	for _, id := range ids {
		if p, exists := m.places[id]; exists && isWanted(p) {
			p.Title = title
			p.Seen++
			m.places[id] = p
		}
	}
}

func (m *model) raise(rt *rapid.T) {
	id, to := drawID(rt), rapid.Int64Range(-2, 9).Draw(rt, "to")
	p, exists := m.places[id]
	before, err := raise(rt.Context(), m.c, id, docstore.Amount{Field: "seen", By: to}, nil)
	if exists != (err == nil) || !exists && !errors.Is(err, docstore.ErrNotFound) || before != p.Seen {
		rt.Fatalf("got %d, %v", before, err)
	}
	if exists {
		p.Seen = max(p.Seen, to)
		m.places[id] = p
	}
}

// selection is a selection and the places that it selects, in the order of the walk. equal are its values.
type selection struct {
	docstore.Where
	order        order
	equal        int
	isDescending bool
	places       []place
}

func (m *model) drawWhere(rt *rapid.T) selection {
	o, equal := drawEqual(rt)
	spans := drawSpans(rt, o, len(equal))
	selected := o.pick(m.all(), equal)
	if len(spans) > 0 {
		selected = o.cut(selected, len(equal), spans...)
	}
	isDescending := rapid.Bool().Draw(rt, "descending")
	return selection{where(o.index, equal...).Within(spans...), o, len(equal), isDescending, turned(selected, isDescending)}
}

func (m *model) walk(rt *rapid.T) {
	s := m.drawWhere(rt)
	query := docstore.Query{Where: s.Where, Limit: rapid.IntRange(1, 9).Draw(rt, "limit"), Descending: s.isDescending, As: drawConsistency(rt)}
	wantEqual(rt, s.Index(), walk(rt, m.c, query), s.places)
	query.As = docstore.Present
	notes, slots, owners := []onlyNote{}, []onlySlot{}, []onlyOwner{}
	for _, p := range s.places {
		notes, slots, owners = append(notes, onlyNote{p.Note}), append(slots, onlySlot{p.ID, p.Owner, p.Slot}), append(owners, onlyOwner{p.Owner})
	}
	wantEqual(rt, "notes", walk(rt, docstore.Project[onlyNote](m.c), query), notes)
	wantEqual(rt, "slots", walk(rt, docstore.Project[onlySlot](m.c), query), slots)
	wantEqual(rt, "owners", walk(rt, docstore.Project[onlyOwner](m.c), query), owners)
}

// An engine may read the last two from an index.
type (
	onlyNote struct {
		Note string `bson:"note"`
	}
	onlySlot struct {
		ID    int64 `bson:"_id"`
		Owner int64 `bson:"owner"`
		Slot  int64 `bson:"slot"`
	}
	onlyOwner struct {
		Owner int64 `bson:"owner"`
	}
)

func drawConsistency(rt *rapid.T) docstore.Consistency {
	return rapid.SampledFrom([]docstore.Consistency{docstore.Present, docstore.Durable, docstore.Linearizable, docstore.Listed}).Draw(rt, "as")
}

// scan reads a part of a selection: behind a position, of a number of documents and of a size.
func (m *model) scan(rt *rapid.T) {
	s := m.drawWhere(rt)
	scan := docstore.Scan{
		Where: s.Where, Descending: s.isDescending, Limit: rapid.IntRange(1, 9).Draw(rt, "limit"),
		As: drawConsistency(rt),
	}
	raws, _, err := m.table.Scan(rt.Context(), docstore.Scan{Where: docstore.All(docstore.IDIndex), Limit: 99})
	if err != nil {
		rt.Fatal(err)
	}
	sizes := map[int64]int{}
	for _, raw := range raws {
		sizes[raw.Lookup(docstore.IDIndex).Int64()] = len(raw)
	}
	left := s.places
	if rapid.Bool().Draw(rt, "after") {
		at := m.drawPosition(rt, s)
		scan.After = s.order.fields(at)[s.equal:]
		left = slices.DeleteFunc(slices.Clone(left), func(p place) bool {
			order := slices.CompareFunc(s.order.fields(p)[s.equal:], scan.After, docstore.Value.Compare)
			return order == 0 || order < 0 != s.isDescending
		})
	}
	if fitting := rapid.IntRange(0, len(left)).Draw(rt, "fitting"); fitting > 0 { // exactly, or not quite
		for _, p := range left[:fitting] {
			scan.MaxBytes += sizes[p.ID]
		}
		scan.MaxBytes -= rapid.IntRange(0, 1).Draw(rt, "less")
	}
	want, size := []place{}, 0
	for _, p := range left {
		size += sizes[p.ID]
		if len(want) == scan.Limit || scan.MaxBytes > 0 && len(want) > 0 && size > scan.MaxBytes {
			break
		}
		want = append(want, p)
	}
	got, more := scanPlaces(rt, m.table, scan)
	wantEqual(rt, fmt.Sprintf("%+v", scan), got, want)
	wantEqual(rt, fmt.Sprintf("more of %+v", scan), more, len(want) < len(left))
}

// drawPosition draws a place that is there or not. In a unique index, it is not one that differs from another in its _id alone:
// an engine may return that or not.
func (m *model) drawPosition(rt *rapid.T, s selection) place {
	at := drawPlace(rt)
	if len(s.places) > 0 && rapid.Bool().Draw(rt, "of the selection") {
		at = rapid.SampledFrom(s.places).Draw(rt, "position")
	}
	for _, p := range m.places {
		if s.order.index == "code" && p.Code == at.Code || s.order.index == "owner_slot" && p.Owner == at.Owner && p.Slot == at.Slot {
			return p
		}
	}
	return at
}

func (m *model) find(rt *rapid.T) {
	s := m.drawWhere(rt)
	found, err := m.c.Find(rt.Context(), s.Where)
	first := turned(s.places, s.isDescending)
	if len(first) == 0 && errors.Is(err, docstore.ErrNotFound) {
		return
	}
	if err != nil || len(first) == 0 || found != first[0] {
		rt.Fatalf("got %+v, %v, want the first of %+v", found, err, first)
	}
}

// get reads by ids, some of them twice.
func (m *model) get(rt *rapid.T) {
	ids := rapid.SliceOfN(rapid.Int64Range(-3, 9), 0, 9).Draw(rt, "ids")
	var want []place
	for _, id := range ids {
		as := rapid.SampledFrom([]docstore.Consistency{drawConsistency(rt), docstore.Recent(time.Minute)}).Draw(rt, "as")
		p, exists := m.places[id]
		if got, err := m.c.Get(rt.Context(), id, as); exists && (err != nil || got != p) || !exists && !errors.Is(err, docstore.ErrNotFound) {
			rt.Fatalf("document %d: got %+v, %v, want %+v", id, got, err, p)
		}
		if exists && !slices.Contains(want, p) {
			want = append(want, p)
		}
	}
	got, err := m.c.GetMany(rt.Context(), ids, drawConsistency(rt))
	if err != nil {
		rt.Fatal(err)
	}
	byID := placeOrders()[0]
	wantEqual(rt, "documents", byID.pick(got, nil), byID.pick(want, nil))
}

func (m *model) count(rt *rapid.T) {
	s := m.drawWhere(rt)
	if n, err := m.c.Count(rt.Context(), s.Where); err != nil || n != int64(len(s.places)) {
		rt.Fatalf("count is %d, %v; want %d", n, err, len(s.places))
	}
}

func (m *model) deleteAll(rt *rapid.T) {
	s := m.drawWhere(rt)
	n, err := m.c.DeleteAll(rt.Context(), s.Where)
	if err != nil || n != int64(len(s.places)) {
		rt.Fatalf("deleted %d, %v; want %d", n, err, len(s.places))
	}
	for _, p := range s.places {
		delete(m.places, p.ID)
	}
}
