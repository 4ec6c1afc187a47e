package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// release is what is made.
type release struct {
	// root is the clone, and out the directory of the files.
	root, out string
	// version is that of the tag, such as v0.1.0, and commit the full hash.
	version, commit string
	// when is the time of the commit, and that of all files within.
	when      time.Time
	platforms []platform
	hasImages bool
	log       io.Writer
}

// platform is an operating system with an architecture, in Go's words.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// versions are the versions of releases: semantic versions after a v.
var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func run(ctx context.Context, args []string, log io.Writer) error {
	r := release{log: log}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.root, "root", ".", "`directory` of the clone")
	flags.StringVar(&r.out, "out", "", "`directory` of the files; deploy/out/release in the clone when empty")
	flags.StringVar(&r.version, "version", "", "`version`, such as v0.1.0; the tag of the commit when empty")
	flags.BoolVar(&r.hasImages, "images", true, "also make the images")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "`platforms` of the archives; those of Linux have packages")
	isChanged := flags.Bool("changed", false, "allow files that are not committed, for a trial")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for name := range strings.SplitSeq(*platforms, ",") {
		system, arch, isPair := strings.Cut(name, "/")
		if !isPair {
			return fmt.Errorf("-platforms: %q is no platform such as linux/arm64", name)
		}
		r.platforms = append(r.platforms, platform{system, arch})
	}
	if err := r.describe(ctx, *isChanged); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { // #nosec G301 -- releases are public
		return err
	}
	if left, err := os.ReadDir(r.out); err != nil || len(left) > 0 {
		return cmp.Or(err, fmt.Errorf("%s is not empty", r.out))
	}
	return r.make(ctx)
}

// describe reads the version, the commit and its time from the clone.
func (r *release) describe(ctx context.Context, isChanged bool) (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.out == "" {
		r.out = filepath.Join(r.root, "deploy/out/release")
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" && !isChanged {
		return fmt.Errorf("the clone has changes that are not committed:\n%s", changed)
	}
	if r.version == "" {
		if r.version, err = r.git(ctx, "describe", "--tags", "--exact-match"); err != nil {
			return fmt.Errorf("the commit has no tag; make one, or try -version: %w", err)
		}
	}
	if !versions.MatchString(r.version) {
		return fmt.Errorf("%q is not a version such as v0.1.0", r.version)
	}
	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	text, err := r.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	r.when = time.Unix(seconds, 0).UTC()
	return err
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.root}, args...)...).Output() // #nosec G204 -- fixed commands
	if exit, isExit := errors.AsType[*exec.ExitError](err); isExit {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(output)), err
}

// number is the version without the v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// make makes all files, and then their checksums.
func (r *release) make(ctx context.Context) error {
	for _, p := range r.platforms {
		if err := r.makeFor(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if r.hasImages {
		if err := r.images(ctx); err != nil {
			return err
		}
	}
	return errors.Join(r.list(ctx, "waybook", r.root), r.notes(), r.checksums())
}

// makeFor compiles the programs for a platform and puts them into an archive, and for Linux into packages.
func (r *release) makeFor(ctx context.Context, p platform) (err error) {
	programs, err := os.MkdirTemp("", "waybook-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	if err := r.ociimages(ctx, "-compile", programs, "-platforms", p.String()); err != nil {
		return err
	}
	if err := r.archive(p, programs); err != nil || p.os != "linux" {
		return err
	}
	return r.packages(p, programs)
}

// images makes an OCI archive of each image.
func (r *release) images(ctx context.Context) error {
	return r.ociimages(ctx, "-out", filepath.Join(r.out, "images"), "-platforms", "linux/amd64,linux/arm64")
}

// ociimages runs the program that compiles programs and builds images, in the clone.
func (r *release) ociimages(ctx context.Context, args ...string) error {
	args = append([]string{"run", "./deploy/cmd/ociimages", "-tag", r.version, "-commit", r.commit}, args...)
	command := exec.CommandContext(ctx, "go", args...) // #nosec G204 -- the arguments are checked
	command.Dir, command.Stdout, command.Stderr = r.root, r.log, os.Stderr
	command.Env = append(os.Environ(), "GOWORK=", "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.when.Unix(), 10))
	return command.Run()
}

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
