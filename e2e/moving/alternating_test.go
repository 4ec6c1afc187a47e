package moving_test

import (
	"net/http"

	"github.com/waybook/waybook/e2e/oldserver"
)

// alternating is an old server that shows another identifier after each request.
type alternating struct {
	*oldserver.Server
	content oldserver.Content
	id      int64
}

func (a *alternating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.Server.ServeHTTP(w, r)
	a.content.Own[oldserver.EntryID][a.id]++
}
