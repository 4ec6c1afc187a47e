package operations_test

import (
	"strings"
	"testing"
)

type application struct {
	Key, Name   string
	AllowLegacy bool `json:"allow_legacy"`
	Disabled    bool
	Secret      string
}

func TestTheLifeCycleOfAnApplication(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	var made application
	o.mustRead(&made, "application", "create", "地圖")
	if len(made.Key) != 32 || len(made.Secret) != 64 || made.Name != "地圖" || made.AllowLegacy || made.Disabled {
		t.Errorf("made %+v", made)
	}
	first := made.Secret
	for _, step := range []struct {
		args string
		want application
	}{
		{"allow-legacy", application{made.Key, "地圖", true, false, ""}},
		{"disable", application{made.Key, "地圖", true, true, ""}},
		{"enable", application{made.Key, "地圖", true, false, ""}},
		{"refuse-legacy", application{made.Key, "地圖", false, false, ""}},
		{"rename", application{made.Key, "新地圖", false, false, ""}},
		{"show", application{made.Key, "新地圖", false, false, ""}},
	} {
		args := []string{"application", step.args, made.Key}
		if step.args == "rename" {
			args = append(args, step.want.Name)
		}
		var now application
		o.mustRead(&now, args...)
		if now != step.want {
			t.Errorf("%s: %+v, want %+v", step.args, now, step.want)
		}
	}
	rotated := o.must("application", "rotate", made.Key)
	_, secret, found := strings.Cut(rotated, "SECRET  ")
	if secret = strings.TrimSpace(secret); !found || len(secret) != 64 || secret == first {
		t.Errorf("rotate prints\n%s", rotated)
	}
	if shown := o.must("application", "show", made.Key); strings.Contains(shown, secret) {
		t.Errorf("the secret is shown again:\n%s", shown)
	}

	given := o.run("a-secret-of-2009\n", "application", "create", "old", "--key", "old.app", "--secret-stdin", "--allow-legacy").expect(0).out
	if strings.Contains(given, "2009") {
		t.Errorf("the secret that was given is shown:\n%s", given)
	}
	o.run("", "application", "create", "other", "--key", "old.app").expect(4, "old.app")
	o.run("short\n", "application", "create", "other", "--secret-stdin").expect(4, "secret: ")
	var listed []application
	o.mustRead(&listed, "application", "list")
	if len(listed) != 2 || listed[0].Secret+listed[1].Secret != "" {
		t.Errorf("listed %+v", listed)
	}
	o.must("application", "delete", "old.app")
	o.run("", "application", "delete", "old.app").expect(3, "old.app")
	o.run("", "application", "show", "old.app").expect(3)
}
