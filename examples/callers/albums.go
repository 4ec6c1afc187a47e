// Command albums prints the albums of a user (docs/callers.md).
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// reason returns a reason such as USER_NOT_FOUND, or the status code of a failure of the
// transport.
func reason(failed *status.Status) string {
	for _, detail := range failed.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return failed.Code().String()
}

func main() {
	log.SetFlags(0)
	config, err := os.ReadFile("retries.json")
	if err != nil {
		log.Fatal(err)
	}
	ownerID, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	connection, err := grpc.NewClient(os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(string(config)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name))) // for a slow network
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	reply, err := albumv1.NewAlbumServiceClient(connection).ListAlbums(ctx,
		&albumv1.ListAlbumsRequest{OwnerId: ownerID})
	if failed, _ := status.FromError(err); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", reason(failed), failed.Message())
		os.Exit(1)
	}
	for _, album := range reply.GetAlbums() {
		fmt.Println(album.GetAlbumId(), album.GetTitle())
	}
}
