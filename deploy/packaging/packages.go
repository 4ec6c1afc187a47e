package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// packages makes a Debian package and an RPM. They have all of Waybook in one process with its unit and settings, and
// waybookctl. The unit makes its user and its directory, which a removal leaves.
func (r *release) packages(p platform, programs string) (err error) {
	units, err := r.units(programs)
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := r.info(p, programs, units)
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		if err := r.write(packager.ConventionalFileName(info), func(to io.Writer) error { return packager.Package(info, to) }); err != nil {
			return err
		}
	}
	return nil
}

// units writes the units with the paths of the programs in the package.
func (r *release) units(programs string) (paths []string, err error) {
	places := strings.NewReplacer("/usr/local/bin/standalone", "/usr/bin/waybook", "/usr/local/bin/", "/usr/bin/")
	for _, document := range documents {
		if kind := filepath.Ext(document); kind != ".service" && kind != ".timer" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.root, document))
		if err != nil {
			return nil, err
		}
		path := filepath.Join(programs, filepath.Base(document))
		if err := os.WriteFile(path, []byte(places.Replace(string(text))), 0o600); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (r *release) info(p platform, programs string, units []string) *nfpm.Info {
	content := func(source, destination, kind string, mode os.FileMode) *files.Content {
		return &files.Content{
			Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.when},
		}
	}
	script := func(name string) string { return filepath.Join(r.root, "deploy/packaging", name) }
	contents := files.Contents{
		content(filepath.Join(programs, "standalone"), "/usr/bin/waybook", files.TypeFile, 0o755),
		content(filepath.Join(programs, "waybookctl"), "/usr/bin/waybookctl", files.TypeFile, 0o755),
		content(filepath.Join(r.root, "deploy/systemd/waybook.yaml"), "/etc/waybook/waybook.yaml", files.TypeConfigNoReplace, 0o644),
		content(filepath.Join(r.root, "CHANGELOG.md"), "/usr/share/doc/waybook/CHANGELOG.md", files.TypeFile, 0o644),
		content(filepath.Join(r.root, "deploy/proxy/nginx.conf"), "/usr/share/doc/waybook/nginx.conf", files.TypeFile, 0o644),
		content(filepath.Join(r.root, "deploy/proxy/Caddyfile"), "/usr/share/doc/waybook/Caddyfile", files.TypeFile, 0o644),
	}
	for _, unit := range units {
		contents = append(contents, content(unit, "/usr/lib/systemd/system/"+filepath.Base(unit), files.TypeFile, 0o644))
	}
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "waybook", Platform: "linux", Arch: p.arch, Version: r.version, Section: "web", Priority: "optional", MTime: r.when,
		Maintainer: "Waybook <waybook@waybook.example>", Homepage: "https://github.com/waybook/waybook",
		Description: "Albums, diary entries and landmarks on a map, for clients of a legacy web interface",
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"},
			Contents:   contents,
			Scripts: nfpm.Scripts{
				PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"), PostRemove: script("postremove.sh"),
			},
		},
	})
}
