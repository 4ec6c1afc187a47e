// Package docstore is the one storage port of Waybook: typed collections of BSON
// documents. Services see only this package, never the engine that keeps the documents.
// There are two engines: docstore/mongo and docstore/embedded. Each promise made here
// has a case in e2e/conformance, which both engines pass.
//
// These promises hold for every method of Engine, Table and Collection:
//
//   - It may be called concurrently.
//   - A write is durable when it returns nil. The embedded engine has synced its file;
//     MongoDB has acknowledged the write by a majority.
//   - It honours ctx: once ctx is done, it returns promptly with an error that wraps
//     ctx.Err(). Such a write has happened either completely or not at all.
//   - ErrUnavailable leaves the outcome of a write open in the same way. Any other error
//     means that the write has not happened.
//   - A write of one document, with all its index entries, is atomic.
//   - A read that starts after a write returned nil sees that write.
//   - A selection or an id of another kind than declared is a plain error, and so is a selection
//     that asks every shard of a sharded cluster without saying so (Where.Everywhere).
//
// Read its files in this order; each uses only what stands above it: element, value, index, spec,
// document and scan say what a collection is and how one selects in it; change, difference,
// tombstone and feed what changes it; engine is the contract of an engine. The rest is above the
// engines: decode, core, update, page, changes and sweep work on raw documents, and collection and
// create give them their types.
package docstore

import (
	"errors"
	"fmt"
	"slices"
)

// Errors that callers distinguish with errors.Is. A plain error is one that wraps none of
// these, no *DuplicateError and no error of a context.
var (
	// ErrNotFound: no document has that id or key.
	ErrNotFound = errors.New("docstore: not found")
	// ErrConflict: the document changed between the read and the write.
	ErrConflict = errors.New("docstore: conflict")
	// ErrBadToken: this collection did not issue the page token for that query.
	ErrBadToken = errors.New("docstore: bad page token")
	// ErrRequestReused: the id of a request was that of an earlier one, with another digest.
	ErrRequestReused = errors.New("docstore: request id reused")
	// ErrGone: the document that the request created was deleted.
	ErrGone = errors.New("docstore: what the request created was deleted")
	// ErrUnavailable: the store cannot be reached now. The caller may retry.
	ErrUnavailable = errors.New("docstore: unavailable")
)

// ErrForgotten reports a token after which deletions are forgotten, or one of another store, or of
// a later state of this one. Its holder starts anew.
var ErrForgotten = errors.New("docstore: the changes after the token are forgotten")

// DuplicateError reports that a document was not inserted or changed, because another
// document has the same id or the same key in a unique index. If several do, the error
// names the id before any index.
type DuplicateError struct {
	// Index is the index's name, or IDIndex.
	Index string
}

// Error names the index.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("docstore: duplicate key in index %q", e.Index)
}

// RefusedError reports that some of the documents of an Insert were not stored. It wraps the
// reasons.
type RefusedError struct {
	// Errs has for each document the reason why it was refused, or nil: a *DuplicateError or a
	// plain error. If two documents exclude each other, the first is stored.
	Errs []error
}

// Error returns the reasons.
func (e *RefusedError) Error() string { return errors.Join(e.Errs...).Error() }

// Unwrap returns the reasons.
func (e *RefusedError) Unwrap() []error {
	return slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return err == nil })
}

// Taken takes the documents out of an error of Insert that were there already, and returns their
// positions. What is left is nil, or why others were not stored.
func Taken(err error) (positions []int, left error) {
	refused, isRefused := errors.AsType[*RefusedError](err)
	if !isRefused {
		return nil, err
	}
	for i, each := range refused.Errs {
		if _, isDuplicate := errors.AsType[*DuplicateError](each); isDuplicate {
			positions = append(positions, i)
		} else if each != nil {
			return nil, err
		}
	}
	return positions, nil
}
