package contract

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// malformed are fragments that malform a parameter in ways that no string value can. $ stands for
// the parameter's name. A request with an unreadable fragment fails with INVALID ENCODING if the
// operation reads the parameter, and only then.
var malformed = []struct {
	fragment     string
	isUnreadable bool
}{
	{"$=%", true}, {"$=%4", true}, {"$=%zz", true}, {"$=a%", true}, {"$=%u0041", true}, // invalid percent-encoding
	{"$=%FF", true}, {"$=\xff", true}, {"$=%C0%80", true}, {"$=%ED%A0%80", true}, {"$=%F5%80%80%80", true}, {"$=%E6%99", true}, // invalid UTF-8
	{"$=%00", true}, {"$=\x00", true}, {"$=%0B", true}, {"$=%EF%BF%BE", true}, // characters that XML cannot contain
	{"$%=1", false}, {"%=1&$=1", false}, {"$%00=1", false}, {"%FF=%&\xff=\x00", false}, // names of no parameter
	{"$", false}, {"$=", false}, {"$==", false}, {"=$", false}, {"$=1&$=2&$", false}, {"&&$=&&", false}, {"$;$=1", false},
	{"$[]=1", false}, {"$[0]=1", false}, {"$.x=1", false}, {"$+=1", false}, {" $ = 1 ", false}, {"?$=1", false}, {"#$=1", false},
	{"$=" + strings.Repeat("9", 100_000), false}, {"$=" + strings.Repeat("%E6%99%B4", 20_000), false}, {strings.Repeat("$", 5_000) + "=1", false},
}

func TestMalformedParametersOfEveryOperation(t *testing.T) {
	w := start(t)
	var group sync.WaitGroup
	unread := []string{"key", "ts", "sig", "nobody-knows-this"}
	// In the short form each parameter is malformed in every eighth way, shifted by one for each parameter.
	stride := longform.Number(8, 1)
	for _, each := range operations(t, w) {
		group.Go(func() {
			if got := w.post(each.form+strings.Repeat("&a=1", 101), cookieOf(w, each.name)); !strings.Contains(string(got.body), "TOO MANY PARAMETERS") {
				t.Errorf("%s with 101 parameters: %s", each.name, got.body)
			}
			for n, name := range each.parameters {
				for i, m := range malformed {
					if (i+n)%stride != 0 {
						continue
					}
					form := each.form + "&" + strings.ReplaceAll(m.fragment, "$", name)
					what := fmt.Sprintf("%.200q", form)
					got := w.post(form, cookieOf(w, each.name))
					got.check(t, what)
					if info, _ := got.element("info"); (info == "INVALID ENCODING: "+name) != (m.isUnreadable && !slices.Contains(unread, name)) {
						t.Errorf("%s: %s", what, got.body)
					}
				}
			}
		})
	}
	group.Wait()
	w.checkLog(t)
}
