package service

import (
	"testing"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestACallThatBeganBeforeTheEndFinishes(t *testing.T) {
	if unaryTimeout >= process.DrainTime {
		t.Errorf("a call may take %v, and a program that ends waits %v", unaryTimeout, process.DrainTime)
	}
}
