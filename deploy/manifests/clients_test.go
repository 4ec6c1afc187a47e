package manifests_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/clients"
)

// edgeFlags returns the settings of the interface that the edge's container has.
func (c *cluster) edgeFlags() (settings edge.Flags, err error) {
	flags := flag.NewFlagSet("edge", flag.ContinueOnError)
	settings.Register(flags)
	for name, value := range c.flags(c.program(c.variant.edge())) {
		if flags.Lookup(name) == nil {
			continue // a setting of the program, not of the interface
		}
		if err := flags.Set(name, value); err != nil {
			return settings, fmt.Errorf("-%s=%s: %w", name, value, err)
		}
	}
	return settings, nil
}

// counted returns whether the edge counts a request as one of an address that has made another.
// Each address has one request in its limit.
func counted(handler http.Handler, forwardedFor ...string) bool {
	r := httptest.NewRequest(http.MethodGet, edge.Path, nil)
	r.RemoteAddr = "10.244.0.7:41234" // a pod of the ingress controller
	r.Header["X-Forwarded-For"] = forwardedFor
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Code == http.StatusTooManyRequests
}

// checkClients checks how the edge tells its clients apart, and that it limits each of them. A
// controller appends the address of its client, or replaces the header by it. The address is one
// of the cluster if the client is a pod, or if its node has translated it.
func checkClients(c *cluster, complain complain) {
	settings, err := c.edgeFlags()
	if err != nil {
		complain("%v", err)
		return
	}
	if settings.UserWrites <= 0 || settings.ClientLongReplies <= 0 {
		complain("%g writes of a user and %d long replies of an address: there is a limit of neither",
			settings.UserWrites, settings.ClientLongReplies)
	}
	if isSecure := settings.CookieSecure == edge.SecureAlways; isSecure != (c.variant.overlay != "dev") {
		complain("-cookie-secure is %s", settings.CookieSecure)
	}
	settings.ClientRate = 1.0 / 1000
	config := settings.Config()
	nowhere, err := grpc.NewClient("passthrough:///nowhere", grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		complain("%v", err)
		return
	}
	defer func() { _ = nowhere.Close() }()
	config.Clients = clients.Of(nowhere, nowhere, nowhere, nowhere)
	config.Zone = time.UTC
	handler := edge.New(config)

	for _, client := range []string{"203.0.113.9", "10.244.0.1", "172.16.5.5", "fd00::1"} {
		if counted(handler, client) {
			complain("%s counts as another client", client)
		}
		for _, forged := range []string{"198.51.100.1", "10.9.9.1", "x, 10.9.9.2", "2001:db8::1, fd00::2", "unknown", ""} {
			if !counted(handler, forged+", "+client) || !counted(handler, forged, client) {
				complain("%s evades its limit with %q", client, forged)
			}
		}
	}
}
