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
	things, err := docstore.Open[thing](t.Context(), engine, docstore.Spec{Name: "things", ID: docstore.Int64})
	if err != nil {
		t.Fatal(err)
	}
	ctx, byID := t.Context(), docstore.Query{Index: docstore.IDIndex, Limit: 1}
	for name, call := range map[string]func() error{
		"insert":      func() error { return things.Insert(ctx, thing{1}) },
		"insert many": func() error { _, err := things.InsertMany(ctx, []thing{{1}}); return err },
		"get":         func() error { _, err := things.Get(ctx, int64(1)); return err },
		"get many":    func() error { _, err := things.GetMany(ctx, []int64{1}); return err },
		"update":      func() error { _, err := things.Update(ctx, int64(1), func(*thing) error { return nil }); return err },
		"delete":      func() error { return things.Delete(ctx, int64(1)) },
		"page":        func() error { _, err := things.Page(ctx, byID); return err },
		"count":       func() error { _, err := things.Count(ctx, docstore.IDIndex); return err },
		"delete all":  func() error { _, err := things.DeleteAll(ctx, docstore.IDIndex); return err },
		"ping":        func() error { return engine.Ping(ctx) },
		"inspect":     func() error { _, err := engine.Inspect(ctx, docstore.Spec{}); return err },
	} {
		if err := call(); !errors.Is(err, errDeclaredOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if table, err := engine.Open(ctx, docstore.Spec{}); err != nil {
		t.Error(err)
	} else if err := table.Replace(ctx, 1, nil); !errors.Is(err, errDeclaredOnly) {
		t.Errorf("replace: %v", err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}
