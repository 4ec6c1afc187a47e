package casefile

import (
	"strings"
	"testing"
	"time"
)

func TestAVariableIsBoundByItsFirstMatchAndThenMustMatch(t *testing.T) {
	variables := Variables{"known": "7"}
	template := parsed(t, "<a>{album}</a><b>{album}</b><c>{known}</c><d>{token:hex}</d><e>{until:date}</e><f>{next:token}</f>")
	secret := strings.Repeat("0123456789abcdef", 2)
	const until = "Tue, 15-Nov-1994 08:12:31 GMT"
	if err := template.Match("<a>12</a><b>12</b><c>7</c><d>"+secret+"</d><e>"+until+"</e><f>aZ_-9</f>", variables, Span{}); err != nil {
		t.Fatal(err)
	}
	if variables["album"] != "12" || variables["token"] != secret || variables["until"] != until || variables["next"] != "aZ_-9" {
		t.Errorf("got %v", variables)
	}
	for _, different := range []string{
		"<a>12</a><b>13</b><c>7</c><d>" + secret + "</d><e>" + until + "</e><f>aZ_-9</f>",
		"<a>12</a><b>12</b><c>8</c><d>" + secret + "</d><e>" + until + "</e><f>aZ_-9</f>",
		"<a>120</a><b>120</b><c>7</c><d>" + secret + "</d><e>" + until + "</e><f>aZ_-9</f>",
		"<a>12</a><b>12</b><c>7</c><d>" + secret + "</d><e>Wed, 16-Nov-1994 08:12:31 GMT</e><f>aZ_-9</f>",
	} {
		if template.Match(different, variables, Span{}) == nil {
			t.Errorf("%s matched", different)
		}
	}
}

func TestEveryByteOfATextCounts(t *testing.T) {
	for _, c := range []struct{ source, text, want string }{
		{"abc", "abd", `at byte 2, after "ab": want "c", got "d"`},
		{"abc", "ab", `at byte 2, after "ab": want "c", got ""`},
		{"abc", "abcd", `at byte 3, after "abc": want the end, got "d"`},
		{"晴天", "晴大", `at byte 3, after "晴": want "天", got "大"`},
		{"<a>{id}</a>", "<a>x</a>", `at byte 3, after "<a>": want an id for {id}, got "x</a>"`},
		{"{s:token}", "</next>", `at byte 0, after "": want a page token for {s}, got "</next>"`},
		{"{id}", "0", `at byte 0, after "": want an id for {id}, got "0"`},
		{"{id}", "01", `at byte 0, after "": want an id for {id}, got "01"`},
		{"{id}", "9007199254740992", `at byte 0, after "": want an id for {id}, got "9007199254740992"`},
		{"{s:hex}", "ABCDEF0123456789ABCDEF0123456789", `at byte 0, after "": want 32 lowercase hexadecimal digits for {s}, got "ABCDEF0123456789ABCDEF0123456789"`},
		{"{s:date}", "Thu, 01-Jan-1970 00:00:00 CET", `at byte 0, after "": want a date of a cookie for {s}, got "Thu, 01-Jan-1970 00:00:00 CET"`},
		{"{s:date}", "Thu, 01-Jan", `at byte 0, after "": want a date of a cookie for {s}, got "Thu, 01-Jan"`},
	} {
		if err := parsed(t, c.source).Match(c.text, Variables{}, Span{}); err == nil || err.Error() != c.want {
			t.Errorf("%s and %s: got %v, want %s", c.source, c.text, err, c.want)
		}
	}
}

func TestTimesAndDatesLieWithinTheCase(t *testing.T) {
	zone := time.FixedZone("east", 8*60*60)
	span := Span{
		From: time.Date(2024, 2, 29, 23, 59, 58, 900, zone),
		To:   time.Date(2024, 3, 1, 0, 0, 2, 0, zone),
	}
	const date = "{yyyy}-{mm}-{dd} {m}/{d}."
	for source, texts := range map[string][]string{
		"at {time}!": {"at 2024-02-29 23:59:58!", "at 2024-03-01 00:00:02!"},
		date:         {"2024-02-29 2/29.", "2024-03-01 3/1."},
	} {
		for _, text := range texts {
			if err := parsed(t, source).Match(text, Variables{}, span); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for source, texts := range map[string][]string{
		"at {time}!": {"at 2024-02-29 23:59:57!", "at 2024-03-01 00:00:03!", "at 2024-02-29 16:00:00!", "at 2024-2-29 23:59:59!", "at now!"},
		date:         {"2024-02-28 2/28.", "2023-02-29 2/29.", "2024-2-29 2/29.", "2024-02-29 02/29.", "2024-03-01 3/01."},
	} {
		for _, text := range texts {
			if parsed(t, source).Match(text, Variables{}, span) == nil {
				t.Errorf("%s matched %s", text, source)
			}
		}
	}
}

func parsed(t *testing.T, source string) Template {
	t.Helper()
	template, err := ParseTemplate(source)
	if err != nil {
		t.Fatal(err)
	}
	return template
}
