package structure_test

import (
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
)

func TestAProgramThatEndsWaitsForEveryCallOfTheEdge(t *testing.T) {
	if edge.DefaultCallTimeout >= process.DrainTime {
		t.Errorf("a call of the edge may take %v, and a program that ends waits %v", edge.DefaultCallTimeout, process.DrainTime)
	}
}
