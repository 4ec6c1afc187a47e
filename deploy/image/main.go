package image

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// tags are the valid tags of an image.
var tags = regexp.MustCompile(`^\w[\w.-]{0,127}$`)

// commits are the valid hashes of commits.
var commits = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// request is a parsed command line.
type request struct {
	Builder
	programs []Program
	// archives is the directory for an archive of each image.
	archives string
	// registry, if set, gets the images instead.
	registry string
	// list prints the names only.
	list bool
	// compiled, if set, is the directory for the programs of one platform instead.
	compiled string
	// unpacked, if set, is the directory for the files of one image instead.
	unpacked string
}

// Main runs a command line of ociimages.
func Main(ctx context.Context, args []string, lookupEnv func(string) (string, bool), out io.Writer) error {
	asked, err := parse(ctx, args, lookupEnv, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if asked.list {
		for _, program := range asked.programs {
			fmt.Fprintf(out, "%s\t%s\n", program.Name, program.Summary)
		}
		return nil
	}
	if asked.compiled != "" {
		return asked.compileAll(ctx)
	}
	if asked.unpacked != "" {
		return asked.unpack(ctx)
	}
	if asked.registry != "" {
		fmt.Fprintln(out, "images:")
		for _, program := range asked.programs {
			if err := asked.push(ctx, program, out); err != nil {
				return err
			}
		}
		return nil
	}
	if err := os.MkdirAll(asked.archives, 0o755); err != nil { // #nosec G301 -- images are public
		return err
	}
	for _, program := range asked.programs {
		if err := asked.archive(ctx, program, out); err != nil {
			return err
		}
	}
	return nil
}

func parse(ctx context.Context, args []string, lookupEnv func(string) (string, bool), out io.Writer) (request, error) {
	var asked request
	flags := flag.NewFlagSet("ociimages", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&asked.Root, "root", ".", "`directory` of the workspace")
	flags.StringVar(&asked.Version, "tag", "dev", "`tag` of the images, and their version label")
	flags.StringVar(&asked.Commit, "commit", "", "`hash` of the commit that the programs and images name; when empty, that of the workspace unless a file was changed since")
	flags.StringVar(&asked.archives, "out", "deploy/out", "`directory` for an archive of each image")
	flags.StringVar(&asked.registry, "push", "", "`registry` to push the images to instead, such as registry.example.com; prints their digests for a kustomization")
	flags.StringVar(&asked.compiled, "compile", "", "`directory` for the programs of one platform, not of Linux only, instead of archives")
	flags.StringVar(&asked.unpacked, "unpack", "", "`directory` for the files of one program's image instead of archives, for a Dockerfile")
	flags.BoolVar(&asked.list, "list", false, "only print the names and summaries of the programs")
	platforms := flags.String("platforms", "linux/amd64", "`platforms` to build for, such as linux/amd64,linux/arm64")
	programs := flags.String("programs", "", "comma-separated `programs` to build; all when empty")
	if err := flags.Parse(args); err != nil {
		return asked, err
	}
	if asked.Commit == "" {
		asked.Commit = commitOf(ctx, asked.Root)
	}
	if asked.Commit != "" && !commits.MatchString(asked.Commit) {
		return asked, fmt.Errorf("-commit: %q is not a hash of 40 or 64 hexadecimal digits", asked.Commit)
	}
	if !tags.MatchString(asked.Version) {
		return asked, fmt.Errorf("-tag: %q is not a tag; use at most 128 letters, digits, dots, dashes and underscores", asked.Version)
	}
	for name := range strings.SplitSeq(*platforms, ",") {
		platform, err := v1.ParsePlatform(name)
		if err != nil || platform.OS != "linux" && asked.compiled == "" || platform.Architecture == "" {
			return asked, fmt.Errorf("-platforms: %q is not a Linux platform; want, for example, linux/arm64", name)
		}
		asked.Platforms = append(asked.Platforms, *platform)
	}
	asked.programs = Programs()
	if *programs != "" {
		wanted := strings.Split(*programs, ",")
		asked.programs = slices.DeleteFunc(asked.programs, func(p Program) bool { return !slices.Contains(wanted, p.Name) })
		if len(asked.programs) != len(wanted) {
			return asked, fmt.Errorf("-programs: %s has an unknown or repeated program; -list prints all programs", *programs)
		}
	}
	if asked.unpacked != "" && (len(asked.programs) != 1 || len(asked.Platforms) != 1) {
		return asked, errors.New("-unpack requires exactly one of -programs and one of -platforms")
	}
	if asked.compiled != "" && len(asked.Platforms) != 1 {
		return asked, errors.New("-compile requires exactly one of -platforms")
	}
	var err error
	asked.When, err = sourceDate(lookupEnv)
	return asked, err
}

// commitOf returns the commit of a workspace; empty without a repository, and if a file was changed since.
func commitOf(ctx context.Context, root string) string {
	head, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "HEAD").Output()
	changed, statusErr := exec.CommandContext(ctx, "git", "-C", root, "status", "--porcelain").Output()
	if err != nil || statusErr != nil || len(changed) > 0 {
		return ""
	}
	return strings.TrimSpace(string(head))
}

// sourceDate returns the time in SOURCE_DATE_EPOCH, or the Unix epoch if it is not set.
func sourceDate(lookupEnv func(string) (string, bool)) (time.Time, error) {
	value, ok := lookupEnv("SOURCE_DATE_EPOCH")
	if !ok {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q is not a number of seconds", value)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func (r request) archive(ctx context.Context, p Program, out io.Writer) error {
	index, err := r.Build(ctx, p)
	if err != nil {
		return err
	}
	path := filepath.Join(r.archives, p.Name+".tar")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(WriteArchive(file, index, p, r.Version, r.When), file.Close()); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s  %s:%s  %.1f MiB  %s\n", path, p.Repository(), r.Version, float64(info.Size())/(1<<20), digest)
	return nil
}

// compileAll compiles the programs for the one platform.
func (r request) compileAll(ctx context.Context) error {
	packages := make([]string, len(r.programs))
	for i, p := range r.programs {
		packages[i] = p.Package
	}
	return Compile(ctx, r.Root, r.compiled, r.Revision, r.Platforms[0], packages...)
}

func (r request) unpack(ctx context.Context) error {
	executable, err := r.compile(ctx, r.programs[0], r.Platforms[0])
	if err != nil {
		return err
	}
	return NewFiles(executable).Unpack(r.unpacked, r.When)
}
