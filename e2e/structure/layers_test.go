package structure_test

import (
	"slices"
	"strings"
	"testing"
)

const module = "github.com/waybook/waybook/"

// layer is a part of the tree and the folders that it must not import, tests included. Its mains
// may import them. All are folders of the root module.
type layer struct {
	folders, forbidden []string
	mains              []string
}

// layers returns the layers of the tree, from the services down.
func layers() map[string]layer {
	above := []string{"services", "edge", "console", "standalone", "waybookctl", "moving"}
	return map[string]layer{
		"a service": {folders: []string{"services"}, forbidden: []string{"edge", "console", "standalone", "waybookctl"}},
		// The edge's main and standalone put the console in front of the edge.
		"the edge": {[]string{"edge"}, []string{"services", "console", "standalone", "waybookctl", "moving", "internal/content"}, []string{"edge/cmd"}},
		// The console describes the edge and shows the numbers of the process. It knows no service and no
		// store.
		"the console": {folders: []string{"console"}, forbidden: []string{
			"services", "standalone", "waybookctl", "edge/cmd", "edge/program", "internal/content", "internal/docstore",
		}},
		"moving in":    {folders: []string{"moving"}, forbidden: []string{"services", "console", "standalone", "waybookctl"}},
		"the content":  {folders: []string{"internal/content"}, forbidden: above},
		"the platform": {folders: []string{"internal/platform", "internal/upload"}, forbidden: append([]string{"internal/content"}, above...)},
		"the foundation": {
			folders: []string{
				"internal/arena", "internal/blob", "internal/chance", "internal/clients", "internal/docstore", "internal/storetest", "internal/id",
				"internal/longform", "internal/parent", "internal/pause", "internal/picture", "internal/progress", "internal/text",
			},
			forbidden: append([]string{"internal/platform", "internal/content"}, above...),
		},
		// What runs a whole Waybook for tests may use all of it.
		"the harness": {folders: []string{"internal/waybooktest"}, forbidden: []string{"waybookctl", "moving"}},
		"a contract":  {folders: []string{"proto"}, forbidden: append([]string{"internal"}, above...)},
	}
}

// folder returns the folder of a package of the root module, and "" for any other package.
func folder(path string) string {
	inside, ok := strings.CutPrefix(path, module)
	if !ok {
		return ""
	}
	return inside
}

// isIn reports whether a folder is one of the others or inside one.
func isIn(folder string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		return folder == other || strings.HasPrefix(folder, other+"/")
	})
}

func TestNoLayerImportsOneAboveIt(t *testing.T) {
	all := packages(t)
	for name, layer := range layers() {
		seen := map[string]bool{}
		for _, each := range all {
			from := folder(each.ImportPath)
			for _, its := range layer.folders {
				seen[its] = seen[its] || isIn(from, its)
			}
			if !isIn(from, layer.folders...) || isIn(from, layer.mains...) {
				continue
			}
			for _, path := range slices.Concat(each.Imports, each.TestImports, each.XTestImports) {
				if isIn(folder(path), layer.forbidden...) {
					t.Errorf("%s imports a layer above it: %s imports %s", name, from, folder(path))
				}
			}
		}
		for _, its := range layer.folders {
			if !seen[its] {
				t.Errorf("%s has no package in %s", name, its)
			}
		}
	}
}

func TestEveryInternalPackageIsInALayer(t *testing.T) {
	var known []string
	for _, layer := range layers() {
		known = append(known, layer.folders...)
	}
	for _, each := range packages(t) {
		if from := folder(each.ImportPath); isIn(from, "internal") && !isIn(from, known...) {
			t.Errorf("%s is in no layer", from)
		}
	}
}

func TestNoServiceImportsAnother(t *testing.T) {
	service := func(folder string) string {
		parts := strings.SplitN(folder, "/", 3)
		return strings.Join(parts[:min(2, len(parts))], "/")
	}
	found := map[string]bool{}
	for _, each := range packages(t) {
		from := folder(each.ImportPath)
		if !isIn(from, "services") {
			continue
		}
		found[service(from)] = true
		for _, path := range slices.Concat(each.Imports, each.TestImports, each.XTestImports) {
			if to := folder(path); isIn(to, "services") && service(to) != service(from) {
				t.Errorf("%s imports another service, %s", from, to)
			}
		}
	}
	if len(found) != 4 {
		t.Errorf("found %d services", len(found))
	}
}

// doors are the packages of the room for moving in that others import, and who does. Everybody else knows what was moved
// in by internal/content/aliases alone.
var doors = map[string][]string{
	"moving/compare":  {"waybookctl"},
	"moving/format":   {"waybookctl"},
	"moving/importer": {"waybookctl"},
}

func TestMovingInIsARoomOfItsOwn(t *testing.T) {
	used := map[string]bool{}
	for _, each := range packages(t) {
		from := folder(each.ImportPath)
		for _, path := range slices.Concat(each.Imports, each.TestImports, each.XTestImports) {
			to := folder(path)
			switch {
			case !isIn(to, "moving"):
			case isIn(from, "moving"):
				if parts := []string{"moving/compare", "moving/importer"}; isIn(from, parts...) && to != from && isIn(to, parts...) {
					t.Errorf("%s imports %s: each may use moving/format and moving/linefile only", from, to)
				}
			case isIn(from, doors[to]...):
				used[to] = true
			default:
				t.Errorf("%s imports %s, which is for %v", from, to, doors[to])
			}
		}
	}
	for door := range doors {
		if !used[door] {
			t.Errorf("nobody imports %s", door)
		}
	}
}

// A place is given to the port as a function of an identifier.
func TestThePortKnowsNoIdentifiers(t *testing.T) {
	for _, each := range packages(t) {
		if from := folder(each.ImportPath); isIn(from, "internal/docstore") && slices.Contains(each.Imports, module+"internal/id") {
			t.Errorf("%s imports internal/id", from)
		}
	}
}
