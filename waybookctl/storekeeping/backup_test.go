package storekeeping_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/progress"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// sent is a service whose streams have these messages and this end.
type sent struct {
	grpc.ClientStream

	messages []*storev1.BackupResponse
	end      error
}

func (s *sent) Backup(context.Context, *storev1.BackupRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[storev1.BackupResponse], error) {
	return s, nil
}

func (s *sent) Recv() (*storev1.BackupResponse, error) {
	if len(s.messages) == 0 {
		return nil, s.end
	}
	next := s.messages[0]
	s.messages = s.messages[1:]
	return next, nil
}

// messages are those of a backup of a size, with chunks and the checksum of a text, or none.
func messages(size int64, summed string, pieces ...string) []*storev1.BackupResponse {
	all := []*storev1.BackupResponse{{Part: &storev1.BackupResponse_SizeBytes{SizeBytes: size}}}
	for _, piece := range pieces {
		all = append(all, &storev1.BackupResponse{Part: &storev1.BackupResponse_Chunk{Chunk: []byte(piece)}})
	}
	if summed != "" {
		sum := sha256.Sum256([]byte(summed))
		all = append(all, &storev1.BackupResponse{Part: &storev1.BackupResponse_Sha256{Sha256: sum[:]}})
	}
	return all
}

// photosOf are the messages of a file of a photo, and the checksum of a text, or none.
func photosOf(name, summed string, size int64, pieces ...string) []*storev1.BackupResponse {
	file := &storev1.BackupFile{Name: name, SizeBytes: size}
	all := []*storev1.BackupResponse{{Part: &storev1.BackupResponse_File{File: file}}}
	return append(all, messages(0, summed, pieces...)[1:]...)
}

func TestABackupThatArrivesBrokenIsNone(t *testing.T) {
	gone := errors.New("the connection is gone")
	for name, c := range map[string]struct {
		service *sent
		want    string
	}{
		"nothing":               {&sent{end: gone}, gone.Error()},
		"a cut":                 {&sent{messages: messages(8, "", "half"), end: gone}, gone.Error()},
		"no end":                {&sent{messages: messages(8, "", "halfhalf"), end: io.EOF}, "ended after 8 bytes"},
		"a changed chunk":       {&sent{messages: messages(8, "halfhalf", "half", "hall"), end: io.EOF}, "changed on its way"},
		"a missing chunk":       {&sent{messages: messages(8, "halfhalf", "half"), end: io.EOF}, "changed on its way"},
		"fewer bytes than said": {&sent{messages: messages(8, "half", "half"), end: io.EOF}, "missed writing 4 bytes"},
		"no photos' end":        {&sent{messages: messages(8, "halfhalf", "halfhalf"), end: io.EOF}, "ended after 0 files"},
		"half a photo":          {&sent{messages: append(messages(8, "halfhalf", "halfhalf"), photosOf("a/b", "a/bpho", 5, "pho")...), end: io.EOF}, "missed writing 2 bytes"},
		"a changed photo":       {&sent{messages: append(messages(8, "halfhalf", "halfhalf"), photosOf("a/b", "a/bphoto", 5, "phota")...), end: io.EOF}, "photos were changed on their way"},
		"more bytes than said":  {&sent{messages: messages(8, "halfhalfhalf", "halfhalfhalf"), end: io.EOF}, "too long"},
	} {
		var file bytes.Buffer
		if done, _, err := storekeeping.Backup(t.Context(), c.service, &file, now, progress.New(io.Discard)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v; want %q", name, done, err, c.want)
		}
		if strings.Contains(file.String(), "manifest") {
			t.Errorf("%s: it has a manifest", name)
		}
	}
}

func TestABackupIsATarOfTheStoreAndItsManifest(t *testing.T) {
	var file bytes.Buffer
	disk := errors.New("the disk is full")
	done, unrecorded, err := storekeeping.Backup(t.Context(), &sent{
		messages: append(messages(8, "halfhalf", "half", "half"), photosOf("album_photos/456/0000890123456456-view", "album_photos/456/0000890123456456-viewphoto", 5, "photo")...),
		end:      disk,
	}, &file, now, progress.New(io.Discard))
	if err != nil || !errors.Is(unrecorded, disk) {
		t.Errorf("got %v; unrecorded: %v", err, unrecorded)
	}
	var names []string
	members := tar.NewReader(&file)
	for {
		member, err := members.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(members)
		if err != nil || !member.ModTime.Equal(now) || member.Mode != 0o600 {
			t.Errorf("%+v, %v", member, err)
		}
		names = append(names, member.Name, string(text))
	}
	want := `{
  "format": 1,
  "began": "2026-11-22T03:17:00Z",
  "waybook": "` + done.Waybook + `",
  "bytes": 8,
  "sha256": "` + done.SHA256 + `",
  "photos": {
    "files": 1,
    "bytes": 5,
    "sha256": "` + done.Photos.SHA256 + `"
  }
}`
	if !slices.Equal(names, []string{"waybook.db", "halfhalf", "photos/album_photos/456/0000890123456456-view", "photo", "manifest.json", want}) || done.Waybook == "" {
		t.Errorf("the members are %q", names)
	}
}

func TestAPruneRemovesOnlyTheOldestOfItsOwnBackups(t *testing.T) {
	if name := storekeeping.BackupName("account", now.In(time.FixedZone("", 8*3600))); name != "waybook-20261122T031700Z.tar" {
		t.Fatalf("the name is %s", name)
	}
	foreign := []string{
		"20261101T031700Z.tar", "waybook-2026.tar", "waybook-20261101T031700Z.dump", "waybook-20261101T031700Z.tar.age", "waybook-20261101T031700Z.tar.part",
		storekeeping.BackupName("poi", now), "waybook.tar", "waybook-20261122T031701Z.tar.0000000b.part", "a-waybook-20261101T031700Z.tar",
	}
	const first, second, third, unfinished = "waybook-20261119T031700Z.tar", "waybook-20261120T031700Z.tar", "waybook-20261121T031700Z.tar", "waybook-20261121T031700Z.tar.0000000a.part"
	const setBack, last = "waybook-20200101T000000Z.tar", "waybook-20261122T031700Z.tar"
	for _, c := range []struct {
		written string
		keep    int
		removed []string
	}{
		{last, 2, []string{first, second, unfinished}},
		{last, 1, []string{first, second, third, unfinished}},
		{last, 9, []string{unfinished}},
		{setBack, 2, []string{first, second}},
	} {
		directory := t.TempDir()
		all := append([]string{first, second, third, unfinished, c.written}, foreign...)
		for _, name := range all {
			if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(directory, "waybook-20201119T031700Z.tar"), 0o700); err != nil {
			t.Fatal(err)
		}
		removed, err := storekeeping.Prune(directory, "account", c.written, c.keep)
		if err != nil || !slices.Equal(removed, c.removed) {
			t.Errorf("%s, %d: removed %v, want %v (%v)", c.written, c.keep, removed, c.removed, err)
		}
		if left := namesIn(t, directory); len(left) != len(all)+1-len(removed) {
			t.Errorf("there are %v", left)
		}
	}
}
