//go:build linux

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
)

// protectionsVariable with the value "all" selects every protection, not only the cheap ones.
const protectionsVariable = "WAYBOOK_FAULT_PROTECTIONS"

// unprotectedRecoverySeconds is long enough to reconnect, and short enough to end a run that does
// not recover.
const unprotectedRecoverySeconds = 5

// The suite must fail for programs whose source lacks a protection. They are built with a changed
// copy of a file; no program has a switch that removes a protection.
func TestTheSuiteNoticesEveryMissingProtection(t *testing.T) {
	longform.Only(t)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nfault\tWaybook\tswitched off\tfound")
	for _, p := range protections() {
		if !p.isCheap && os.Getenv(protectionsVariable) != "all" {
			continue
		}
		t.Run(string(p.shape)+", "+p.against, func(t *testing.T) {
			output := p.perform(t, p.changed(t))
			found := findings(output, p.finds)
			if len(found) == 0 {
				t.Fatalf("no finding %q:\n%s", p.finds, output)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d × %.120s\n", p.against, p.shape, p.off, len(found), found[0])
		})
	}
	_ = table.Flush()
}

// A protection that moved in the source must be described anew, also when the short form
// of the test above does not switch it off.
func TestEveryProtectionIsFoundInItsSource(t *testing.T) {
	for _, p := range protections() {
		t.Run(p.against+", "+p.off, func(t *testing.T) { p.changed(t) })
	}
}

// perform runs the fault against programs that are built with an overlay.
func (p protection) perform(t *testing.T, overlay string) string {
	t.Helper()
	programs := launch.Programs()
	if p.shape == standalone {
		programs = []string{"github.com/waybook/waybook/standalone"}
	}
	directory := t.TempDir()
	err := launch.BuildAlone(directory, launch.AsTested, append([]string{"-overlay=" + overlay}, programs...)...)
	if p.shape == onMongoDB {
		err = errors.Join(err, launch.Build(directory, launch.AsShipped, mongotest.FerretDB))
	}
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{
		binVariable + "=" + directory, fmt.Sprintf("%s=%d", runsVariable, max(p.runs, 1)), onlyVariable + "=" + fault{name: p.against, shape: p.shape}.String(),
		fmt.Sprintf("%s=%d", seedVariable, p.seed), fmt.Sprintf("%s=%d", recoveryVariable, unprotectedRecoverySeconds),
	}
	if p.outageSeconds != 0 {
		environment = append(environment, fmt.Sprintf("%s=%d", outageVariable, p.outageSeconds))
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mustFail(t, environment, own, "-test.run", "WhateverFails")
}

// changed applies the changes to copies of the sources, and returns the path of the overlay's description.
func (p protection) changed(t *testing.T) (overlay string) {
	t.Helper()
	replaced, sources := map[string]string{}, map[string]string{}
	for _, c := range p.changes {
		original := workspace(t, c.file)
		if sources[original] == "" {
			contents, err := os.ReadFile(original)
			if err != nil {
				t.Fatal(err)
			}
			sources[original] = string(contents)
		}
		if count := strings.Count(sources[original], c.old); count != 1 {
			t.Fatalf("%s contains this text %d times, want once; update the change in protections:\n%s", c.file, count, c.old)
		}
		sources[original] = strings.Replace(sources[original], c.old, c.new, 1)
	}
	for original, contents := range sources {
		replaced[original] = filepath.Join(t.TempDir(), filepath.Base(original))
		if err := os.WriteFile(replaced[original], []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	description, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(overlay, description, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// workspace returns the absolute path of a file of the workspace.
func workspace(t *testing.T, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

// mustFail runs a command that must fail, and returns its output.
func mustFail(t *testing.T, environment []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Env = append(os.Environ(), environment...)
	output, err := command.CombinedOutput()
	if _, hasFailed := errors.AsType[*exec.ExitError](err); !hasFailed {
		t.Fatalf("the command did not fail: %v\n%s", err, output)
	}
	return string(output)
}

// findings returns the findings in the output of a test, without their positions.
func findings(output, what string) []string {
	var found []string
	for line := range strings.Lines(output) {
		if at := strings.Index(line, what); at >= 0 {
			found = append(found, strings.TrimSpace(line[at:]))
		}
	}
	return found
}
