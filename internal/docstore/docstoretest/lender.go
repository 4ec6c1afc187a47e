package docstoretest

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// Lender is a store that lends documents, and overwrites them when a loan ends. So a test shows who keeps them.
type Lender struct{ docstore.Engine }

// Open opens a collection.
func (l Lender) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := l.Engine.Open(ctx, spec)
	return lending{table}, err
}

type lending struct{ docstore.Table }

// Scan lends documents of its own.
func (t lending) Scan(ctx context.Context, scan docstore.Scan) (found []bson.Raw, more bool, err error) {
	loan := scan.Loan
	if loan == nil {
		return t.Table.Scan(ctx, scan)
	}
	scan.Loan = nil
	found, more, err = t.Table.Scan(ctx, scan)
	loan.Lend(found, func() {
		for _, document := range found {
			for i := range document {
				document[i] = 0xff
			}
		}
	})
	return found, more, err
}
