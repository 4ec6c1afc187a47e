package manifests_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func TestADumpThatFailsLeavesNoFileBehindTheNextOne(t *testing.T) {
	text, err := os.ReadFile("../k8s/components/mongodump/mongodump.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := text[bytes.LastIndex(text, []byte("\n---\n"))+5:]
	var job batchv1.CronJob
	if err := yaml.UnmarshalStrict(manifest, &job); err != nil {
		t.Fatal(err)
	}
	dumps, programs := t.TempDir(), t.TempDir()
	command := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Command
	script := strings.ReplaceAll(command[2], "/dumps", dumps)
	mongodump := func(lines string) {
		if err := os.WriteFile(filepath.Join(programs, "mongodump"),
			[]byte("#!/bin/sh\nfor last; do :; done\n"+lines), 0o700); err != nil { // #nosec G306 -- a program
			t.Fatal(err)
		}
	}
	run := func() error {
		made := exec.CommandContext(t.Context(), command[0], command[1], script) // #nosec G204 -- of the manifest
		made.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
		return made.Run()
	}
	mongodump(`echo half >"${last#--archive=}"; exit 1`)
	if run() == nil {
		t.Error("a dump that fails ends the script with status 0")
	}
	mongodump(`set -- ` + dumps + `/*.part; [ ! -e "$1" ] && echo whole | gzip >"${last#--archive=}"`)
	if err := run(); err != nil {
		t.Errorf("the next dump has no space: %v", err)
	}
	found, err := filepath.Glob(dumps + "/*")
	if err != nil || len(found) != 1 || !strings.HasSuffix(found[0], "Z.gz") {
		t.Errorf("there are %v: %v", found, err)
	}
}
