package peer

import (
	"strings"
	"testing"
)

func TestAnAddressEndsBeforeTheInterface(t *testing.T) {
	for text, want := range map[string]string{
		"http://old.example":                "http://old.example/API.php?q",
		"https://old.example/":              "https://old.example/API.php?q",
		"http://10.0.0.5:81/legacy/API.php": "http://10.0.0.5:81/legacy/API.php?q",
		"http://[::1]:81/a%2Fb/":            "http://[::1]:81/a/b/API.php?q",
	} {
		address, err := ParseAddress(text)
		if err != nil || address.At("/API.php", "q").String() != want {
			t.Errorf("%s: %v, %v; want %s", text, address.At("/API.php", "q"), err, want)
		}
	}
	for _, text := range []string{"", "old.example", "//old.example", "ftp://old.example", "http:///API.php", "http:old", "http://a@b", "http://a:b@c", "http://a?b", "http://a?", "http://a#b", "http://a b"} {
		if address, err := ParseAddress(text); err == nil {
			t.Errorf("%q is taken as %v", text, address)
		}
	}
}

func TestAnEmptyFlagIsNoAddress(t *testing.T) {
	var address Address
	if err := address.Set("http://a"); err != nil || address.IsZero() {
		t.Errorf("%v, %v", address, err)
	}
	if err := address.Set(""); err != nil || !address.IsZero() || address.String() != "" {
		t.Errorf("%v, %v", address, err)
	}
}

func TestOnlyTLSAndThisMachineAreUnreadable(t *testing.T) {
	for text, want := range map[string]bool{
		"https://old.example": false, "http://localhost:81": false, "http://127.0.0.1": false, "http://[::1]": false,
		"http://old.example": true, "http://10.0.0.5": true,
	} {
		if address, err := ParseAddress(text); err != nil || address.IsReadable() != want {
			t.Errorf("%s: %v, %v", text, address.IsReadable(), err)
		}
	}
}

func TestOnlyTheSessionOfACookieIsPassedOn(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{"a=b; waybook_device=secret"}, ""},
		{[]string{` id = 7;a=b;idrand="f" `, "id=8"}, `id = 7; idrand="f"; id=8`},
		{[]string{"Id=7; identity=8; xid=9"}, ""},
		{[]string{"id=" + strings.Repeat("7", 5000)}, ""},
	} {
		if got := SessionCookie(test.lines); got != test.want {
			t.Errorf("%q: %q, want %q", test.lines, got, test.want)
		}
	}
}
