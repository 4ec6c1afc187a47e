package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// pictured is a service that takes the files of photos.
type pictured struct {
	service
	mu sync.Mutex
	// names are the photos, by the identifier less one that an upload gives, and files those that have one.
	names []string
	files map[string]string
	calls int
	// fail may fail an upload before it stores anything, and after may fail one that has stored everything.
	fail, after func(call int) error
}

func (p *pictured) MoveIn(
	ctx context.Context, request *moveinv1.MoveInRequest, _ ...grpc.CallOption,
) (*moveinv1.MoveInResponse, error) {
	reply, err := p.service.MoveIn(ctx, request)
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, result := range reply.GetResults() {
		name := nameOf(request.GetRecords()[n])
		isThere := result.GetOutcome() == moveinv1.Outcome_OUTCOME_UNCHANGED || result.GetOutcome() == moveinv1.Outcome_OUTCOME_INSERTED && !request.GetValidateOnly()
		if request.GetRecords()[n].GetPhoto() != nil && isThere && p.files[name] == "" {
			p.names = append(p.names, name)
			result.Upload = &photov1.UploadStart{PhotoId: int64(len(p.names))}
		}
	}
	return reply, err
}

func (p *pictured) upload(ctx context.Context, start *photov1.UploadStart, file io.Reader) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	if p.fail != nil && p.fail(p.calls) != nil {
		return p.fail(p.calls)
	}
	content, err := io.ReadAll(file)
	if strings.HasPrefix(string(content), "broken") {
		err = apierror.New(codes.InvalidArgument, "PHOTO_DAMAGED", "This file is damaged.").GRPCStatus().Err()
	}
	if err == nil {
		p.files[p.names[start.GetPhotoId()-1]] = string(content)
	}
	if err == nil && p.after != nil {
		err = p.after(p.calls)
	}
	return err
}

// withPhotos returns a service, and options of an import of files and photos into it.
func withPhotos(t *testing.T, folder string, paths ...string) (*pictured, func() (Options, *strings.Builder)) {
	p := &pictured{service: service{stored: newStored()}, files: map[string]string{}}
	return p, func() (Options, *strings.Builder) {
		options, problems := p.options(t, paths...)
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		options.Service, options.Upload, options.Input.Photos = p, p.upload, root
		return options, problems
	}
}

func put(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestTheFilesThatAddressesNameMoveIn(t *testing.T) {
	outside := t.TempDir()
	folder := filepath.Join(outside, "site")
	for name, content := range map[string]string{
		"outside.jpg": "secret", "site/upload/1.jpg": "one", "site/upload/a b.jpg": "two", "site/100%.jpg": "three",
		"site/upload/broken.jpg": "broken", "site/inside/6.jpg": "six",
	} {
		put(t, outside, name, content)
	}
	if err := errors.Join(
		os.Symlink("../../outside.jpg", filepath.Join(folder, "upload", "link.jpg")), os.Symlink("../inside", filepath.Join(folder, "upload", "in")),
		syscall.Mkfifo(filepath.Join(folder, "upload", "pipe.jpg"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	addresses := []string{
		"upload/1.jpg", "http://old.example/upload/a%20b.jpg?v=1", "100%.jpg", "/upload/1.jpg", "upload/broken.jpg", "upload/in/6.jpg",
		"upload/none.jpg", "../outside.jpg", "upload/../../outside.jpg", filepath.Join(outside, "outside.jpg"), "upload/link.jpg", "upload", "upload/pipe.jpg",
		"http://old.example/../outside.jpg", "http://old.example", "a\x00b", ".",
	}
	all := []string{user, album}
	for n, address := range addresses {
		all = append(all, with(photo, "id", fmt.Sprint(n+1), "url", fmt.Sprintf("%q", strings.ReplaceAll(address, "\x00", "\n"))))
	}
	path := write(t, append(all, fmt.Sprintf(`{"kind":"end","user":1,"album":1,"photo":%d}`, len(addresses)))...)
	p, options := withPhotos(t, folder, path)
	o, problems := options()
	report, err := Check(t.Context(), o.Input, quiet())
	missing := int64(len(addresses) - 6)
	if err != nil || report.Unmended() != missing || report.Counts["photo"]["left_out"] != 0 || report.Counts["file"]["left_out"] != missing || report.Counts["file"]["read"] != int64(len(addresses)) {
		t.Errorf("%v, %v, %s", err, report.Counts, problems)
	}
	if list := lines(t, problems.String()); !slices.Contains(list, "9 photo 7 no-file url") || !strings.Contains(problems.String(), "no such file") {
		t.Errorf("%s", problems)
	}
	want := map[string]string{"photoalbum 1": "one", "photoalbum 2": "two", "photoalbum 3": "three", "photoalbum 4": "one", "photoalbum 6": "six"}
	for n, counts := range []Counts{{"inserted": 5, "refused": 1}, {"unchanged": 5, "refused": 1}} {
		o, problems := options()
		report, err := Import(t.Context(), o, quiet())
		if err != nil || !maps.Equal(p.files, want) || len(p.records) != 2+len(addresses) || report.Unmended() != missing+1 {
			t.Fatalf("%v, %v, %d records, %s", err, p.files, len(p.records), problems)
		}
		for _, column := range Columns()[2:] {
			if report.Counts["file"][column] != counts[column] {
				t.Errorf("run %d: %v", n, report.Counts["file"])
			}
		}
		if !slices.Contains(lines(t, problems.String()), "7 photo 5 refused url") || !strings.Contains(problems.String(), "PHOTO_DAMAGED: This file is damaged.") {
			t.Errorf("%s", problems)
		}
	}
	// A verification reports what has no file and could have one.
	calls := p.calls
	delete(p.files, "photoalbum 2")
	delete(p.records, "photoalbum 3")
	o, problems = options()
	o.Verify = true
	report, err = Import(t.Context(), o, quiet())
	if err != nil || p.calls != calls || report.Unmended() != 3 || report.Counts["file"]["absent"] != 3 || report.Counts["file"]["unchanged"] != 3 {
		t.Errorf("%v, %v, %s", err, report.Counts["file"], problems)
	}
	list := lines(t, problems.String())
	for _, each := range []string{"4 photo 2 absent url", "5 photo 3 absent", "7 photo 5 absent url"} {
		if !slices.Contains(list, each) {
			t.Errorf("%s is not among %q", each, list)
		}
	}
}

func TestAnImportOfFilesThatFailsIsRepeated(t *testing.T) {
	const photos = 60
	folder, all, want := t.TempDir(), []string{user, album}, map[string]string{}
	for n := range photos {
		name, id := fmt.Sprintf("upload/%d.jpg", n), fmt.Sprint(n+1)
		all = append(all, with(photo, "id", id, "url", fmt.Sprintf("%q", name)))
		want["photoalbum "+id] = "picture " + id
		put(t, folder, name, want["photoalbum "+id])
	}
	p, options := withPhotos(t, folder, write(t, append(all, fmt.Sprintf(`{"kind":"end","user":1,"album":1,"photo":%d}`, photos))...))
	killed, away := status.Error(codes.Internal, "killed"), status.Error(codes.Unavailable, "away")
	for run, fails := range []struct{ before, after map[int]error }{
		{before: map[int]error{9: killed}}, {after: map[int]error{9: killed}}, {map[int]error{2: away}, map[int]error{4: away}},
	} {
		p.calls, p.fail, p.after = 0, func(call int) error { return fails.before[call] }, func(call int) error { return fails.after[call] }
		o, _ := options()
		if report, err := Import(t.Context(), o, quiet()); (err == nil) != (run == 2) || report == nil {
			t.Fatalf("run %d: %v, %v", run, err, report)
		}
	}
	if !maps.Equal(p.files, want) {
		t.Errorf("there are %d files, and a wrong one", len(p.files))
	}
}

func FuzzNoAddressLeadsOutOfTheFolder(f *testing.F) {
	outside := f.TempDir()
	folder := filepath.Join(outside, "site")
	if err := errors.Join(
		os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(outside, "secret"), nil, 0o600), os.WriteFile(filepath.Join(folder, "a"), []byte("inside"), 0o600),
		os.Symlink("../secret", filepath.Join(folder, "link")), os.Symlink(outside, filepath.Join(folder, "up")),
	); err != nil {
		f.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for _, address := range []string{"a", "/a", "//a", "http://h/a?b#c", "%61", "../secret", "..%2fsecret", "link", "up/secret", "site/../a", filepath.Join(outside, "secret"), ""} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		name, err := find(root, address)
		if err != nil {
			return
		}
		if content, err := root.ReadFile(name); err != nil || string(content) != "inside" {
			t.Errorf("%q names %q with %q, %v", address, name, content, err)
		}
	})
}
