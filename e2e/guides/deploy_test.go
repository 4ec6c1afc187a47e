package guides_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/examples"
)

// No cluster runs here. deploy/manifests renders the overlays, and .ci runs what makes images and releases.
func TestTheCommandsOfTheGuideOfDeploymentAreWellFormed(t *testing.T) {
	t.Parallel()
	examples.Need(t, "bash")
	blocks, err := examples.Blocks("../../deploy/README.md")
	if err != nil || len(blocks) < 10 {
		t.Fatalf("%d blocks: %v", len(blocks), err)
	}
	for _, block := range blocks {
		if !strings.HasPrefix(block.Language, "sh") {
			continue
		}
		if output, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", block.Text).CombinedOutput(); err != nil {
			t.Errorf("line %d: %v\n%s", block.Line, err, output)
		}
		for _, path := range regexp.MustCompile(`\bdeploy/[\w/]+`).FindAllString(block.Text, -1) {
			if _, err := os.Stat("../../" + path); err != nil && path != "deploy/out" {
				t.Errorf("line %d: %v", block.Line, err)
			}
		}
	}
}
