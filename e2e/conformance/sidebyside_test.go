package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/waybook/waybook/internal/docstore"
)

// sideBySide runs random programs of raw changes on two engines. It checks that each step has the same outcome on both: what a document was,
// counts, kinds of errors, and in the end the documents byte for byte. Only the order in which an engine adds new fields is open. The case
// with the model compares what an engine reads with the promises. The flag -rapid.checks overrides the number of programs.
func sideBySide(t *testing.T, programs int, one, other docstore.Engine) {
	drawPrograms(t, programs)
	collection := 0
	rapid.Check(t, func(rt *rapid.T) {
		collection++
		spec := placeSpec()
		spec.Name = fmt.Sprintf("side_by_side_%d", collection)
		var p pair
		for i, engine := range []docstore.Engine{one, other} {
			var err error
			if p[i], err = engine.Open(rt.Context(), spec); err != nil {
				rt.Fatal(err)
			}
		}
		steps := []func(*rapid.T){
			p.insert, p.insert, p.update, p.update, p.updateMany, p.modify, p.modify, p.delete,
		}
		for range rapid.IntRange(1, maxProgramSteps).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		p.same(rt, "the whole collection", func(ctx context.Context, i int) any {
			found, more, err := p[i].Scan(ctx, docstore.Scan{Where: docstore.All(docstore.IDIndex), Limit: 1000})
			return outcome{alike(rt, found), more, kindOf(err)}
		})
	})
}

// pair is one collection on two engines.
type pair [2]docstore.Table

// outcome is the result of a step.
type outcome struct {
	value any
	more  bool
	err   string
}

// same checks that a step has the same outcome on both engines.
func (p *pair) same(rt *rapid.T, what string, step func(ctx context.Context, engine int) any) {
	rt.Helper()
	wantEqual(rt, what, step(rt.Context(), 1), step(rt.Context(), 0))
}

// kindOf returns the kind of an error as callers distinguish them. A document may be a
// duplicate in several indexes. An engine may then report any of them, except that the id
// comes first.
func kindOf(err error) string {
	if duplicate, isDuplicate := errors.AsType[*docstore.DuplicateError](err); isDuplicate {
		if duplicate.Index == docstore.IDIndex {
			return "duplicate id"
		}
		return "duplicate key"
	}
	for _, kind := range []error{docstore.ErrNotFound, docstore.ErrConflict, docstore.ErrBadToken, docstore.ErrUnavailable} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return "plain"
	}
	return ""
}

// alike formats documents for a comparison, with the fields in alphabetical order, those of embedded
// documents too.
func alike(t rapid.TB, documents []bson.Raw) string {
	var text strings.Builder
	for _, document := range documents {
		fmt.Fprintf(&text, "%s\n", ordered(t, document))
	}
	return text.String()
}

func ordered(t rapid.TB, document bson.Raw) string {
	elements, err := document.Elements()
	if err != nil {
		t.Fatal(err)
	}
	fields := make([]string, len(elements))
	for i, element := range elements {
		value := element.Value()
		shown := fmt.Sprintf("%v %x", value.Type, value.Value)
		switch value.Type {
		case bson.TypeEmbeddedDocument:
			shown = "{" + ordered(t, value.Document()) + "}"
		case bson.TypeArray: // a document whose fields are 0, 1 and so on
			shown = "[" + ordered(t, bson.Raw(value.Array())) + "]"
		}
		fields[i] = element.Key() + ": " + shown
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}

// drawStored draws a document in the form that engines store. About one in sixteen is
// invalid and must be refused.
func drawStored(rt *rapid.T) bson.Raw {
	p := drawPlace(rt)
	if rapid.IntRange(0, 15).Draw(rt, "flaw") == 0 {
		p.Code = strings.Repeat("山", docstore.MaxKeyBytes)
	}
	raw, err := bson.Marshal(struct {
		Place    place  `bson:",inline"`
		Inner    bson.D `bson:"inner"`
		Revision int64  `bson:"_rev"`
	}{p, bson.D{{Key: "a", Value: int64(1)}, {Key: "list", Value: bson.A{bson.D{{Key: "x", Value: 1}}, bson.D{}}}}, 1})
	if err != nil {
		rt.Fatal(err)
	}
	return raw
}

func (p *pair) insert(rt *rapid.T) {
	documents := rapid.SliceOfN(rapid.Custom(drawStored), 1, 5).Draw(rt, "documents")
	p.same(rt, "insert", func(ctx context.Context, i int) any {
		errs, err := p[i].Insert(ctx, documents)
		kinds := make([]string, len(errs))
		for n := range errs {
			kinds[n] = kindOf(errs[n])
		}
		return outcome{kinds, false, kindOf(err)}
	})
}

// drawChange draws a change of a document. Unless it changes keys, it leaves the fields of
// unique indexes alone. About one in sixteen is invalid and must be refused.
func drawChange(rt *rapid.T, id int64, changesKeys bool) docstore.Change {
	p := drawPlace(rt)
	fields := []bson.E{
		{Key: "title", Value: p.Title}, {Key: "flag", Value: p.Flag},
		{Key: "note", Value: p.Title}, {Key: "new", Value: p.Slot}, {Key: "inner.a", Value: p.Code},
		{Key: "inner.list.1.x", Value: bson.D{{Key: "y", Value: p.Slot}}}, {Key: "inner.new", Value: bson.A{p.Slot, nil}},
	}
	if changesKeys {
		fields = append(fields, bson.E{Key: "code", Value: p.Code}, bson.E{Key: "owner", Value: p.Owner}, bson.E{Key: "slot", Value: p.Slot})
	}
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(fields), 0, 5, func(e bson.E) string { return e.Key }).Draw(rt, "fields")
	if rapid.IntRange(0, 15).Draw(rt, "flaw") == 0 {
		chosen = []bson.E{{Key: "title", Value: strings.Repeat("山", docstore.MaxKeyBytes)}}
	}
	change := setting(rt, id, rapid.Int64Range(1, 3).Draw(rt, "revision"), chosen...)
	for _, path := range []string{"note", "flag", "new", "inner.a", "inner.list.0.x"} {
		isSet := slices.ContainsFunc(change.Set, func(set docstore.Assignment) bool { return set.Path == path })
		if !isSet && rapid.IntRange(0, 3).Draw(rt, "unset") == 0 {
			change.Unset = append(change.Unset, path)
		}
	}
	change.Add = drawAmounts(rt)
	return change
}

func drawAmounts(rt *rapid.T) (amounts []docstore.Amount) {
	for _, field := range []string{"seen", "likes"} {
		if rapid.Bool().Draw(rt, "adds") {
			amounts = append(amounts, docstore.Amount{Field: field, By: rapid.Int64Range(-2, 2).Draw(rt, "by")})
		}
	}
	return amounts
}

func (p *pair) update(rt *rapid.T) {
	change := drawChange(rt, drawID(rt), true)
	p.same(rt, "update", func(ctx context.Context, i int) any {
		_, err := p[i].Update(ctx, change)
		return kindOf(err)
	})
}

func (p *pair) updateMany(rt *rapid.T) {
	var changes []docstore.Change
	for _, id := range rapid.SliceOfNDistinct(rapid.Int64Range(-3, 4), 0, 5, rapid.ID).Draw(rt, "ids") {
		changes = append(changes, drawChange(rt, id, false))
	}
	p.same(rt, "update many", func(ctx context.Context, i int) any {
		made, err := p[i].UpdateMany(ctx, changes)
		return outcome{made, false, kindOf(err)}
	})
}

func (p *pair) modify(rt *rapid.T) {
	id, amounts := number(drawID(rt)), drawAmounts(rt)
	if rapid.IntRange(0, 15).Draw(rt, "flaw") == 0 {
		amounts = append(amounts, docstore.Amount{Field: "code", By: 1})
	}
	modification := docstore.Change{ID: id, Add: amounts, IsWhole: rapid.Bool().Draw(rt, "is whole")}
	if !modification.IsWhole {
		modification.Fields = rapid.SampledFrom([][]string{nil, {"top", "note"}}).Draw(rt, "fields")
	}
	if rapid.Bool().Draw(rt, "raises") {
		modification.Raise = docstore.Amount{Field: "top", By: rapid.Int64Range(-3, 9).Draw(rt, "to")}
	}
	if rapid.Bool().Draw(rt, "sets") {
		modification.Set = setting(rt, 0, 0, bson.E{Key: "note", Value: drawPlace(rt).Title}).Set
	}
	if rapid.Bool().Draw(rt, "has a condition") {
		modification.If = rapid.SampledFrom([][]docstore.Condition{
			{docstore.Is("note", drawPlace(rt).Title)}, {docstore.Lacks("flag")}, {docstore.Is[int64]("flag", 1)},
		}).Draw(rt, "conditions")
	}
	p.same(rt, "modify", func(ctx context.Context, i int) any {
		before, err := p[i].Update(ctx, modification)
		switch {
		case before == nil:
			return outcome{nil, false, kindOf(err)}
		case modification.Fields != nil: // an engine may return more
			return outcome{before.Lookup("top").String() + before.Lookup("note").String(), false, kindOf(err)}
		}
		return outcome{alike(rt, []bson.Raw{before}), false, kindOf(err)}
	})
}

func (p *pair) delete(rt *rapid.T) {
	id := number(drawID(rt))
	p.same(rt, "delete", func(ctx context.Context, i int) any {
		return kindOf(p[i].Delete(ctx, docstore.Deletion{ID: id}))
	})
}

func drawID(rt *rapid.T) int64 { return rapid.Int64Range(-3, 9).Draw(rt, "id") }

// drawEqual draws an index and values for none, some or all of its first fields.
func drawEqual(rt *rapid.T) (order, []docstore.Value) {
	o := rapid.SampledFrom(placeOrders()).Draw(rt, "index")
	fields := o.fields(drawPlace(rt))
	return o, fields[:rapid.IntRange(0, len(fields)).Draw(rt, "values")]
}

// drawSpans draws up to three ranges of the field n of an index. There are none if it has
// no such field.
func drawSpans(rt *rapid.T, o order, n int) (spans []docstore.Span) {
	if n >= len(o.fields(place{})) {
		return nil
	}
	for range rapid.IntRange(0, 3).Draw(rt, "ranges") {
		var span docstore.Span
		for _, bound := range []*docstore.Value{&span.From, &span.To} {
			if rapid.IntRange(0, 3).Draw(rt, "bounded") > 0 {
				*bound = o.fields(drawPlace(rt))[n]
			}
		}
		spans = append(spans, span)
	}
	return spans
}
