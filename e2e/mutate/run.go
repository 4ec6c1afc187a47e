package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"sync/atomic"
	"syscall"
	"time"
)

type run struct {
	mutated, judges []listed
	temporary       string
	sites           []site
	left            map[string]bool // places whose mutants do not compile
	tests           []test
	output          io.Writer // gets the table and the survivors
	progress        io.Writer
}

// listed is a package, as go list describes it. Dir is below the current folder.
type listed struct {
	Dir, Name string
	GoFiles   []string // those that are compiled here
}

// test is one test function, with the mutants that it reaches.
type test struct {
	program, folder, name string
	flags                 []string
	takes                 time.Duration
	reaches               map[int]bool
}

// command is a command that ends with all its children when ctx does.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr, c.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// list finds packages by patterns of go list.
func list(ctx context.Context, patterns []string) (all []listed, err error) {
	goList := command(ctx, "go", append([]string{"list", "-json=Dir,Name,GoFiles"}, patterns...)...)
	goList.Stderr = os.Stderr
	text, err := goList.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages %q: %w", patterns, err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var each listed
		if err := decoder.Decode(&each); err != nil {
			return nil, err
		}
		if each.Dir, err = filepath.Rel(here, each.Dir); err != nil {
			return nil, err
		}
		all = append(all, each)
	}
	return all, nil
}

// mutate tries the mutants of packages whose lines match a regular expression, or a sample of them.
func (r *run) mutate(ctx context.Context, packages []string, tests, only string, sample int, seed uint64) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if r.mutated, err = list(ctx, packages); err != nil {
		return err
	}
	r.judges = r.mutated
	if tests != "" {
		if r.judges, err = list(ctx, strings.Split(tests, ",")); err != nil {
			return err
		}
	}
	return r.measure(ctx, chosen, sample, seed)
}

func (r *run) measure(ctx context.Context, only *regexp.Regexp, sample int, seed uint64) (err error) {
	r.left = map[string]bool{}
	if r.temporary, err = os.MkdirTemp("", "mutate-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.temporary)) }()
	for _, judge := range r.judges {
		fmt.Fprintln(r.progress, "runs the tests of", judge.Dir)
		program := filepath.Join(r.temporary, strings.ReplaceAll(judge.Dir, "/", "-"))
		if err := r.build(ctx, judge.Dir, program); err != nil {
			return err
		}
		if err := r.record(ctx, judge.Dir, program); err != nil {
			return err
		}
	}
	slices.SortFunc(r.tests, func(a, b test) int { return int(a.takes - b.takes) })
	chosen := slices.DeleteFunc(slices.Clone(r.sites), func(s site) bool {
		return r.left[s.place()] || !only.MatchString(s.String())
	})
	if sample > 0 && sample < len(chosen) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] }) // #nosec G404 -- a sample that can be repeated
		chosen = chosen[:sample]
		slices.SortFunc(chosen, func(a, b site) int { return a.number - b.number })
	}
	verdicts, err := r.judge(ctx, chosen)
	if err == nil {
		r.report(chosen, verdicts)
	}
	return err
}

// overlay plants all mutants, and returns the file that makes the compiler see them.
func (r *run) overlay() (string, error) {
	r.sites = nil
	replace := map[string]string{}
	for _, each := range r.mutated {
		sources := map[string]string{"mutant_switch.go": fmt.Sprintf(switches, each.Name)}
		for _, file := range each.GoFiles {
			text, err := plant(filepath.Join(each.Dir, file), each.Dir, &r.sites, r.left)
			if err != nil {
				return "", err
			}
			sources[file] = text
		}
		for file, text := range sources {
			path, err := filepath.Abs(filepath.Join(each.Dir, file))
			if err != nil {
				return "", err
			}
			replace[path] = filepath.Join(r.temporary, strings.ReplaceAll(filepath.Join(each.Dir, file), "/", "-"))
			if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
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
		output, err := command(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./"+judge).CombinedOutput()
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
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
	help, _ := command(ctx, program, "-help").CombinedOutput() // which exits with an error
	var flags []string
	if bytes.Contains(help, []byte("-rapid.nofailfile")) {
		flags = []string{"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms"}
	}
	list := command(ctx, program, "-test.list", "^(Test|Fuzz)")
	list.Dir = judge
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the tests of %s: %w", judge, err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		each := test{program: program, folder: judge, name: name, flags: flags, reaches: map[int]bool{}}
		reached := filepath.Join(r.temporary, "reached")
		start := time.Now()
		if output, err := each.run(ctx, 10*time.Minute, "MUTANT_REACHED="+reached); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
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
	c := command(ctx, t.program, append([]string{"-test.run", "^" + t.name + "$", "-test.failfast"}, t.flags...)...)
	c.Dir, c.Env = t.folder, append(os.Environ(), "TMPDIR="+filepath.Dir(t.program), variable)
	return c.CombinedOutput()
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
	next, tried := make(chan int), atomic.Int64{}
	for range runtime.NumCPU() {
		group.Go(func() {
			for i := range next {
				verdicts[i] = r.try(ctx, chosen[i])
				if ctx.Err() == nil {
					fmt.Fprintf(r.progress, "%d of %d %v: %s\n", tried.Add(1), len(chosen), chosen[i], verdicts[i])
				}
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

func (r *run) report(chosen []site, verdicts []verdict) {
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
	fmt.Fprintln(r.output, "| package | mutants | killed | not reached |\n| --- | ---: | ---: | ---: |")
	for _, folder := range folders {
		of := shares[folder]
		fmt.Fprintf(r.output, "| %s | %d | %d (%.0f %%) | %d |\n", folder, of.all, of.killed, 100*float64(of.killed)/float64(of.all), of.missed)
	}
	fmt.Fprintln(r.output)
	for i, s := range chosen {
		if verdicts[i] != killed {
			fmt.Fprintf(r.output, "%v: %s\n", s, verdicts[i])
		}
	}
}
