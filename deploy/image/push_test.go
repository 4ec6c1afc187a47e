package image_test

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"sigs.k8s.io/yaml"

	"github.com/waybook/waybook/deploy/image"
	"github.com/waybook/waybook/internal/longform"
)

func TestAPushedImageIsPulledByThePrintedDigest(t *testing.T) {
	longform.Only(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")

	var printed bytes.Buffer
	args := []string{"-root", root, "-push", address, "-tag", version, "-programs", "edge"}
	if err := image.Main(t.Context(), args, noEnv, &printed); err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Images []struct{ Name, NewName, Digest string }
	}
	if err := yaml.UnmarshalStrict(printed.Bytes(), &kustomization); err != nil || len(kustomization.Images) != 1 {
		t.Fatalf("%v: printed\n%s", err, &printed)
	}
	entry := kustomization.Images[0]
	if entry.Name != "waybook/edge" || entry.NewName != address+"/waybook/edge" {
		t.Errorf("printed %+v", entry)
	}

	byDigest, err := name.NewDigest(entry.NewName + "@" + entry.Digest)
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Index(byDigest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(pulled); err != nil {
		t.Error(err)
	}
	byTag, err := name.NewTag(entry.NewName + ":" + version)
	if err != nil {
		t.Fatal(err)
	}
	tagged, err := remote.Head(byTag)
	if err != nil || tagged.Digest.String() != entry.Digest {
		t.Errorf("the tag is %v (%v), want %s", tagged, err, entry.Digest)
	}
}

func TestAPushToAnAddressThatIsNoRegistryFails(t *testing.T) {
	longform.Only(t)
	for registry, want := range map[string]string{"not a registry": "-push", "127.0.0.1:1": "push 127.0.0.1:1/waybook/edge:dev"} {
		err := image.Main(t.Context(), []string{"-root", root, "-push", registry, "-programs", "edge"}, noEnv, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", registry, err, want)
		}
	}
}
