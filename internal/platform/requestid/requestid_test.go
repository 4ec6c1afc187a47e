package requestid_test

import (
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/waybook/waybook/internal/platform/requestid"
)

func TestAReceivedIDThatIsNotAPlainWordIsIgnored(t *testing.T) {
	for id, want := range map[string]string{
		"0f-Az9":                "0f-Az9",
		strings.Repeat("a", 64): strings.Repeat("a", 64),
		strings.Repeat("a", 65): "",
		"":                      "",
		"a b":                   "",
		"a\nlevel=ERROR":        "",
		"\x1b[31m":              "",
		"a=b":                   "",
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-request-id", id))
		if got := requestid.From(ctx); got != want {
			t.Errorf("%q became %q", id, got)
		}
	}
	if got := requestid.From(t.Context()); got != "" {
		t.Errorf("no id became %q", got)
	}
}

func TestNewIDsDifferAndAreAcceptedByTheNextProcess(t *testing.T) {
	first, second := requestid.New(), requestid.New()
	if first == second || len(first) != 32 {
		t.Errorf("got %q and %q", first, second)
	}
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-request-id", first))
	if got := requestid.From(ctx); got != first {
		t.Errorf("%q became %q", first, got)
	}
	if got := requestid.From(requestid.With(ctx, second)); got != second {
		t.Errorf("the id of the context was replaced by %q", got)
	}
}

// FuzzOnlyAPlainWordIsTakenOver checks that any received id is either ignored or kept
// unchanged, and that a kept id is safe in a log line.
func FuzzOnlyAPlainWordIsTakenOver(f *testing.F) {
	for _, id := range []string{"0f-Az9", "", "a b", "a\nlevel=ERROR", "é", strings.Repeat("a", 65)} {
		f.Add(id)
	}
	word := regexp.MustCompile(`\A[0-9A-Za-z-]{1,64}\z`)
	f.Fuzz(func(t *testing.T, id string) {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("x-request-id", id))
		got := requestid.From(ctx)
		if want := word.MatchString(id); (got != "") != want || want && got != id {
			t.Errorf("%q became %q", id, got)
		}
	})
}
