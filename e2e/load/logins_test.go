package load

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// load logs users in, one after another.
type load struct {
	client *waybooktest.Client
	forms  []string
	next   atomic.Int64
}

// users is the number of users that log in.
const users = 4 * places

// newLoad creates enough users that no user logs in twice at the same time.
func newLoad(t *testing.T, edge string, services grpc.ClientConnInterface) *load {
	t.Helper()
	l := &load{
		client: waybooktest.ClientAt(t, edge),
		forms:  make([]string, users),
	}
	accounts := accountv1.NewAccountServiceClient(services)
	for i := range l.forms {
		user := &accountv1.CreateUserRequest{Name: "x"}
		user.Email, user.Password = credentials(i)
		if _, err := accounts.CreateUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
		l.forms[i] = loginForm(i)
	}
	return l
}

func credentials(user int) (email, password string) {
	return fmt.Sprintf("user%d@waybook.example", user), fmt.Sprintf("password of user %d", user)
}

func loginForm(user int) string {
	email, password := credentials(user)
	return url.Values{"func": {"login"}, "email": {email}, "password": {password}}.Encode()
}

// result counts the replies of a load.
type result struct {
	mu            sync.Mutex
	good, refused int
	took          time.Duration
	// waits are the response times of the successful replies.
	waits []time.Duration
}

func (r *result) perSecond(count int) float64 { return float64(count) / r.took.Seconds() }

// quantile returns the response time within which a share of the successful replies came.
func (r *result) quantile(share float64) time.Duration {
	if len(r.waits) == 0 {
		return 0
	}
	slices.Sort(r.waits)
	return r.waits[int(share*float64(len(r.waits)-1))].Round(100 * time.Microsecond)
}

// inTurns runs clients that each send a request as soon as they have the previous reply. This gives
// the highest throughput.
func (l *load) inTurns(t *testing.T, clients int, forTime time.Duration) *result {
	t.Helper()
	return l.run(t, clients, forTime, nil)
}

// atRate sends requests at a fixed rate, independent of the replies.
func (l *load) atRate(t *testing.T, perSecond float64, forTime time.Duration) *result {
	t.Helper()
	pace := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer pace.Stop()
	turns := make(chan struct{}, clients)
	ctx, cancel := context.WithTimeout(t.Context(), forTime)
	defer cancel()
	go func() {
		defer close(turns)
		for {
			select {
			case <-pace.C:
				turns <- struct{}{}
			case <-ctx.Done():
				return
			}
		}
	}()
	return l.run(t, clients, forTime, turns)
}

// run sends requests with a number of clients: one per turn, or continuously if turns is nil.
func (l *load) run(t *testing.T, clients int, forTime time.Duration, turns <-chan struct{}) *result {
	began := time.Now()
	all := &result{}
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for turns == nil && time.Since(began) < forTime {
				if err := l.ask(all); err != nil {
					t.Error(err)
				}
			}
			if turns == nil {
				return
			}
			for range turns {
				if err := l.ask(all); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	all.took = time.Since(began)
	return all
}

// ask logs one user in and counts the reply. It returns an error for any unexpected reply.
func (l *load) ask(all *result) error {
	form := l.forms[int(l.next.Add(1))%len(l.forms)]
	asked := time.Now()
	client := l.client.WithCookie("")
	reply, err := client.Try(client.Form(http.MethodPost, form))
	if err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case reply.Code == http.StatusOK && reply.Succeeded() && len(reply.Text("idrand")) == 32:
		all.good++
		all.waits = append(all.waits, time.Since(asked))
	case reply.Code == http.StatusServiceUnavailable && reply.Text("info") == "SERVICE BUSY" &&
		reply.Reason() == "SERVICE_BUSY" && reply.Header.Get("Retry-After") != "":
		all.refused++
	default:
		return fmt.Errorf("%d %v %s", reply.Code, reply.Header, reply.Body)
	}
	return nil
}
