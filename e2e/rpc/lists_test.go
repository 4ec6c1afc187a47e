package rpc_test

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// collect receives a stream to its end.
func collect[T any](stream grpc.ServerStreamingClient[T], err error) (batches []*T, _ error) {
	for err == nil {
		var batch *T
		if batch, err = stream.Recv(); err == nil {
			batches = append(batches, batch)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return batches, err
}

// summaryIDs returns the identifiers of summaries.
func summaryIDs(content []*typev1.Summary) []int64 { return idsOf(content, (*typev1.Summary).GetId) }

// summaries returns the summaries on all pages of a list. Pages of published entries may be short.
func (k kind) summaries(ctx context.Context, values fields, size int32) (all []*typev1.Summary, err error) {
	for token := ""; ; {
		reply, err := k.send(ctx, "List", fields{"view": int(typev1.View_VIEW_SUMMARY), "page_size": size, "page_token": token}.and(values))
		if err != nil {
			return nil, err
		}
		all = append(all, readAll[*typev1.Summary](reply, "summaries")...)
		if token = read[string](reply, "next_page_token"); token == "" {
			return all, nil
		}
	}
}
