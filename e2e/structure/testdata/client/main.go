// Command client creates a user and reads it again, at the gRPC port of its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func main() {
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client := accountv1.NewAccountServiceClient(connection)
	created, err := client.CreateUser(context.Background(), &accountv1.CreateUserRequest{Name: "小旅人"})
	if err != nil {
		log.Fatal(err)
	}
	read, err := client.BatchGetUsers(context.Background(), &accountv1.BatchGetUsersRequest{UserIds: []int64{created.GetUser().GetUserId()}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("created %s, read %s\n", created.GetUser().GetName(), read.GetUsers()[0].GetName())
}
