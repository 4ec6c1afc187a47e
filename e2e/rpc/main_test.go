// Package rpc_test calls the four services over TCP as an internal service does. It calls each RPC
// and causes each failure that the contracts name.
package rpc_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
