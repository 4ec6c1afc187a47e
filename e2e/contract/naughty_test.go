package contract

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/longform"
)

// filledForm is an operation with a valid form and all its parameters.
type filledForm struct {
	// function is its func. name also says which variant it is.
	function, name, form string
	parameters           []string
}

// operations returns the whole table, with a form that each takes on content that exists. The
// variant that a flag selects is not one of its own: the flag is a parameter. A parameter that is
// new needs a value here; an operation needs nothing.
func operations(t *testing.T, w *waybook) (all []filledForm) {
	t.Helper()
	values := map[string]string{
		"albumID": w.album, "blogID": w.blog, "userID": w.user, "POIID": "1",
		"albumTitle": "a", "category": "2", "lat": "25.03", "lng": "121.56",
		"thumbnail": "a.jpg", "photo": "a.jpg", "photoID": "1", "comment": "a", "commentID": "1", "reply": "a", "choice": "1",
		"radius": "50000", "latMin": "20", "latMax": "30", "lngMin": "120", "lngMax": "130",
		"type": "0_1", "blogTitle": "a", "blogContent": "b", "year": "2026", "month": "2", "day": "28", "weather": "有彩虹",
		"email": "a@waybook.example", "password": "password of a",
		"nickname": "a", "icon": "a.jpg", "invitation": "a", "oldPassword": "x", "newPassword": "password of a",
	}
	index := map[string]int{}
	for _, row := range edge.Operations() {
		name := row.Func
		if row.Variant.Flag() == nil && row.Variant.Selector() != "" {
			name += " with " + row.Variant.Selector()
		}
		at, known := index[name]
		if !known {
			at = len(all)
			index[name] = at
			all = append(all, filledForm{function: row.Func, name: name, form: "func=" + row.Func})
		}
		each := &all[at]
		for _, p := range row.Parameters {
			if slices.Contains(each.parameters, p.Name) {
				continue
			}
			each.parameters = append(each.parameters, p.Name)
			value, has := values[p.Name]
			if has {
				each.form += "&" + p.Name + "=" + url.QueryEscape(value)
			} else if p.IsRequired && (row.Variant.Flag() == nil || p.Name != row.Variant.Selector()) {
				t.Errorf("%s requires %s, which has no value here", row.Func, p.Name)
			}
		}
	}
	for i := range all {
		for _, p := range edge.SharedParameters() {
			all[i].parameters = append(all[i].parameters, p.Name)
		}
		all[i].parameters = append(all[i].parameters, "nobody-knows-this")
	}
	return all
}

func TestNaughtyStringsInEveryParameterOfEveryOperation(t *testing.T) {
	w := start(t)
	all := naughtyStrings(t)
	// Each parameter gets every stride-th string, shifted by one for each parameter, so that every string
	// is sent. So do names of parameters, shifted by one for each operation.
	stride, strideOfNames := longform.Number(64, 8), longform.Number(16, 1)
	if os.Getenv("WAYBOOK_NAUGHTY") == "all" {
		stride, strideOfNames = 1, 1
	}
	var group sync.WaitGroup
	for o, each := range operations(t, w) {
		group.Go(func() {
			form, err := url.ParseQuery(each.form)
			if err != nil {
				t.Error(err)
				return
			}
			for n, name := range each.parameters {
				for i, value := range all {
					if (i+n)%stride != 0 {
						continue
					}
					sent := url.Values{"responseFormat": {[]string{"XML", "JSON"}[i%2]}}
					for other := range form {
						sent.Set(other, form.Get(other))
					}
					sent.Set(name, value)
					w.post(sent.Encode(), cookieOf(w, each.name)).check(t, fmt.Sprintf("%s with %s=%.100q", each.name, name, value))
				}
			}
			// Each string is also the name of a parameter, and unencoded text in the query.
			for i, value := range all {
				if (i+o)%strideOfNames != 0 {
					continue
				}
				w.post("func="+each.function+"&"+url.QueryEscape(value)+"=x", "").check(t, fmt.Sprintf("a parameter %.100q", value))
				w.post("func="+each.function+"&"+value, "").check(t, fmt.Sprintf("the form %.100q", value))
			}
		})
	}
	group.Wait()
	w.checkLog(t)
}

// cookieOf returns no cookie for logout, so that the session stays open for the other operations.
func cookieOf(w *waybook, operation string) string {
	if operation == "logout" {
		return ""
	}
	return w.cookie
}
