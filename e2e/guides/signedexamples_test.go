package guides_test

import (
	"testing"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/internal/longform"
)

func TestTheExamplesWorkWhereSignaturesAreRequired(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	for _, program := range []string{"curl", "openssl"} {
		examples.Need(t, program)
	}
	count := examples.Play(t, "signatures.md", examples.Setting{
		Programs: []string{"github.com/waybook/waybook/waybookctl"},
		Args:     []string{"-signatures", "require"},
	})
	if count < 6 {
		t.Errorf("there are %d examples", count)
	}
}
