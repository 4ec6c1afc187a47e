// Package storetest has stores that fail, for tests: Hooked and Mortal, a Replica that fails over, and the seeds of such tests.
package storetest

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// The variables that say how many seeds a test of seeds tries, and from which one on.
const (
	seedsVariable     = "WAYBOOK_SEEDS"
	firstSeedVariable = "WAYBOOK_FIRST_SEED"
)

// Seeds runs a test with one seed after the other, until it fails with one.
func Seeds(t *testing.T, test func(t *testing.T, seed uint64)) {
	t.Helper()
	SomeSeeds(t, longform.Number(20, 100), test)
}

// SomeSeeds is Seeds with that many seeds, unless the environment says how many.
func SomeSeeds(t *testing.T, number int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	first, count := numberIn(t, firstSeedVariable, 0), numberIn(t, seedsVariable, uint64(number))
	for seed := range count {
		seed += first
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { test(t, seed) }) {
			t.Fatalf("%s=%d %s=1 repeats it", firstSeedVariable, seed, seedsVariable)
		}
	}
}

// numberIn returns the number in a variable of the environment.
func numberIn(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text, isSet := os.LookupEnv(variable)
	if !isSet {
		return otherwise
	}
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return number
}
