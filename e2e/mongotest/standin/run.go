package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
)

// downtime is how long a killed server is away.
const downtime = 2 * time.Second

func run(address string, shards int) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	kills := make(chan os.Signal, 1)
	signal.Notify(kills, syscall.SIGHUP)
	config := mongowire.Config{Advertise: address, Shards: shards}
	if shards > 0 {
		config.Role = mongowire.Router
	}
	// It keeps what a killed server must know again, and nobody learns its address.
	keeper, err := mongotest.Listen(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	config.Listen, config.Beside = address, keeper
	for isFirst := true; ; isFirst = false {
		server, err := mongowire.Listen(config)
		if err != nil {
			return err
		}
		if isFirst {
			fmt.Printf("%s\nkill -HUP %d;:\n", server.URI(""), os.Getpid())
		}
		select {
		case <-ctx.Done():
			return server.Close()
		case <-kills:
			if err := server.Close(); err != nil {
				return err
			}
			time.Sleep(downtime)
		}
	}
}
