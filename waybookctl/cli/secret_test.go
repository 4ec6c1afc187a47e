package cli

import (
	"strings"
	"testing"
)

func TestASecretIsOneLineOfInput(t *testing.T) {
	for in, want := range map[string]string{
		"secret": "secret", "secret\n": "secret", "secret\r\nmore\n": "secret", " 密碼 \n": " 密碼 ",
		strings.Repeat("x", maxSecretBytes) + "\n": strings.Repeat("x", maxSecretBytes),
	} {
		got, err := secrets{in: strings.NewReader(in)}.line(t.Context(), "password")
		if err != nil || got != want {
			t.Errorf("%q gives %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "\n", "\r\nsecret", strings.Repeat("x", maxSecretBytes+1), strings.Repeat("x", maxSecretBytes+3) + "\n"} {
		if got, err := (secrets{in: strings.NewReader(in)}).line(t.Context(), "password"); err == nil {
			t.Errorf("%.10q… gives %.10q…", in, got)
		}
	}
}

// For any input, a secret is the complete first line, or an error.
func FuzzASecretIsTheFirstLineOfInput(f *testing.F) {
	for _, in := range []string{"secret", "\r\nsecret", "a\rb\r\r\nc", strings.Repeat("x", maxSecretBytes+1)} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		first, _, _ := strings.Cut(in, "\n")
		want := strings.TrimRight(first, "\r")
		got, err := secrets{in: strings.NewReader(in)}.line(t.Context(), "password")
		if err == nil && (got != want || len(got) > maxSecretBytes || got == "") {
			t.Errorf("%q gives %q", in, got)
		}
		if err != nil && want != "" && len(first) <= maxSecretBytes {
			t.Errorf("%q: %v", in, err)
		}
	})
}
