package storekeeping

import (
	"errors"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func TestACollectionThatIsOnlyDeclaredRefusesEveryCall(t *testing.T) {
	var engine docstore.Engine = &declarations{}
	type thing struct {
		ID int64 `bson:"_id"`
	}
	things, err := docstore.Open[int64, thing](t.Context(), engine, docstore.Spec{Name: "things", ID: docstore.Int64, Counters: []string{"uses"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, all := t.Context(), docstore.All(docstore.IDIndex)
	for name, call := range map[string]func() error{
		"insert":           func() error { return things.Insert(ctx, thing{1}) },
		"insert many":      func() error { _, err := things.InsertMany(ctx, []thing{{1}}); return err },
		"get":              func() error { _, err := things.Get(ctx, 1); return err },
		"get linearizable": func() error { _, err := things.GetLinearizable(ctx, 1); return err },
		"get many":         func() error { _, err := things.GetMany(ctx, []int64{1}); return err },
		"update":           func() error { _, err := things.Update(ctx, 1, func(*thing) error { return nil }); return err },
		"update many":      func() error { return things.UpdateMany(ctx, []int64{1}, func(*thing) bool { return true }) },
		"increment":        func() error { return things.Increment(ctx, 1, docstore.Amount{Field: "uses", By: 1}) },
		"delete":           func() error { return things.Delete(ctx, 1) },
		"page":             func() error { _, err := things.Page(ctx, docstore.Query{Where: all, Limit: 1}); return err },
		"count":            func() error { _, err := things.Count(ctx, all); return err },
		"delete all":       func() error { _, err := things.DeleteAll(ctx, all); return err },
		"ping":             func() error { return engine.Ping(ctx) },
		"inspect":          func() error { _, err := engine.Inspect(ctx, docstore.Spec{}); return err },
	} {
		if err := call(); !errors.Is(err, errDeclaredOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if table, err := engine.Open(ctx, docstore.Spec{}); err != nil {
		t.Error(err)
	} else if err := table.Update(ctx, docstore.Change{}); !errors.Is(err, errDeclaredOnly) {
		t.Errorf("update of the table: %v", err)
	} else if _, err := table.UpdateMany(ctx, nil); !errors.Is(err, errDeclaredOnly) {
		t.Errorf("update many of the table: %v", err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}
