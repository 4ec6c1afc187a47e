package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/waybook/waybook/e2e/mongowire"
)

func run(backend string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := mongowire.Listen(mongowire.Config{Backend: backend})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin := &http.Server{Handler: handler(server), ReadHeaderTimeout: time.Second}
	defer func() { err = errors.Join(err, admin.Close()) }()
	go func() { _ = admin.Serve(listener) }() // ends when admin is closed
	fmt.Printf("waybook database\n  grpc   %s\n  admin  http://%s\n", server.Address(), listener.Addr())
	<-ctx.Done()
	return nil
}

func handler(server *mongowire.Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /commands", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, server.Mark()) // the client has gone if this fails
	})
	mux.HandleFunc("POST /latency", func(w http.ResponseWriter, r *http.Request) {
		latency, err := time.ParseDuration(r.FormValue("of"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		server.SetLatency(mongowire.Latency{Read: latency, Write: latency})
	})
	return mux
}
