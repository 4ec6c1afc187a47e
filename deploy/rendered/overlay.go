// Package rendered renders the manifests in deploy/k8s: an overlay as kubectl would render it, and
// the resulting command lines and environments of Waybook's programs.
package rendered

import (
	"fmt"
	"io/fs"
	"os"
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Overlay renders an overlay of the manifests in a directory, with additional components, in the
// namespace of the overlay. It returns one YAML document for each object.
func Overlay(directory, name string, components ...string) (documents [][]byte, err error) {
	files, err := inMemory(directory)
	if err != nil {
		return nil, err
	}
	own, err := files.ReadFile("/k8s/overlays/" + name + "/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	var kustomization struct{ Namespace string }
	if err := yaml.Unmarshal(own, &kustomization); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	top := "namespace: " + kustomization.Namespace + "\nresources: [../overlays/" + name + "]\ncomponents:\n"
	for _, component := range components {
		top += fmt.Sprintf("  - ../components/%s\n", component)
	}
	if err := files.WriteFile("/k8s/variant/kustomization.yaml", []byte(top)); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/k8s/variant")
	if err != nil {
		return nil, fmt.Errorf("overlay %s with %v: %w", name, components, err)
	}
	for _, object := range objects.Resources() {
		document, err := object.AsYAML()
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// inMemory copies the manifests to a file system in memory, to which a kustomization can be added.
func inMemory(directory string) (filesys.FileSystem, error) {
	files, manifests := filesys.MakeFsInMemory(), os.DirFS(directory)
	return files, fs.WalkDir(manifests, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(manifests, name)
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join("/k8s", name), content)
	})
}
