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

// Overlay renders an overlay of the manifests in a directory, with additional components in its list,
// as an operator adds them. It returns one YAML document for each object.
func Overlay(directory, name string, components ...string) (documents [][]byte, err error) {
	files, err := inMemory(directory)
	if err != nil {
		return nil, err
	}
	folder := "/k8s/overlays/" + name
	own, err := files.ReadFile(folder + "/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	var kustomization map[string]any
	if err := yaml.Unmarshal(own, &kustomization); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	listed, _ := kustomization["components"].([]any)
	for _, component := range components {
		listed = append(listed, "../../components/"+component)
	}
	kustomization["components"] = listed
	changed, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile(folder+"/kustomization.yaml", changed); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
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

// inMemory copies the manifests to a file system in memory, where an overlay can be changed.
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
