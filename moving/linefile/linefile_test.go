package linefile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const maxLineBytes = 1 << 20

// pack compresses a text.
func pack(t *testing.T, text, how string) []byte {
	t.Helper()
	var packed bytes.Buffer
	var out io.WriteCloser
	switch how {
	case "gzip":
		out = gzip.NewWriter(&packed)
	case "zstd":
		encoder, err := zstd.NewWriter(&packed)
		if err != nil {
			t.Fatal(err)
		}
		out = encoder
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(out, text); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// lines reads all lines with their numbers.
func lines(t *testing.T, from []byte) (all []string, failed error) {
	t.Helper()
	reader, err := Open("-", bytes.NewReader(from), maxLineBytes)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}()
	for {
		line, number, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, ErrLong):
			all = append(all, fmt.Sprintf("%d long", number))
		case err != nil:
			return all, err
		default:
			all = append(all, fmt.Sprintf("%d %s", number, line))
		}
	}
}

func TestLinesHaveTheirNumbersInEachCompression(t *testing.T) {
	long := strings.Repeat("x", readAhead+10)
	text := "\ufeffa\r\n\n  \n b \n" + long + "\n" + strings.Repeat("y", maxLineBytes+1) + "\nc\n\nend"
	want := []string{"1 a", "4 b", "5 " + long, "6 long", "7 c", "9 end"}
	for _, how := range []string{"", "gzip", "zstd"} {
		got, err := lines(t, pack(t, text, how))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %.200q", how, err, got)
		}
	}
}

func TestAFileThatIsCutOffIsNoWholeFile(t *testing.T) {
	text := strings.Repeat("{\"kind\":\"user\"}\n", 1000)
	for _, how := range []string{"gzip", "zstd"} {
		packed := pack(t, text, how)
		if _, err := lines(t, packed[:len(packed)-5]); err == nil {
			t.Errorf("%s: the end is missing, and nobody says so", how)
		}
	}
	if _, err := lines(t, []byte("\xff\xfea\x00")); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("UTF-16: %v", err)
	}
	if got, err := lines(t, nil); err != nil || len(got) > 0 {
		t.Errorf("an empty file: %v %v", got, err)
	}
}
