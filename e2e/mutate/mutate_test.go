package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEachKindOfMutantIsPlantedAndJudged(t *testing.T) {
	const folder = "testdata/small/small.go:"
	var output, progress strings.Builder
	r := &run{output: &output, progress: &progress}
	if err := r.mutate(t.Context(), []string{"./testdata/small"}, "", "", 0, 1); err != nil {
		t.Fatal(err)
	}
	const wantOutput = "| package | mutants | killed | not reached |\n| --- | ---: | ---: | ---: |\n" +
		"| testdata/small | 18 | 13 (72 %) | 3 |\n\n" +
		folder + "17: bound: n > 10: not reached\n" +
		folder + "30: always: return a == b: survived\n" +
		folder + "36: no call: tell(): survived\n" +
		folder + "41: without: a: not reached\n" +
		folder + "41: without: b: not reached\n"
	if output.String() != wantOutput {
		t.Errorf("it prints\n%s\nwant\n%s", &output, wantOutput)
	}
	for _, killed := range []string{
		"8: never: for i < len(numbers)", "8: bound: i < len(numbers)", "9: always: if numbers[i] <= bound", "9: never: if numbers[i] <= bound",
		"17: without: n > 10", "17: bound: n < 20", "23: always: case n == 0", "26: no error: return err", `35: no call: tell("seen")`,
	} {
		if line := folder + killed + ": killed\n"; !strings.Contains(progress.String(), line) {
			t.Errorf("the progress lacks %q:\n%s", line, &progress)
		}
	}
}

func TestOnlyMutantsThatMatchAreTried(t *testing.T) {
	var output strings.Builder
	r := &run{output: &output, progress: io.Discard}
	if err := r.mutate(t.Context(), []string{"./testdata/small"}, "", `small\.go:17: bound: n >`, 0, 1); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(output.String(), "| testdata/small | 1 | 0 (0 %) | 1 |") {
		t.Errorf("it prints\n%s", &output)
	}
}

func TestAnInterruptedCommandLeavesNoChild(t *testing.T) {
	reader, writer, err := os.Pipe() // at its end when nobody has the writer open any more
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	c := command(ctx, "sh", "-c", "sleep 1000 & echo started; wait")
	c.Stdout = writer
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(reader, make([]byte, len("started\n"))); err != nil {
		t.Fatal(err)
	}
	interrupt()
	if err := c.Wait(); err == nil {
		t.Error("the command was not interrupted")
	}
	if err := reader.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("its child runs on: %v", err)
	}
}
