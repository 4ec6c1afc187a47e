package main

import (
	"io"
	"slices"
	"testing"
	"time"
)

func TestOtherFlagsOverrideQuick(t *testing.T) {
	s, err := parse([]string{"-quick", "-rounds=7"}, io.Discard)
	if err != nil || s.Rounds != 7 || s.Duration != 300*time.Millisecond || s.Documents != 50_000 {
		t.Errorf("-quick -rounds=7: got %+v, %v", s, err)
	}
	full, err := parse(nil, io.Discard)
	if err != nil || full.Documents != 1_000_000 || !slices.Contains(full.What, "tail") {
		t.Errorf("without flags: got %+v, %v", full, err)
	}
}

func TestInvalidFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-what=speed"}, {"-cases=getAlbums"}, {"-rounds=0"}, {"-documents=999"}, {"-duration=0s"}, {"-nothing"},
	} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v: got no error", args)
		}
	}
}
