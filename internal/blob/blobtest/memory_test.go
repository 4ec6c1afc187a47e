package blobtest

import (
	"testing"

	"github.com/waybook/waybook/internal/blob"
)

func TestAStoreInMemoryKeepsThePromisesOfTheStore(t *testing.T) {
	Run(t, func(*testing.T) blob.Store { return &Memory{} })
}
