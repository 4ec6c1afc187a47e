package serve

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Dial returns a connection to another service's address, which is made when it is
// first needed, and pushes its closing.
func (e Env) Dial(name, address string) (*grpc.ClientConn, error) {
	connection, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", name, err)
	}
	e.Stack.Push("connection to "+name, func(context.Context) error { return connection.Close() })
	return connection, nil
}
