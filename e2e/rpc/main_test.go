// Package rpc_test calls the four services over TCP as an internal service does. It calls each RPC
// and causes each failure that the contracts name.
package rpc_test

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // small heaps would be collected all the time
	goleak.VerifyTestMain(m)
}
