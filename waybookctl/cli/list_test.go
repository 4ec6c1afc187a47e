package cli

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/grpc"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// asking is the page that a call asks for.
type asking struct {
	size  int32
	token string
}

type listSessions func(context.Context, *accountv1.ListSessionsRequest, ...grpc.CallOption) (*accountv1.ListSessionsResponse, error)

// listed returns a method for a list of total items, which records the pages asked for.
func listed(total int, asked *[]asking) listSessions {
	return func(_ context.Context, r *accountv1.ListSessionsRequest, _ ...grpc.CallOption) (*accountv1.ListSessionsResponse, error) {
		*asked = append(*asked, asking{r.GetPageSize(), r.GetPageToken()})
		from, _ := strconv.Atoi(r.GetPageToken())
		reply := &accountv1.ListSessionsResponse{}
		for i := from; i < total && i < from+int(r.GetPageSize()); i++ {
			reply.Sessions = append(reply.Sessions, &accountv1.Session{UserId: int64(i)})
		}
		if end := from + len(reply.GetSessions()); end < total {
			reply.NextPageToken = strconv.Itoa(end)
		}
		return reply, nil
	}
}

func items(t *testing.T, most uint, ask listSessions) iter.Seq2[*accountv1.Session, error] {
	t.Helper()
	return pages(t.Context(), limit{most}, ask, &accountv1.ListSessionsRequest{}, (*accountv1.ListSessionsResponse).GetSessions)
}

func TestAListIsReadPageByPageUpToTheLimit(t *testing.T) {
	for _, test := range []struct {
		total       int
		most        uint
		want, calls int
	}{
		{0, 0, 0, 1}, {5, 0, 5, 1}, {250, 0, 250, 3}, {250, 100, 100, 1}, {250, 101, 101, 2}, {250, 300, 250, 3}, {5, 1, 1, 1},
	} {
		var asked []asking
		got := 0
		for item, err := range items(t, test.most, listed(test.total, &asked)) {
			if err != nil || int(item.GetUserId()) != got {
				t.Fatalf("%v, %v, want %d", item, err, got)
			}
			got++
		}
		if got != test.want || len(asked) != test.calls {
			t.Errorf("%+v: %d items in %d calls", test, got, len(asked))
		}
	}
}

func TestNoPageIsFetchedBeforeItIsNeeded(t *testing.T) {
	var asked []asking
	for item, err := range items(t, 0, listed(1000, &asked)) {
		if err != nil {
			t.Fatal(err)
		}
		if item.GetUserId() == pageSize-1 {
			break
		}
	}
	if !slices.Equal(asked, []asking{{size: pageSize}}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestPageSizesStayWithinTheLimit(t *testing.T) {
	var asked []asking
	for _, err := range items(t, 130, listed(1000, &asked)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(asked, []asking{{pageSize, ""}, {30, "100"}}) {
		t.Errorf("asked for %v", asked)
	}
}

func TestAListThatFailsEndsWithTheFailure(t *testing.T) {
	broken := errors.New("broken")
	var last error
	count := 0
	for _, err := range items(t, 0, func(_ context.Context, r *accountv1.ListSessionsRequest, _ ...grpc.CallOption) (*accountv1.ListSessionsResponse, error) {
		if r.GetPageToken() != "" {
			return nil, broken
		}
		return &accountv1.ListSessionsResponse{Sessions: []*accountv1.Session{{}, {}}, NextPageToken: "more"}, nil
	}) {
		count, last = count+1, err
	}
	if count != 3 || !errors.Is(last, broken) {
		t.Errorf("%d items, the last with %v", count, last)
	}
}
