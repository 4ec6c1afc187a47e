package guides_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/internal/longform"
)

const docs = examples.Docs

func TestTheExamplesForInternalCallersWork(t *testing.T) {
	t.Parallel()
	examples.Need(t, "jq")
	longform.Only(t) // grpcurl and its dependencies are compiled for it
	play(t, "grpc.md", buildGrpcurl(t))
}

func TestTheExamplesForLegacyClientsWork(t *testing.T) {
	t.Parallel()
	examples.Need(t, "curl")
	play(t, "legacy.md", "")
}

func play(t *testing.T, document, tools string) {
	t.Helper()
	if count := examples.Play(t, document, tools); count < 8 {
		t.Errorf("%s has %d examples", document, count)
	}
}

// buildGrpcurl builds the grpcurl of the module tools and returns its folder.
func buildGrpcurl(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../tools", "-o", folder, "github.com/fullstorydev/grpcurl/cmd/grpcurl")
	build.Env = append(os.Environ(), "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("grpcurl: %v\n%s", err, output)
	}
	return folder
}
