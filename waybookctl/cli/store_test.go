package cli

import (
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestACheckSuggestsARepairOnlyForWhatItMends(t *testing.T) {
	mended := integrity.Finding{Kind: integrity.Orphan, Count: 2, Repaired: 2}
	orphan, index := integrity.Finding{Kind: integrity.Orphan, Count: 2}, integrity.Finding{Kind: storekeeping.MissingIndex, Count: 1}
	tally := integrity.Finding{Kind: integrity.WrongTally, Count: 1}
	for _, c := range []struct {
		findings       []integrity.Finding
		verdict, error string
	}{
		{nil, "clean", ""},
		{[]integrity.Finding{mended}, "mended", ""},
		{[]integrity.Finding{orphan}, "not clean", "run again with --fix"},
		{[]integrity.Finding{tally, index}, "not clean", "run again with --fix"},
		{[]integrity.Finding{tally}, "not clean", "--fix can't repair"},
		{[]integrity.Finding{mended, tally}, "not clean", "--fix can't repair"},
	} {
		err, text := remaining(c.findings), ""
		if err != nil {
			text = err.Error()
		}
		if verdict(c.findings) != "The store is "+c.verdict+"." || (c.error == "") != (err == nil) || !strings.Contains(text, c.error) {
			t.Errorf("%+v: %s %v", c.findings, verdict(c.findings), err)
		}
	}
}

func TestACompactionPaysIfHalfOfALargeFileIsFree(t *testing.T) {
	const mebibyte = 1 << 20
	for _, c := range []struct {
		bytes, free int64
		want        bool
	}{
		{0, 0, false},
		{100 * mebibyte, 63 * mebibyte, false},
		{128 * mebibyte, 64 * mebibyte, true},
		{1000 * mebibyte, 499 * mebibyte, false},
		{1000 * mebibyte, 500 * mebibyte, true},
	} {
		if got := isWorthCompacting(c.bytes, c.free); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
