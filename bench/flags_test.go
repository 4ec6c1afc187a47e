package main

import (
	"io"
	"testing"
)

func TestInvalidFlagsAreRefused(t *testing.T) {
	if s, err := parse(nil, io.Discard); err != nil || len(s.What) == 0 || len(s.Cases) == 0 {
		t.Errorf("without flags: got %+v, %v", s, err)
	}
	for _, args := range [][]string{
		{"-what=speed"}, {"-cases=getAlbums"}, {"-rounds=0"}, {"-documents=999"}, {"-duration=0s"}, {"-nothing"},
	} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v: got no error", args)
		}
	}
}
