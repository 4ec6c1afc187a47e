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
	unit, err := r.unit(programs)
	if err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info := r.info(p, programs, unit)
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return err
		}
		if err := r.write(packager.ConventionalFileName(info), func(to io.Writer) error { return packager.Package(info, to) }); err != nil {
			return err
		}
	}
	return nil
}

// unit writes the unit with the path of the program in the package.
func (r *release) unit(programs string) (path string, err error) {
	text, err := os.ReadFile(filepath.Join(r.root, "deploy/systemd/waybook.service"))
	if err != nil {
		return "", err
	}
	path = filepath.Join(programs, "waybook.service")
	return path, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/standalone", "/usr/bin/waybook")), 0o600)
}

func (r *release) info(p platform, programs, unit string) *nfpm.Info {
	content := func(source, destination, kind string, mode os.FileMode) *files.Content {
		return &files.Content{
			Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.when},
		}
	}
	script := func(name string) string { return filepath.Join(r.root, "deploy/packaging", name) }
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "waybook", Platform: "linux", Arch: p.arch, Version: r.version, Section: "web", Priority: "optional", MTime: r.when,
		Maintainer: "Waybook <waybook@waybook.example>", Homepage: "https://github.com/waybook/waybook",
		Description: "Albums, diary entries and landmarks on a map, for clients of a legacy web interface",
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"},
			Contents: files.Contents{
				content(filepath.Join(programs, "standalone"), "/usr/bin/waybook", files.TypeFile, 0o755),
				content(filepath.Join(programs, "waybookctl"), "/usr/bin/waybookctl", files.TypeFile, 0o755),
				content(unit, "/usr/lib/systemd/system/waybook.service", files.TypeFile, 0o644),
				content(filepath.Join(r.root, "deploy/systemd/waybook.yaml"), "/etc/waybook/waybook.yaml", files.TypeConfigNoReplace, 0o644),
				content(filepath.Join(r.root, "CHANGELOG.md"), "/usr/share/doc/waybook/CHANGELOG.md", files.TypeFile, 0o644),
				content(filepath.Join(r.root, "deploy/proxy/nginx.conf"), "/usr/share/doc/waybook/nginx.conf", files.TypeFile, 0o644),
				content(filepath.Join(r.root, "deploy/proxy/Caddyfile"), "/usr/share/doc/waybook/Caddyfile", files.TypeFile, 0o644),
			},
			Scripts: nfpm.Scripts{
				PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"), PostRemove: script("postremove.sh"),
			},
		},
	})
}
