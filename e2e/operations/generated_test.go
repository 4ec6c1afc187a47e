package operations_test

import (
	"strings"
	"testing"
)

// No row of waybookctl's table names these methods: their commands are made from their descriptors alone.
func TestAMethodThatNoTableNamesHasACommand(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	ann, bob := o.createUser("Ann"), o.createUser("Bob")
	place := []string{"--as", ann, "--category", "food", "--lat", "25", "--lng", "121", "-o", "name"}
	one := strings.TrimSpace(o.must(append([]string{"album", "create", "one"}, place...)...))
	two := strings.TrimSpace(o.must(append([]string{"album", "create", "two"}, place...)...))

	if got := o.must("album", "recommend", one, "--as", bob); got != "score 1\n" {
		t.Errorf("recommended: %q", got)
	}
	if got := o.must("album", "recommender", "list", one, "-o", "name"); got != bob+"\n" {
		t.Errorf("recommenders %q", got)
	}
	if got := o.must("album", "recommender", "list", one, "--no-headers"); !strings.Contains(got, "Bob") || strings.Contains(got, "NAME") {
		t.Errorf("recommenders %q", got)
	}
	if got := o.must("album", "batch-get", two, one, "7", "-o", `jsonpath={.albums[*].title}{"\t"}{.missing_album_ids[0]}`); got != "two one\t7\n" {
		t.Errorf("albums %q", got)
	}
	if got := o.must("album", "batch-get", two, "7"); !strings.Contains(got, "two") || !strings.Contains(got, "missing_album_ids 7") {
		t.Errorf("albums %q", got)
	}
	if got := o.must("user", "reward", "grant", ann, "blog/7", "--amount", "3"); got != "amount 3\n" {
		t.Errorf("reward %q", got)
	}
	if got := o.must("user", "reward", "list", ann, "-o", "jsonpath={.source} {.amount}"); got != "blog/7 3\n" {
		t.Errorf("rewards %q", got)
	}
	if got := o.must("user", "batch-get", ann, bob, "-o", "name"); len(strings.Fields(got)) != 2 {
		t.Errorf("users %q", got)
	}
	photo := strings.TrimSpace(o.must("album", "photo", "add", one, "a.jpg", "-o", "name"))
	if got := o.must("album", "photo", "update", one, photo, "--description", "新"); !strings.Contains(got, "新") {
		t.Errorf("photo %q", got)
	}
	if got := o.must("landmark", "in-box", "--south=1", "--west=1", "--north=2", "--east=2", "-o", "json"); got != "[]\n" {
		t.Errorf("in the box %q", got)
	}
}

func TestAChangeIsMadeOnlyInTheStateThatItsEtagNames(t *testing.T) {
	t.Parallel()
	o := operator{t, startEmpty(t).GRPC}
	ann := o.createUser("Ann")
	at := []string{"--as", ann, "--lat", "25", "--lng", "121", "-o", "name"}
	made := map[string]string{
		"album":    o.must(append([]string{"album", "create", "one", "--category", "food"}, at...)...),
		"landmark": o.must(append([]string{"landmark", "create", "one", "--category", "thrill"}, at...)...),
		"entry":    o.must(append([]string{"entry", "create", "one", "text", "--type", "mood", "--weather", "snow", "--date", "2026-11-21"}, at...)...),
	}
	for noun, line := range made {
		id := strings.TrimSpace(line)
		field, title := noun, "--title"
		switch noun {
		case "entry":
			field = "blog"
		case "landmark":
			field, title = "poi", "--name"
		}
		etag := func() string { return strings.TrimSpace(o.must(noun, "show", id, "-o", "jsonpath={."+field+".etag}")) }
		first := etag()
		if first == "" {
			t.Fatalf("%s has no etag", noun)
		}
		o.must(noun, "update", id, title, "two", "--etag", first)
		o.run("", noun, "update", id, title, "three", "--etag", first).expect(4, "changed since")
		o.run("", noun, "delete", id, "--etag", first).expect(4, "changed since")
		if noun != "entry" {
			photo := strings.TrimSpace(o.must(noun, "photo", "add", id, "a.jpg", "-o", "name"))
			of := strings.TrimSpace(o.must(noun, "photo", "list", id, "-o", "jsonpath={.etag}"))
			o.must(noun, "photo", "update", id, photo, "--url", "b.jpg", "--etag", of)
			o.run("", noun, "photo", "remove", id, photo, "--etag", of).expect(4, "changed since")
			o.must(noun, "photo", "remove", id, photo)
		}
		o.must(noun, "delete", id, "--etag", etag())
	}
}
