package structure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
)

// TestTheTimesOfAnEndAreTheSameEverywhere compares documents with the program. deploy/manifests does
// so for the manifests.
func TestTheTimesOfAnEndAreTheSameEverywhere(t *testing.T) {
	if edge.DefaultCallTimeout >= process.DrainTime {
		t.Errorf("a call of the edge may take %v, and a program that ends waits %v", edge.DefaultCallTimeout, process.DrainTime)
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }
	drain, stop := seconds(process.DrainTime), seconds(process.StopTimeout)
	for file, sentences := range map[string][]string{
		"docs/operations.md": {
			"It stops within " + stop + " seconds of SIGTERM.",
			"lets requests in flight finish for up to " + drain + " seconds",
			"Steps 2 and 3 take at most " + stop + " seconds.",
			"A supervisor must wait for the delay and " + stop + " seconds",
		},
		"deploy/README.md":         {"then gives requests in flight up to " + drain + " s."},
		"deploy/k8s/base/pod.yaml": {"then the program's stop, which takes at most " + stop + " s."},
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences {
			if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), sentence) {
				t.Errorf("%s does not say: %s", file, sentence)
			}
		}
	}
}
