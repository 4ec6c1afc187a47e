package settings_test

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/platform/settings"
)

// example has a setting of each type.
type example struct {
	own     settings.Flags
	address string
	size    int
	rate    float64
	isLoud  bool
	wait    time.Duration
	uri     secretive
}

// secretive is a setting that holds a secret if it contains "secret".
type secretive string

func (s *secretive) String() string { return string(*s) }

func (s *secretive) Set(value string) error {
	*s = secretive(value)
	return nil
}

func (s *secretive) HasSecret() bool { return strings.Contains(string(*s), "secret") }

// read reads settings. If file is not empty, it is the text of the file of settings.
func read(t testing.TB, args []string, env map[string]string, file string) (example, error) {
	t.Helper()
	var e example
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	e.own.Register(flags)
	flags.StringVar(&e.address, "some-address", "127.0.0.1:1", "")
	flags.IntVar(&e.size, "size", 3, "")
	flags.Float64Var(&e.rate, "rate", 0.5, "")
	flags.BoolVar(&e.isLoud, "loud", true, "")
	flags.DurationVar(&e.wait, "wait", time.Second, "")
	flags.Var(&e.uri, "uri", "")
	settings.FromFile(flags, "uri", "the URI")
	if file != "" {
		args = append([]string{"-config", write(t, file)}, args...)
	}
	err := e.own.Read(flags, args, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	e.own.File = "" // it differs from test to test
	return e, err
}

// write writes a file and returns its path.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "waybook.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func defaults() example {
	return example{address: "127.0.0.1:1", size: 3, rate: 0.5, isLoud: true, wait: time.Second}
}

func TestTheCommandLineWinsOverTheEnvironmentThenTheFileThenTheDefault(t *testing.T) {
	want := defaults()
	want.address, want.size, want.rate, want.isLoud = ":4", 3, 2.5, false
	got, err := read(t, []string{"-size", "3", "-some-address=:4"},
		map[string]string{"WAYBOOK_SIZE": "8", "WAYBOOK_LOUD": "false"},
		"size: 9\nloud: true\nsome-address: ':5'\nrate: 2.5\n")
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestAFileSetsEveryType(t *testing.T) {
	got, err := read(t, nil, nil, `# a comment
some-address: 127.0.0.1:2
size: 0x10
rate: 3
loud: false
wait: 2m
uri: |
  mongodb://db/waybook
`)
	want := example{address: "127.0.0.1:2", size: 16, rate: 3, isLoud: false, wait: 2 * time.Minute, uri: "mongodb://db/waybook"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestTrailingWhiteSpaceDoesNotCount(t *testing.T) {
	for name, value := range map[string]string{"newline": ":2\n", "CR LF": ":2\r\n", "space": ":2 ", "all": ":2\t \r\n\n"} {
		t.Run(name, func(t *testing.T) {
			want := defaults()
			want.address = ":2"
			if got, err := read(t, nil, map[string]string{"WAYBOOK_SOME_ADDRESS": value}, ""); err != nil || got != want {
				t.Errorf("environment: got %+v, %v", got, err)
			}
			want = defaults()
			want.uri = ":2"
			if got, err := read(t, []string{"-uri-file", write(t, value)}, nil, ""); err != nil || got != want {
				t.Errorf("file: got %+v, %v", got, err)
			}
		})
	}
}

func TestAnEmptyFileSetsNothing(t *testing.T) {
	for name, file := range map[string]string{"a comment": "# nothing yet\n", "an empty document": "---\n", "white space": "\n\n"} {
		t.Run(name, func(t *testing.T) {
			if got, err := read(t, nil, nil, file); err != nil || got != defaults() {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestAFaultNamesFileLineAndSetting(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"an unknown setting":    {"size: 4\nsiez: 4\n", `waybook.yaml:2: unknown setting "siez"`},
		"a repeated setting":    {"size: 4\nloud: true\nsize: 4\n", `line 3: mapping key "size" already defined at line 1`},
		"a word for a number":   {"size: many\n", "waybook.yaml:1: size: parse error"},
		"a fraction":            {"size: 4.5\n", "waybook.yaml:1: size: parse error"},
		"a word for a fraction": {"rate: fast\n", "waybook.yaml:1: rate: parse error"},
		"yes":                   {"loud: yes\n", "waybook.yaml:1: loud: parse error"},
		"no value":              {"some-address:\n", "waybook.yaml:1: some-address: want one value"},
		"a list":                {"some-address: [a, b]\n", "waybook.yaml:1: some-address: want one value; separate several by commas"},
		"a mapping":             {"some-address: {a: b}\n", "waybook.yaml:1: some-address: want one value"},
		"an alias":              {"some-address: &a x\nuri: *a\n", "waybook.yaml:2: uri: want one value"},
		"a key that is a list":  {"? [size]\n: 4\n", "waybook.yaml: want lines of the form NAME: VALUE"},
		"a number out of range": {"\n\nsize: 9223372036854775808\n", "waybook.yaml:3: size: value out of range"},
		"a duration":            {"wait: 5\n", "waybook.yaml:1: wait: "},
		"the file itself":       {"config: other.yaml\n", "waybook.yaml:1: config cannot be set in a file"},
		"check":                 {"check: true\n", "waybook.yaml:1: check cannot be set in a file"},
		"version":               {"version: true\n", "waybook.yaml:1: version cannot be set in a file"},
		"a list of settings":    {"- size\n", "waybook.yaml: want lines of the form NAME: VALUE"},
		"two documents":         {"size: 4\n---\nsize: 5\n", "waybook.yaml: want one YAML document"},
		"bad syntax":            {"size: 4\n\tloud: x\n", "line 2"},
		"a secret":              {"size: 4\nuri: mongodb://secret@db\n", "waybook.yaml:2: uri holds a password; put the value into a file of its own and set uri-file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, nil, nil, test.file)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret@") {
				t.Errorf("%v tells the secret", err)
			}
		})
	}
}

func TestEveryFaultIsReported(t *testing.T) {
	_, err := read(t, []string{"-size", "many", "-rate=fast", "-nothing"},
		map[string]string{"WAYBOOK_WAIT": "long", "WAYBOOK_SOME_ADDRESS": " \n"}, "siez: 4\nloud: 5\n")
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		`"many" for -size`, `"fast" for -rate`, "-nothing", `"long" for WAYBOOK_WAIT`,
		"WAYBOOK_SOME_ADDRESS has only white space", `"siez"`, "loud: parse error",
	} {
		if strings.Count(err.Error(), part) != 1 {
			t.Errorf("%q is not reported once in %v", part, err)
		}
	}
}

func TestAFileOfASecretMustHoldOne(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"no such file":  {[]string{"-uri-file", "/nonexistent/uri"}, nil, "-uri-file: open /nonexistent/uri"},
		"a directory":   {[]string{"-uri-file", t.TempDir()}, nil, "-uri-file: read "},
		"an empty file": {[]string{"-uri-file", write(t, "")}, nil, "is empty"},
		"a blank file":  {nil, map[string]string{"WAYBOOK_URI_FILE": write(t, "\n")}, "has only white space"},
		"both":          {[]string{"-uri-file", write(t, "x")}, map[string]string{"WAYBOOK_URI": "y"}, "WAYBOOK_URI and -uri-file are both set"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, test.args, test.env, ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTheEnvironmentAsksForNeitherCheckNorVersion(t *testing.T) {
	got, err := read(t, nil, map[string]string{"WAYBOOK_CHECK": "true", "WAYBOOK_VERSION": "1.2.3"}, "")
	if err != nil || got != defaults() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheEnvironmentNamesTheFile(t *testing.T) {
	want := defaults()
	want.size = 7
	got, err := read(t, nil, map[string]string{"WAYBOOK_CONFIG": write(t, "size: 7\n")}, "")
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHelpIsGivenWhateverElseIsSet(t *testing.T) {
	if _, err := read(t, []string{"-size=many", "-help"}, map[string]string{"WAYBOOK_SIZE": "x"}, ""); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v", err)
	}
}

func TestNoPasswordOfAnAddressIsShown(t *testing.T) {
	for name, args := range map[string][]string{
		"a value":     {"-wait", "https://amy:s3cr3t/@host/"},
		"an argument": {"https://amy:s3cr3t@host/"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, args, nil, ""); err == nil || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzFile reads any bytes as a file of settings. What they set must be what the same values set on
// the command line.
func FuzzFile(f *testing.F) {
	f.Add("size: 4\nloud: false\nwait: 5s\n")
	f.Add("? [a]\n: *b\n---\n!!binary x: |\n  y\n")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		got, err := read(t, nil, nil, text)
		if err != nil {
			return
		}
		args := []string{
			"-some-address=" + got.address, "-uri=" + string(got.uri), "-wait", got.wait.String(),
			"-size", strconv.Itoa(got.size), "-rate", strconv.FormatFloat(got.rate, 'g', -1, 64), "-loud=" + strconv.FormatBool(got.isLoud),
		}
		if again, err := read(t, args, nil, ""); err != nil || again != got {
			t.Errorf("the file set %+v, the command line %+v, %v", got, again, err)
		}
	})
}
