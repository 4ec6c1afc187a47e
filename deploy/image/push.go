package image

import (
	"context"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push builds an image, pushes it to the registry, and prints the entry of a kustomization that
// selects it by digest. Credentials come from where docker and podman keep them. A registry on
// loopback is reached without TLS.
func (r request) push(ctx context.Context, p Program, out io.Writer) error {
	tag, err := name.NewTag(r.registry + "/" + p.Repository() + ":" + r.Version)
	if err != nil {
		return fmt.Errorf("-push: %w", err)
	}
	index, err := r.Build(ctx, p)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  - {name: %s, newName: %s, digest: %q} # %s\n", p.Repository(), tag.Context().Name(), digest, r.Version)
	return err
}
