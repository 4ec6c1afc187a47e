package moving_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
)

// module is the folder of moveread, which stands outside of the workspace.
const module = "../../moving/moveread"

// built builds moveread once.
var built = sync.OnceValue(func() error { return launch.BuildOutside(binaries, module) })

// moveread returns what runs the program.
func moveread(t *testing.T) func(source string, args ...string) ran {
	t.Helper()
	longform.Outside(t)
	if err := built(); err != nil {
		t.Fatal(err)
	}
	return func(source string, args ...string) ran {
		t.Helper()
		command := exec.CommandContext(t.Context(), filepath.Join(binaries, "moveread"), args...)
		command.Env = append(os.Environ(), "OLD_DATABASE="+source)
		var out, notes bytes.Buffer
		command.Stdout, command.Stderr = &out, &notes
		if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return ran{out.String(), notes.String(), command.ProcessState.ExitCode()}
	}
}

// oldDatabase makes the SQLite database of testdata/old.sql, with more statements.
func oldDatabase(t *testing.T, more ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "old.sqlite")
	database, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	}()
	script, err := os.ReadFile(testFile(t, "old.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range append([]string{string(script)}, more...) {
		if _, err := database.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// The statements of the guide and those of moveread read the same.
func TestMovereadReadsWhatTheStatementsOfTheGuideExport(t *testing.T) {
	t.Parallel()
	path := oldDatabase(t)
	blocks, err := examples.Blocks(examples.Docs + "moving-in.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := launch.Build(folder, launch.AsTested, "github.com/waybook/waybook/e2e/olddata/mysql"); err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(blocks, func(b examples.Block) bool { return strings.Contains(b.Text, "> old.ndjson") })
	shell := exec.CommandContext(t.Context(), "sh", "-c", blocks[n].Text)
	shell.Dir, shell.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "OLD_DATABASE="+path)
	if output, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	file := filepath.Join(t.TempDir(), "read.ndjson")
	if done := moveread(t)("file:"+path+"?mode=ro", "sqlite", module+"/queries/old.sql", file); done.status != 0 || !strings.Contains(done.out, "2  album") {
		t.Fatal(done)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	waybook := startOn(t, t.TempDir())
	for n, file := range []string{file, filepath.Join(folder, "old.ndjson")} {
		done := imported(t, waybook, file, "--yes=false")
		for line := range strings.Lines(done.out) {
			if fields := strings.Fields(line); n > 0 && fields[0] != "KIND" && (fields[1] != "0" || fields[4] != "0") {
				t.Errorf("the other export differs: %s", line)
			}
		}
		if done.status != 0 {
			t.Errorf("%s: %d\n%s%s", file, done.status, done.out, done.notes)
		}
	}
}

func TestMovereadRepairsWhatOldDatabasesHold(t *testing.T) {
	t.Parallel()
	const doubled, big5 = "insert into users values (20, 'æ\u009d±åŒ—', '', null, null, '0000-00-00 00:00:00')", "insert into users values (21, cast(x'aa46a55f' as text), '', null, null, '2008-01-01 00:00:00')"
	path := oldDatabase(t, doubled, big5,
		"insert into albums values (50, 20, 'a &amp; b', ' 5 ', '25.5 ', '121.5', null, '0000-00-00 00:00:00', '0000-00-00 00:00:00')")
	read := moveread(t)
	file := filepath.Join(t.TempDir(), "read.ndjson")
	done := read("file:"+path+"?mode=ro", "-entities", "sqlite", module+"/queries/old.sql", file)
	for _, want := range []string{"1  repaired: UTF-8 stored as Latin-1", "1  repaired: Big5", "1  repaired: entities", "3  repaired: 0000-00-00"} {
		if done.status != 0 || !strings.Contains(done.out, want) {
			t.Errorf("%q is not in, status %d\n%s%s", want, done.status, done.out, done.notes)
		}
	}
	waybook := startOn(t, t.TempDir())
	if done := imported(t, waybook, file, "--allow", "bad-times"); done.status != 0 {
		t.Fatal(done)
	}
	if reply := album(t, waybook, "50"); !strings.Contains(reply, "<albumTitle>a &amp; b<") || !strings.Contains(reply, "<ownerName>東北<") || !strings.Contains(reply, "<lat>25.5<") {
		t.Error(reply)
	}
	if out := succeed(t, "user", "find", "--address", socket(waybook), "東北"); strings.Count(out, "東北") != 2 {
		t.Error(out)
	}
	// What breaks off leaves no file.
	queries := filepath.Join(t.TempDir(), "queries.sql")
	if err := os.WriteFile(queries, []byte("select 'user' as kind, id, nickname as name from users;\nselect 'user' as kind, nick from users;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.ndjson")
	if done := read("file:"+path+"?mode=ro", "sqlite", queries, broken); done.status != 1 || !strings.Contains(done.notes, "statement 2") {
		t.Error(done)
	}
	if _, err := os.Stat(broken); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of a part is there: %v", err)
	}
}

func TestMovereadReadsPostgreSQL(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	examples.Need(t, "psql")
	source := mongotest.StartPostgreSQL(t)
	load := exec.CommandContext(t.Context(), "psql", "-v", "ON_ERROR_STOP=1", source)
	load.Stdin = strings.NewReader(`create table users (id integer, nickname text, created timestamptz, lat numeric);
		insert into users values (7, '小旅人', '2008-03-05 09:07:31+08', 25.10);
		create table blogs (id bigint, post_date date, created timestamp, question text, choices json);
		insert into blogs values (8, '2008-04-01', '2008-03-31 22:00:00', '?', '[{"description":"a","votes":1},{"description":"b"}]');`)
	if output, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	folder := t.TempDir()
	queries, file := filepath.Join(folder, "queries.sql"), filepath.Join(folder, "read.ndjson")
	if err := os.WriteFile(queries, []byte(`select 'user' as kind, id, nickname as name, created as create_time from users;
select 'album' as kind, id, lat from users;
select row_to_json(x) from (select 'landmark' as kind, 3 as id, 1.50 as lng) x;
select 'entry' as kind, id, post_date, created as create_time, question as "vote.description", choices as "vote.choices" from blogs;`), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := moveread(t)(source, "postgres", queries, file); done.status != 0 {
		t.Fatal(done)
	}
	got, err := os.ReadFile(file)
	const want = `{"kind":"user","id":7,"name":"小旅人","create_time":"2008-03-05T01:07:31Z"}
{"kind":"album","id":7,"lat":25.1}
{"kind":"landmark","id":3,"lng":1.5}
{"kind":"entry","id":8,"post_date":"2008-04-01","vote":{"choices":[{"description":"a","votes":1},{"description":"b"}],"description":"?"},"create_time":"2008-03-31 22:00:00"}
{"kind":"end","user":1,"album":1,"entry":1,"landmark":1}
`
	if err != nil || string(got) != want {
		t.Errorf("%v: got\n%swant\n%s", err, got, want)
	}
}

func TestMovereadReadsMariaDB(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	examples.Need(t, "mariadbd")
	examples.Need(t, "mariadb-install-db")
	folder, address := t.TempDir(), launch.Address(t)
	_, port, _ := strings.Cut(address, ":")
	data := "--datadir=" + filepath.Join(folder, "data")
	if output, err := exec.CommandContext(t.Context(), "mariadb-install-db", "--no-defaults", data, "--auth-root-authentication-method=normal").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	args := []string{"--no-defaults", data, "--socket=" + filepath.Join(folder, "s"), "--bind-address=127.0.0.1", "--port=" + port, "--skip-grant-tables"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	server := launch.Begin(t, "mariadbd", nil, args...)
	server.AwaitLog("ready for connections")
	const bytes = `create database messy character set latin1; use messy; set sql_mode = '';
create table users (id int, nickname varchar(100), created datetime);
insert into users values (1, convert(x'E69DB1E58C97' using binary), '0000-00-00'), (2, convert(x'AA46A55F' using binary), '2008-01-01'), (3, convert(x'636166E9' using binary), '2008-01-01');`
	load := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", port)
	load.Stdin = strings.NewReader(bytes)
	if output, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, server.Printed())
	}
	queries, file := filepath.Join(folder, "queries.sql"), filepath.Join(folder, "read.ndjson")
	if err := os.WriteFile(queries, []byte("select 'user' as kind, id, nickname as name, created as create_time from users;"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := moveread(t)
	for _, charset := range []string{"utf8mb4", "binary"} {
		if done := read("root@tcp("+address+")/messy?charset="+charset, "-big5", "mysql", queries, file); done.status != 0 {
			t.Fatal(done)
		}
		got, err := os.ReadFile(file)
		const want = `{"kind":"user","id":1,"name":"東北"}
{"kind":"user","id":2,"name":"東北","create_time":"2008-01-01 00:00:00"}
{"kind":"user","id":3,"name":"café","create_time":"2008-01-01 00:00:00"}
{"kind":"end","user":3}
`
		if err != nil || string(got) != want {
			t.Errorf("%s, %v: got\n%swant\n%s", charset, err, got, want)
		}
	}
}

// Nothing of a password is in the message of a connection that fails.
func TestMovereadKeepsTheAddressOfTheDatabaseSecret(t *testing.T) {
	t.Parallel()
	read := moveread(t)
	closed := launch.Address(t)
	for kind, source := range map[string]string{
		"mysql": "user:geheim@tcp(" + closed + ")/old", "postgres": "postgres://user:geheim@" + closed + "/old", "oracle": "geheim",
	} {
		done := read(source, kind, module+"/queries/old.sql", filepath.Join(t.TempDir(), "file"))
		if done.status != 1 || strings.Contains(done.out+done.notes, "geheim") {
			t.Errorf("%s: %v", kind, done)
		}
	}
}
