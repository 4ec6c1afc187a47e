package edge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestACallEndsWhenTheClientLeaves(t *testing.T) {
	for _, query := range []string{"func=getAlbum&albumID=1", "func=getCategoryPOIList&category=1"} {
		t.Run(query, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan error, 1)
			wait := func(ctx context.Context) error {
				close(begun)
				<-ctx.Done()
				ended <- ctx.Err()
				return ctx.Err()
			}
			server := httptest.NewServer(newEdge(t, &fakes{
				answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) { return nil, wait(ctx) },
				pois: func(ctx context.Context, _ *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
					return nil, wait(ctx)
				},
			}))
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+Path+"?"+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-begun
				leave()
			}()
			response, err := server.Client().Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			select {
			case err := <-ended:
				if err != context.Canceled {
					t.Errorf("the call ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the call continues")
			}
		})
	}
}

// A server cannot tell it from a client that has left.
func TestAClientThatClosesItsSendingSideCountsAsGone(t *testing.T) {
	begun := make(chan struct{})
	server := serve(t, &fakes{answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s?func=getAlbum&albumID=1 HTTP/1.1\r\nHost: x\r\n\r\n", Path)
	<-begun
	if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if reply, err := io.ReadAll(connection); len(reply) > 0 || err != nil {
		t.Errorf("got %q, %v", reply, err)
	}
}
