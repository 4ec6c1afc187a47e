package casefile

import (
	"strings"
	"testing"
)

func TestAMistakeIsNamedWithItsFileAndLine(t *testing.T) {
	for _, c := range []struct{ name, below, want string }{
		{"no step", "", "x.txt:2: no steps"},
		{"an indented line below nothing", "  a=1", "x.txt:2: an indented line belongs below a heading"},
		{"an indentation of one blank", "GET\n a=1", "x.txt:3: indent by two spaces"},
		{"blanks at the end", "GET\n  a=1 ", "x.txt:3: blanks at the end of the line; write {SP} or {CR} if they are meant"},
		{"an unknown heading", "get", `x.txt:2: "get" is unknown here`},
		{"alone after a step", "user amy\nalone", `x.txt:3: "alone" is unknown here`},
		{"a user without a name", "user", "x.txt:2: want `user` and a name in lower case"},
		{"a user with something else", "user amy\n  age=3", `x.txt:2: a user has only a name and an icon, not "age"`},
		{"a request without a reply", "GET\nuser amy", "x.txt:3: the request of line 2 has no reply"},
		{"the last request without a reply", "GET", "x.txt:2: the request of line 2 has no reply"},
		{"a request with more words", "GET amy", `x.txt:2: want METHOD [path] [as user] [HTTP/1.0] [eventually], got "GET amy"`},
		{"a parameter without a sign", "GET\n  func", `x.txt:3: want name=value, got "func"`},
		{"a header without a colon", "GET\nheaders\n  func", `x.txt:4: want name:value, got "func"`},
		{"a reply to nothing", "reply", `x.txt:2: "reply" belongs to a request`},
		{"a body after the reply", "GET\nreply\nbody\n  a=1", "x.txt:4: the reply comes last"},
		{"headers before the reply", "GET\nreply headers\n  a: b", "x.txt:3: the reply comes before its headers"},
		{"a raw something", "GET\nraw\n  a", "x.txt:3: want `raw query` or `raw body`"},
		{"a reply with more words", "GET\nreply 200 A B", `x.txt:3: want reply [status] [reason], got "reply 200 A B"`},
		{"an invalid placeholder", "GET\n  a={U+D800}\nreply", "x.txt:3: {U+D800}: not a Unicode character"},
		{"too many characters", "GET\n  a={a*99999999}\nreply", "x.txt:3: {a*99999999}: too long"},
		{"an unknown class", "GET\nreply\n  {a:int}", "x.txt:3: {a:int}: the classes are hex, date and token"},
		{"a call without a method", "call AlbumService", "x.txt:2: want `call` and package.Service/Method"},
		{"an answer to nothing", "answer", "x.txt:2: `answer` belongs to a call"},
		{"a second answer", "call a.B/C\nanswer\nanswer", "x.txt:4: `answer` belongs to a call"},
		{"a table without rows", "each a", "x.txt:2: `each` needs column names and rows"},
		{"a row with too many cells", "each a\n  1 | 2", "x.txt:3: want 1 cells, got 2"},
		{"a table in a table", "each a\n  1\neach b\n  2", "x.txt:4: the `each` of line 2 has not ended"},
		{"a table without an end", "each a\n  1\nuser amy", "x.txt:4: the `each` of line 2 has no `end`"},
		{"an end of nothing", "end", "x.txt:2: no `each` with steps to end"},
		{"an end with more words", "each a\n  1\nuser amy\nend all", `x.txt:5: "end" stands alone`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("x.txt", "A rule (rule 1.1)\n"+c.below)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	for _, sentence := range []string{"A rule", "A rule (rule 4)", "A rule (rule )", "A rule (rule 4.1) and more", "A rule (4.1)"} {
		_, err := Parse("x.txt", sentence+"\nuser amy")
		if err == nil || !strings.HasPrefix(err.Error(), "x.txt:1: want a sentence that ends in its rules") {
			t.Errorf("%s: got %v", sentence, err)
		}
	}
}
