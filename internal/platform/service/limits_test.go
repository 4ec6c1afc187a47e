package service

import (
	"testing"

	"github.com/waybook/waybook/internal/platform/serve"
)

func TestACallThatBeganBeforeTheEndFinishes(t *testing.T) {
	if unaryTimeout >= serve.DrainTime {
		t.Errorf("a call may take %v, and a program that ends waits %v", unaryTimeout, serve.DrainTime)
	}
}
