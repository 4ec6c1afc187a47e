package cli

import (
	"fmt"
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

func TestATextIsGivenDirectlyOrOnStandardInput(t *testing.T) {
	for text, want := range map[string]string{"here": "here", "-": "line 1\nline 2\n", "": ""} {
		got, err := textOrInput(text).read(strings.NewReader("line 1\nline 2\n"))
		if err != nil || got != want {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
	if _, err := textOrInput("-").read(strings.NewReader(strings.Repeat("x", maxTextBytes+1))); err == nil {
		t.Error("a text above the limit is read")
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

const token = "0123456789abcdef0123456789abcdef"

func TestACookieIsReadInAnyOrderAmongOtherParts(t *testing.T) {
	for _, line := range []string{
		"id=12; idrand=" + token, "idrand=" + token + "; id=12", ` theme=dark; id="12"; idrand=` + token + ` `,
	} {
		user, secret, err := parseCookie(line)
		if err != nil || user != 12 || secret != token {
			t.Errorf("%q is %d, %q, %v", line, user, secret, err)
		}
	}
}

func TestAnInvalidCookieIsAUsageError(t *testing.T) {
	for _, line := range []string{token, "id=12", "idrand=" + token, "id=x; idrand=" + token, ";;", "id=99999999999999999999; idrand=" + token} {
		runWith(t.Context(), nil, line+"\n", "session", "verify").expect(t, statusUsage, "not a session cookie")
		if _, _, err := parseCookie(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func FuzzACookieReadsBack(f *testing.F) {
	f.Add("id=12; idrand=" + token)
	f.Add(`idrand="x"; a; id=1`)
	f.Fuzz(func(t *testing.T, line string) {
		user, secret, err := parseCookie(line)
		if err != nil {
			return
		}
		again, same, err := parseCookie(fmt.Sprintf(`id=%d; idrand="%s"`, user, secret))
		if err != nil || again != user || same != secret {
			t.Errorf("%q is %d, %q, which reads back as %d, %q, %v", line, user, secret, again, same, err)
		}
	})
}
