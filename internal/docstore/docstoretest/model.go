package docstoretest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

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

func modelCases(settings Settings) []testCase {
	return []testCase{{"a random program has the same effect as on a map", func(t *testing.T, engine docstore.Engine) {
		againstModel(t, engine, settings.Programs)
	}}}
}

// maxProgramSteps keeps a failing program readable.
const maxProgramSteps = 30

func againstModel(t *testing.T, engine docstore.Engine, programs int) {
	limitPrograms(t, programs)
	table := 0
	rapid.Check(t, func(rt *rapid.T) {
		table++
		spec := placeSpec()
		spec.Name = fmt.Sprintf("program_%d", table)
		c, err := docstore.Open[place](rt.Context(), engine, spec)
		if err != nil {
			rt.Fatal(err)
		}
		m := model{c: c, places: make(map[int64]place)}
		steps := []func(*rapid.T){m.insert, m.insert, m.insertMany, m.update, m.update, m.delete, m.walk, m.deleteAll, m.count}
		for range rapid.IntRange(1, maxProgramSteps).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		wantContents(rt, c, m.all())
	})
}

// limitPrograms sets the flag -rapid.checks unless the user set it. rapid has no other
// way to limit the number of programs.
func limitPrograms(t *testing.T, programs int) {
	const name = "rapid.checks"
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == name })
	if chosen {
		return
	}
	before := flag.Lookup(name).Value.String()
	must(t, flag.Lookup(name).Value.Set(strconv.Itoa(programs)))
	t.Cleanup(func() { must(t, flag.Lookup(name).Value.Set(before)) })
}

// model is a collection and its expected contents.
type model struct {
	c      *docstore.Collection[place]
	places map[int64]place
}

// drawPlace draws from few values, so that the keys of a program often collide.
func drawPlace(rt *rapid.T) place {
	return place{
		ID:    rapid.Int64Range(-3, 4).Draw(rt, "id"),
		Owner: rapid.Int64Range(-1, 1).Draw(rt, "owner"),
		Title: rapid.SampledFrom([]string{"", "a", "a b", "ab", "山", "🏔"}).Draw(rt, "title"),
		Code:  rapid.SampledFrom([]string{"", "a", "aa", "b", "c", "中", "文"}).Draw(rt, "code"),
		Slot:  rapid.Int64Range(-1, 2).Draw(rt, "slot"),
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
	places := rapid.SliceOfN(rapid.Custom(drawPlace), 0, 5).Draw(rt, "places")
	errs, err := m.c.InsertMany(rt.Context(), places)
	if err != nil {
		rt.Fatal(err)
	}
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
		p.Code, p.Owner, p.Slot = before.Code, before.Owner, before.Slot
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
	id := rapid.Int64Range(-3, 4).Draw(rt, "id")
	_, exists := m.places[id]
	if err := m.c.Delete(rt.Context(), id); exists != (err == nil) || !exists && !errors.Is(err, docstore.ErrNotFound) {
		rt.Fatalf("got error %v", err)
	}
	delete(m.places, id)
}

// drawRange draws an index and values for none, some or all of its first fields.
func drawRange(rt *rapid.T) (order, []any) {
	o := rapid.SampledFrom(placeOrders()).Draw(rt, "index")
	fields := o.fields(drawPlace(rt))
	return o, fields[:rapid.IntRange(0, len(fields)).Draw(rt, "values")]
}

func (m *model) walk(rt *rapid.T) {
	o, equal := drawRange(rt)
	query := docstore.Query{Index: o.index, Equal: equal, Limit: rapid.IntRange(1, 9).Draw(rt, "limit")}
	want := o.pick(m.all(), equal)
	if n := len(equal); n < len(o.fields(place{})) {
		for _, bound := range []*any{&query.From, &query.To} {
			if rapid.Bool().Draw(rt, "bounded") {
				*bound = o.fields(drawPlace(rt))[n]
			}
		}
		want = o.cut(want, n, query.From, query.To)
	}
	wantEqual(rt, o.index, walk(rt, m.c, query), want)
}

func (m *model) count(rt *rapid.T) {
	o, equal := drawRange(rt)
	n, err := m.c.Count(rt.Context(), o.index, equal...)
	if want := len(o.pick(m.all(), equal)); err != nil || n != int64(want) {
		rt.Fatalf("count is %d, %v; want %d", n, err, want)
	}
}

func (m *model) deleteAll(rt *rapid.T) {
	o, equal := drawRange(rt)
	doomed := o.pick(m.all(), equal)
	n, err := m.c.DeleteAll(rt.Context(), o.index, equal...)
	if err != nil || n != int64(len(doomed)) {
		rt.Fatalf("deleted %d, %v; want %d", n, err, len(doomed))
	}
	for _, p := range doomed {
		delete(m.places, p.ID)
	}
}
