package load

import (
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// users is the number of users that log in.
const users = 64

// createUsers creates enough users that no user logs in twice at the same time.
func createUsers(t *testing.T, services grpc.ClientConnInterface) {
	t.Helper()
	accounts := accountv1.NewAccountServiceClient(services)
	for i := range users {
		user := &accountv1.CreateUserRequest{Name: "x"}
		user.Email, user.Password = credentials(i)
		if _, err := accounts.CreateUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
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
