package docstoretest

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

// SideBySide runs random programs on two engines. It checks that each step has the same
// outcome on both: documents byte for byte, counts, page tokens, kinds of errors.
//
// The case with the model compares one engine with the promises. SideBySide also finds
// differences between the engines where the promises leave something open. The flag
// -rapid.checks overrides the number of programs.
func SideBySide(t *testing.T, programs int, one, other docstore.Engine) {
	limitPrograms(t, programs)
	collection := 0
	rapid.Check(t, func(rt *rapid.T) {
		collection++
		spec := placeSpec()
		spec.Name = fmt.Sprintf("side_by_side_%d", collection)
		var p pair
		for i, engine := range []docstore.Engine{one, other} {
			var err error
			if p.tables[i], err = engine.Open(rt.Context(), spec); err != nil {
				rt.Fatal(err)
			}
			if p.collections[i], err = docstore.Open[place](rt.Context(), engine, spec); err != nil {
				rt.Fatal(err)
			}
		}
		steps := []func(*rapid.T){
			p.insert, p.insert, p.insert, p.replace, p.replace, p.get, p.getMany, p.delete, p.scan, p.scan, p.page, p.count, p.deleteAll,
		}
		for range rapid.IntRange(1, maxProgramSteps).Draw(rt, "steps") {
			rapid.SampledFrom(steps).Draw(rt, "step")(rt)
		}
		p.same(rt, "the whole collection", func(ctx context.Context, i int) any {
			found, err := p.tables[i].Scan(ctx, docstore.Scan{Index: docstore.IDIndex, Limit: 1000})
			return outcome{fmt.Sprintf("%x", found), kindOf(err)}
		})
	})
}

// pair is one collection on two engines.
type pair struct {
	tables      [2]docstore.Table
	collections [2]*docstore.Collection[place]
}

// outcome is the result of a step.
type outcome struct {
	value any
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
	var duplicate *docstore.DuplicateError
	if errors.As(err, &duplicate) {
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

// drawStored draws a document in the form that engines store. About one in sixteen is
// invalid and must be refused.
func drawStored(rt *rapid.T, revision int64) bson.Raw {
	p := drawPlace(rt)
	if rapid.IntRange(0, 15).Draw(rt, "flaw") == 0 {
		p.Code = strings.Repeat("山", docstore.MaxKeyBytes)
	}
	raw, err := bson.Marshal(struct {
		Place    place `bson:",inline"`
		Revision int64 `bson:"_rev"`
	}{p, revision})
	if err != nil {
		rt.Fatal(err)
	}
	return raw
}

func (p *pair) insert(rt *rapid.T) {
	documents := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) bson.Raw { return drawStored(rt, 1) }), 1, 5).Draw(rt, "documents")
	p.same(rt, "insert", func(ctx context.Context, i int) any {
		errs, err := p.tables[i].Insert(ctx, documents)
		kinds := make([]string, len(errs))
		for n := range errs {
			kinds[n] = kindOf(errs[n])
		}
		return outcome{kinds, kindOf(err)}
	})
}

func (p *pair) replace(rt *rapid.T) {
	revision := rapid.Int64Range(1, 3).Draw(rt, "revision")
	document := drawStored(rt, revision+1)
	p.same(rt, "replace", func(ctx context.Context, i int) any {
		return kindOf(p.tables[i].Replace(ctx, revision, document))
	})
}

func drawID(rt *rapid.T) int64 { return rapid.Int64Range(-3, 4).Draw(rt, "id") }

func (p *pair) get(rt *rapid.T) {
	id := drawID(rt)
	p.same(rt, "get", func(ctx context.Context, i int) any {
		found, err := p.tables[i].Get(ctx, id)
		return outcome{fmt.Sprintf("%x", found), kindOf(err)}
	})
}

func (p *pair) getMany(rt *rapid.T) {
	ids := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) any { return drawID(rt) }), 0, 6).Draw(rt, "ids")
	p.same(rt, "get many", func(ctx context.Context, i int) any {
		found, err := p.tables[i].GetMany(ctx, ids)
		slices.SortFunc(found, func(a, b bson.Raw) int { return strings.Compare(string(a), string(b)) }) // the order is undefined
		return outcome{fmt.Sprintf("%x", found), kindOf(err)}
	})
}

func (p *pair) delete(rt *rapid.T) {
	id := drawID(rt)
	p.same(rt, "delete", func(ctx context.Context, i int) any { return kindOf(p.tables[i].Delete(ctx, id)) })
}

// drawValues draws values for an index's first fields. Occasionally it draws too many
// values or one of the wrong kind.
func drawValues(rt *rapid.T) (o order, equal []any) {
	o, equal = drawRange(rt)
	equal = slices.Clone(equal)
	switch rapid.IntRange(0, 15).Draw(rt, "flaw") {
	case 0:
		equal = append(o.fields(drawPlace(rt)), int64(1))
	case 1:
		equal = []any{1.5}
	}
	return o, equal
}

func (p *pair) scan(rt *rapid.T) {
	o, equal := drawValues(rt)
	scan := docstore.Scan{Index: o.index, Equal: equal, Limit: rapid.IntRange(0, 9).Draw(rt, "limit")}
	fields := o.fields(drawPlace(rt))
	n := min(len(equal), len(fields))
	for _, bound := range []*any{&scan.From, &scan.To} {
		if n < len(fields) && rapid.Bool().Draw(rt, "bounded") {
			*bound = o.fields(drawPlace(rt))[n]
		}
	}
	if rapid.Bool().Draw(rt, "after") {
		scan.After = p.namesake(rt, o.index, append(slices.Clone(equal[:n]), fields[n:]...))[n:]
	}
	p.same(rt, fmt.Sprintf("%+v", scan), func(ctx context.Context, i int) any {
		found, err := p.tables[i].Scan(ctx, scan)
		return outcome{fmt.Sprintf("%x", found), kindOf(err)}
	})
}

// namesake returns the values unchanged for an index that is not unique. For a unique
// index it replaces the _id with that of the stored document that has the other values, if
// there is one. After any other _id, an engine may return that document or not.
func (p *pair) namesake(rt *rapid.T, index string, values []any) []any {
	if index != "code" && index != "owner_slot" {
		return values
	}
	last := len(values) - 1
	page, err := p.collections[0].Page(rt.Context(), docstore.Query{Index: index, Equal: values[:last], Limit: 1})
	if err == nil && len(page.Documents) == 1 { // it fails if a value has the wrong kind
		values[last] = page.Documents[0].ID
	}
	return values
}

// page walks both engines with the page tokens of one. The port defines the tokens, so
// both engines accept them.
func (p *pair) page(rt *rapid.T) {
	o, equal := drawRange(rt)
	query := docstore.Query{Index: o.index, Equal: equal, Limit: rapid.IntRange(1, 4).Draw(rt, "limit")}
	for {
		next := ""
		p.same(rt, "page", func(ctx context.Context, i int) any {
			page, err := p.collections[i].Page(ctx, query)
			next = page.Next
			return outcome{fmt.Sprintf("%+v", page), kindOf(err)}
		})
		if next == "" {
			return
		}
		query.Token = next
	}
}

func (p *pair) count(rt *rapid.T) {
	o, equal := drawValues(rt)
	p.same(rt, "count", func(ctx context.Context, i int) any {
		n, err := p.tables[i].Count(ctx, o.index, equal)
		return outcome{n, kindOf(err)}
	})
}

func (p *pair) deleteAll(rt *rapid.T) {
	o, equal := drawValues(rt)
	p.same(rt, "delete all", func(ctx context.Context, i int) any {
		n, err := p.tables[i].DeleteAll(ctx, o.index, equal)
		return outcome{n, kindOf(err)}
	})
}
