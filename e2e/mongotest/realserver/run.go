package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
)

// connectTimeout bounds how long the server has to answer first.
const connectTimeout = 30 * time.Second

// module is the path of the tests of mongotest.RealServerPackages.
const module = "github.com/waybook/waybook/e2e/"

var errFailed = errors.New("not all tests passed")

func run(ctx context.Context, packages []string, kill string) error {
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	server, err := mongotest.Describe(connecting, os.Getenv(mongotest.RealServer))
	if err != nil {
		return err
	}
	fmt.Println("tests on", server)
	if err := os.Setenv(mongotest.RealServerKill, kill); err != nil {
		return err
	}
	if len(packages) == 0 {
		packages = mongotest.RealServerPackages()
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "package\ttests\tpassed\tfailed\tskipped\ttime\t")
	for _, each := range packages {
		found, testErr := test(ctx, module+each)
		if testErr != nil {
			err = fmt.Errorf("%w: %s: %w", errFailed, each, testErr)
			fmt.Println(err)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%.1f s\t\n", each, found.passed+found.failed+found.skipped, found.passed, found.failed, found.skipped, found.seconds)
	}
	fmt.Println()
	return cmp.Or(err, table.Flush())
}

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// counts are the numbers of tests without those that have subtests.
type counts struct {
	passed, failed, skipped int
	seconds                 float64
}

// test runs the tests of a package and prints the output of those that fail or are skipped.
func test(ctx context.Context, pkg string) (counts, error) {
	command := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-timeout=60m", "-run", mongotest.OnRealServerOnly, pkg)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return counts{}, err
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return counts{}, err
	}
	found := counts{}
	printed, parents := map[string][]string{}, map[string]bool{}
	for lines := bufio.NewReader(output); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // Wait says why
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			fmt.Print(string(line)) // of the build
			continue
		}
		if parent := path.Dir(e.Test); parent != "." {
			parents[parent] = true
		}
		isResult := slices.Contains([]string{"pass", "fail", "skip"}, e.Action)
		switch {
		case e.Output != "":
			printed[e.Test] = append(printed[e.Test], e.Output)
		case isResult && (e.Action == "fail" || e.Action == "skip" && !parents[e.Test]):
			fmt.Print(strings.Join(printed[e.Test], ""))
		}
		if isResult && e.Test != "" && !parents[e.Test] {
			found.add(e.Action)
		}
		if isResult {
			delete(printed, e.Test)
		}
	}
	err = command.Wait()
	found.seconds = time.Since(began).Seconds()
	if err == nil && found.passed == 0 {
		err = errors.New("no test ran")
	}
	return found, err
}

func (c *counts) add(result string) {
	switch result {
	case "pass":
		c.passed++
	case "fail":
		c.failed++
	case "skip":
		c.skipped++
	}
}
