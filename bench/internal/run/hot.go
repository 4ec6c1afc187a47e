package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/inprocess"
	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/platform/process"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// The clients of section hot.
const (
	recommenders = 64
	commenters   = 16
	// usersEach is how many users a recommender acts for, in turn.
	usersEach = 8
)

// hot measures recommendations and comments on one album, each alone and both at once. The store is
// an embedded one, and each call to it takes a millisecond more, as if it were on another machine.
func (b *bench) hot(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, err := w.newData()
	if err != nil {
		return err
	}
	engine, err := embedded.Open(filepath.Join(data, "hot.db"))
	if err != nil {
		return err
	}
	w.onClose(engine.Close)
	var isFar atomic.Bool
	store := observed.Wrap(engine, nil, func(observed.Call) {
		if isFar.Load() {
			time.Sleep(distance)
		}
	})
	stack := &process.Stack{}
	w.onClose(func() error { return stack.Stop(context.WithoutCancel(ctx)) })
	env := process.Env{Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler), Fail: func(error) {}}
	channel, err := inprocess.Start(ctx, env, process.NewMetrics(), store)
	if err != nil {
		return err
	}
	var users []int64
	for n := range recommenders * usersEach {
		user, err := content.NewUser(ctx, channel, fmt.Sprint(n))
		if err != nil {
			return err
		}
		users = append(users, user)
	}
	made, err := albumv1.NewAlbumServiceClient(channel).CreateAlbum(ctx, content.NewAlbum(users[0]))
	if err != nil {
		return err
	}
	album := made.GetAlbum().GetAlbumId()
	isFar.Store(true)

	var on [4]struct{ rate, p99, failed report.Spread }
	names := []string{"recommendations alone", "comments alone", "recommendations beside comments", "comments beside recommendations"}
	for range b.settings.Rounds {
		note := func(i int, r load.Result, failed int64) {
			on[i].rate = append(on[i].rate, r.Rate())
			on[i].p99 = append(on[i].p99, millis(r.Latencies.Quantile(0.99)))
			on[i].failed = append(on[i].failed, float64(failed))
		}
		recommend := &hotLoad{channel: channel, album: album, users: users, each: usersEach, isRecommending: true}
		comment := &hotLoad{channel: channel, album: album, users: users, each: usersEach}
		run := func(l *hotLoad, clients int) (load.Result, error) {
			return load.Closed(ctx, l.open, clients, b.settings.Duration)
		}
		alone, err := run(recommend, recommenders)
		if err != nil {
			return err
		}
		note(0, alone, recommend.failed.Swap(0))
		if alone, err = run(comment, commenters); err != nil {
			return err
		}
		note(1, alone, comment.failed.Swap(0))
		beside := make(chan error, 1)
		var comments load.Result
		go func() {
			var err error
			comments, err = run(comment, commenters)
			beside <- err
		}()
		recommendations, err := run(recommend, recommenders)
		if err := errors.Join(err, <-beside); err != nil {
			return err
		}
		note(2, recommendations, recommend.failed.Swap(0))
		note(3, comments, comment.failed.Swap(0))
	}
	table := report.Table{
		Title: fmt.Sprintf("One album, %d clients that recommend and %d that comment, a store at 1 ms", recommenders, commenters),
		Rows:  [][]string{{"load", "per second", "p99 ms", "failed"}},
	}
	for i, each := range on {
		table.Add(names[i], each.rate.String(), each.p99.String(), each.failed.String())
	}
	table.Print(b.out)
	b.target(on[2].rate.Median() >= 500, report.Number(on[2].rate.Median()), "≥ 500/s", "recommendations on one album beside comments")
	kept := ratios(on[3].rate, on[1].rate)
	b.target(kept.Median() >= 0.8, kept.String(), "≥ 0.8", "rate of comments beside recommendations, over that alone")
	return nil
}

// hotLoad is the clients of one kind. It may be used concurrently.
type hotLoad struct {
	channel        grpc.ClientConnInterface
	album          int64
	users          []int64
	each           int
	isRecommending bool
	failed         atomic.Int64
}

// open returns a client that recommends and withdraws for its own users, or comments.
func (l *hotLoad) open(n int) (load.Connection, error) {
	from := n * l.each % len(l.users)
	return &hotClient{hotLoad: l, albums: albumv1.NewAlbumServiceClient(l.channel), users: l.users[from : from+l.each]}, nil
}

type hotClient struct {
	*hotLoad
	albums albumv1.AlbumServiceClient
	users  []int64
	done   int
}

// hotDeadline is the time that a client gives a call.
const hotDeadline = 10 * time.Second

// Do makes one call. A failure is counted.
func (c *hotClient) Do(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, hotDeadline)
	defer cancel()
	user := c.users[c.done%len(c.users)]
	isWithdrawn := c.done/len(c.users)%2 == 1
	c.done++
	switch {
	case !c.isRecommending:
		_, err = c.albums.AddComment(ctx, &albumv1.AddCommentRequest{AlbumId: c.album, AuthorId: user, Text: "好"})
	case isWithdrawn:
		_, err = c.albums.WithdrawRecommendation(ctx, &albumv1.WithdrawRecommendationRequest{AlbumId: c.album, UserId: user})
	default:
		_, err = c.albums.Recommend(ctx, &albumv1.RecommendRequest{AlbumId: c.album, UserId: user})
	}
	if err != nil {
		c.failed.Add(1)
	}
	return nil
}

// Close does nothing: the channel stays open.
func (c *hotClient) Close() error { return nil }
