// Package rpc_test calls the four services as an internal service does: over TCP,
// each RPC, with each failure that the contracts name.
package rpc_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
