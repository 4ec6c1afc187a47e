package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// documents are files of the clone that archives contain.
var documents = []string{
	"README.md", "CHANGELOG.md", "deploy/systemd/waybook.service", "deploy/systemd/waybook.yaml", "deploy/systemd/mongodb.conf",
	"deploy/systemd/waybook-backup.service", "deploy/systemd/waybook-backup.timer",
	"deploy/proxy/nginx.conf", "deploy/proxy/Caddyfile",
}

// entry is a file of an archive.
type entry struct {
	name, source string
	mode         fs.FileMode
}

// archive makes the archive of a platform: a zip for Windows, otherwise a tar.
func (r *release) archive(p platform, programs string) error {
	folder := fmt.Sprintf("waybook-%s-%s-%s", r.number(), p.os, p.arch)
	built, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	var entries []entry
	for _, each := range built {
		entries = append(entries, entry{folder + "/" + each.Name(), filepath.Join(programs, each.Name()), 0o755})
	}
	for _, each := range documents {
		entries = append(entries, entry{folder + "/" + each, filepath.Join(r.root, each), 0o644})
	}
	write, suffix := r.tar, ".tar.gz"
	if p.os == "windows" {
		write, suffix = r.zip, ".zip"
	}
	return r.write(folder+suffix, func(to io.Writer) error { return write(to, entries) })
}

// write writes a file of the release.
func (r *release) write(name string, content func(io.Writer) error) (err error) {
	file, err := os.Create(filepath.Join(r.out, name)) // #nosec G304 -- in the folder of the release
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := content(file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintln(r.log, file.Name())
	return err
}

func (r *release) tar(to io.Writer, entries []entry) error {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, each := range entries {
		content, err := os.ReadFile(each.source)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: each.name, Mode: int64(each.mode), Size: int64(len(content)), ModTime: r.when, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func (r *release) zip(to io.Writer, entries []entry) error {
	archive := zip.NewWriter(to)
	for _, each := range entries {
		content, err := os.ReadFile(each.source)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: each.name, Method: zip.Deflate, Modified: r.when}
		header.SetMode(each.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// list writes the modules that the programs of a module contain, with their versions and hashes, as a CycloneDX document.
func (r *release) list(ctx context.Context, name, root string) error {
	const generator = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod"
	command := exec.CommandContext(ctx, "go", "run", "-trimpath", "-buildvcs=false", generator, "mod", "-json", "-noserial", "-notimestamp", "-type", "application", root) // #nosec G204 -- fixed
	command.Stderr = os.Stderr
	command.Env = append(os.Environ(), "GOWORK=off")
	return r.write(name+"-"+r.number()+".cdx.json", func(to io.Writer) error {
		command.Stdout = to
		return command.Run()
	})
}

// notes writes the part of the changelog about the version; that of what is not released, if it has none.
func (r *release) notes() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	part := sectionOf(string(text), r.number())
	if part == "" {
		part = sectionOf(string(text), "Unreleased")
	}
	if part == "" {
		return fmt.Errorf("CHANGELOG.md says nothing about %s", r.version)
	}
	return r.write("NOTES.md", func(to io.Writer) error {
		_, err := fmt.Fprintf(to, "# Waybook %s\n\nCommit %s\n\n%s\n", r.version, r.commit, part)
		return err
	})
}

// sectionOf returns the text under a heading of the second level such as ## [0.1.0].
func sectionOf(changelog, name string) string {
	_, rest, _ := strings.Cut(changelog, "\n## ["+name+"]")
	_, rest, _ = strings.Cut(rest, "\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(part)
}

// checksums writes the SHA-256 of each file, in the form of sha256sum.
func (r *release) checksums() error {
	var names []string
	if err := filepath.WalkDir(r.out, func(path string, found fs.DirEntry, err error) error {
		if err == nil && found.Type().IsRegular() {
			names = append(names, strings.TrimPrefix(path, r.out+string(filepath.Separator)))
		}
		return err
	}); err != nil {
		return err
	}
	slices.Sort(names)
	return r.write("SHA256SUMS", func(to io.Writer) error {
		for _, name := range names {
			content, err := os.ReadFile(filepath.Join(r.out, name)) // #nosec G304 -- in the folder of the release
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(to, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(name)); err != nil {
				return err
			}
		}
		return nil
	})
}
