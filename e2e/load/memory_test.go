package load

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
)

// listLimit is how much a list of any length may take, in MiB (rule 8.20).
const listLimit = 32

func TestALongListTakesLittleMemory(t *testing.T) {
	longform.Only(t)
	const items = 20_000
	p := launch.Start(t, binary, filled(t, items), "-demo=false")
	for round := range 3 {
		launch.ForgetPeak(t, p)
		before := launch.MemoryOf(t, p)
		read := itemsOf(t, p)
		grown := launch.MemoryOf(t, p).Peak - before.Anonymous - before.File
		t.Logf("round %d: the process grew by %.1f MiB", round, grown)
		if read != items || grown > listLimit {
			t.Errorf("%d items of %d took %.1f MiB", read, items, grown)
		}
	}
}

// itemsOf reads the list of all landmarks to its end, and counts them.
func itemsOf(t *testing.T, p *launch.Process) (count int) {
	t.Helper()
	client := waybooktest.OnceAt(t, p.HTTP)
	response, err := client.Begin(client.Form(http.MethodGet, listQuery))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for reader := bufio.NewReader(response.Body); ; {
		part, err := reader.ReadSlice('<')
		switch {
		case bytes.HasPrefix(part, []byte("name>")):
			count++
		case errors.Is(err, io.EOF) && string(part) != "/response>":
			t.Errorf("the reply ends in %q", part)
		}
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
