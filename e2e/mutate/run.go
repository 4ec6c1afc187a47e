package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type run struct {
	folders, judges []string
	temporary       string
	sites           []site
	left            map[string]bool // places whose mutants do not compile
	tests           []test
}

// test is one test function, with the mutants that it reaches.
type test struct {
	program, folder, name string
	takes                 time.Duration
	reaches               map[int]bool
}

func (r *run) measure(ctx context.Context, sample int, seed uint64) (err error) {
	if r.temporary, err = os.MkdirTemp("", "mutate-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.temporary)) }()
	for _, judge := range r.judges {
		program := filepath.Join(r.temporary, strings.ReplaceAll(judge, "/", "-"))
		if err := r.build(ctx, judge, program); err != nil {
			return err
		}
		if err := r.record(ctx, judge, program); err != nil {
			return err
		}
	}
	slices.SortFunc(r.tests, func(a, b test) int { return int(a.takes - b.takes) })
	chosen := slices.DeleteFunc(slices.Clone(r.sites), func(s site) bool { return r.left[s.place()] })
	if sample > 0 && sample < len(chosen) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] }) // #nosec G404 -- a sample that can be repeated
		chosen = chosen[:sample]
		slices.SortFunc(chosen, func(a, b site) int { return a.number - b.number })
	}
	verdicts, err := r.judge(ctx, chosen)
	if err == nil {
		report(chosen, verdicts)
	}
	return err
}

// overlay plants all mutants, and returns the file that makes the compiler see them.
func (r *run) overlay() (string, error) {
	r.sites = nil
	replace := map[string]string{}
	for _, folder := range r.folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return "", err
		}
		name := ""
		for _, file := range append(files, filepath.Join(folder, "mutant_switch.go")) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text := fmt.Sprintf(switches, name)
			if filepath.Base(file) != "mutant_switch.go" {
				if text, name, err = plant(file, folder, &r.sites, r.left); err != nil {
					return "", err
				}
			}
			absolute, err := filepath.Abs(file)
			if err != nil {
				return "", err
			}
			replace[absolute] = filepath.Join(r.temporary, strings.ReplaceAll(file, "/", "-"))
			if err := os.WriteFile(replace[absolute], []byte(text), 0o600); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.temporary, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

var compilerError = regexp.MustCompile(`(?m)^([^:\s]+\.go):(\d+):\d+: `)

// build builds the tests of a package. It leaves out the mutants that do not compile.
func (r *run) build(ctx context.Context, judge, program string) error {
	for {
		overlay, err := r.overlay()
		if err != nil {
			return err
		}
		command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./"+judge)
		output, err := command.CombinedOutput()
		if err == nil {
			return nil
		}
		before := len(r.left)
		for _, match := range compilerError.FindAllStringSubmatch(string(output), -1) {
			r.left[match[1]+":"+match[2]] = true
		}
		if len(r.left) == before {
			return fmt.Errorf("build the tests of %s: %w\n%s", judge, err, output)
		}
	}
}

// record runs each test of a program once and notes which mutants it reaches.
func (r *run) record(ctx context.Context, judge, program string) error {
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		return nil // it has no tests
	}
	list := exec.CommandContext(ctx, program, "-test.list", "^Test")
	list.Dir = judge
	names, err := list.Output()
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(names)) {
		each := test{program: program, folder: judge, name: name, reaches: map[int]bool{}}
		reached := filepath.Join(r.temporary, "reached")
		start := time.Now()
		if output, err := each.run(ctx, 10*time.Minute, "MUTANT_REACHED="+reached); err != nil {
			return fmt.Errorf("%s of %s fails without a mutant: %w\n%s", name, judge, err, output)
		}
		each.takes = time.Since(start)
		numbers, err := os.ReadFile(reached)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range strings.FieldsSeq(string(numbers)) {
			number, err := strconv.Atoi(line)
			if err != nil {
				return err
			}
			each.reaches[number] = true
		}
		if err := os.RemoveAll(reached); err != nil {
			return err
		}
		r.tests = append(r.tests, each)
	}
	return nil
}

func (t test) run(ctx context.Context, limit time.Duration, variable string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	command := exec.CommandContext(ctx, t.program, "-test.run", "^"+t.name+"$", "-test.failfast")
	command.Dir, command.Env, command.WaitDelay = t.folder, append(os.Environ(), variable), time.Second
	return command.CombinedOutput()
}

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	missed   verdict = "not reached"
)

func (r *run) judge(ctx context.Context, chosen []site) ([]verdict, error) {
	verdicts := make([]verdict, len(chosen))
	var group sync.WaitGroup
	next := make(chan int)
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				verdicts[i] = r.try(ctx, chosen[i])
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	group.Wait()
	return verdicts, ctx.Err()
}

// try runs the tests that reach a mutant, the fastest first, until one fails. A test that takes ten times its time fails.
func (r *run) try(ctx context.Context, s site) verdict {
	result := missed
	for _, each := range r.tests {
		if !each.reaches[s.number] {
			continue
		}
		if _, err := each.run(ctx, 10*each.takes+10*time.Second, "MUTANT="+strconv.Itoa(s.number)); err != nil {
			return killed
		}
		result = survived
	}
	return result
}

func report(chosen []site, verdicts []verdict) {
	type share struct{ all, killed, missed int }
	shares := map[string]*share{}
	var folders []string
	for i, s := range chosen {
		if shares[s.dir] == nil {
			shares[s.dir] = &share{}
			folders = append(folders, s.dir)
		}
		of := shares[s.dir]
		of.all++
		switch verdicts[i] {
		case killed:
			of.killed++
		case missed:
			of.missed++
		}
	}
	fmt.Println("| package | mutants | killed | not reached |\n| --- | ---: | ---: | ---: |")
	for _, folder := range folders {
		of := shares[folder]
		fmt.Printf("| %s | %d | %d (%.0f %%) | %d |\n", folder, of.all, of.killed, 100*float64(of.killed)/float64(of.all), of.missed)
	}
	fmt.Println()
	for i, s := range chosen {
		if verdicts[i] != killed {
			fmt.Printf("%s: %s: %s\n", s.place(), s.fault, verdicts[i])
		}
	}
}
