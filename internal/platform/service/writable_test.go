package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/service"
)

func TestADirectoryThatCannotHoldAStoreIsReportedAndNothingChanges(t *testing.T) {
	root := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mkdir := func(name string, mode os.FileMode) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("file", 0o600)
	mkdir("odd", 0o700)
	mkdir("odd/waybook.db", 0o700)
	mkdir("full", 0o700)
	write("full/waybook.db", 0o600)
	mkdir("closed", 0o500)
	mkdir("readable", 0o700)
	write("readable/waybook.db", 0o400)
	for name, test := range map[string]struct {
		data, want string
		// isForOthers reports that root may do it.
		isForOthers bool
	}{
		"an existing store":         {data: "full"},
		"an existing directory":     {data: "."},
		"missing directories":       {data: "new/and/deeper"},
		"a file for a directory":    {data: "file", want: "not a directory"},
		"a directory below a file":  {data: "file/deeper", want: "not a directory"},
		"a directory for the store": {data: "odd", want: "waybook.db is not a file"},
		"a closed directory":        {data: "closed", want: "closed is not writable", isForOthers: true},
		"a closed parent":           {data: "closed/data", want: "closed is not writable", isForOthers: true},
		"a store that is read only": {data: "readable", want: "waybook.db is not writable", isForOthers: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.isForOthers && os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			flags := service.StoreFlags{Data: filepath.Join(root, test.data)}
			err := flags.Check()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "-data: ")) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if err := (&service.StoreFlags{}).Check(); err == nil || !strings.Contains(err.Error(), "-data: the name of a directory is missing") {
		t.Errorf("no directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "new")); err == nil {
		t.Error("the check created a directory")
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("the check changed a file: %v", err)
	}
}
