package mongotest

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongowire"
)

// postgreSQLUser is the user who runs PostgreSQL if root runs the tests, because root may not. Debian's package has it.
const postgreSQLUser = "postgres"

// StartOnPostgreSQL is StartServer with a FerretDB of its own, on PostgreSQL. It skips the test if the programs of
// PostgreSQL are missing.
func StartOnPostgreSQL(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	return startAlone(tb, config, "-postgresql", StartPostgreSQL(tb))
}

// untilInputEnds runs a program until the standard input ends, as when this process is killed.
const untilInputEnds = `"$@" & read -r _; kill -INT $!; wait $!`

// StartPostgreSQL runs PostgreSQL until the test ends, and returns the URL of a database.
func StartPostgreSQL(tb testing.TB) (url string) {
	tb.Helper()
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(programs) == 0 {
		tb.Skip("SKIPPED: no postgres program; install Debian's package postgresql")
	}
	programFolder := filepath.Dir(programs[len(programs)-1])
	data, err := os.MkdirTemp("", "waybook-postgresql")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(data); err != nil {
			tb.Error(err)
		}
	})
	var as []string
	if os.Getuid() == 0 {
		as = []string{"runuser", "-u", postgreSQLUser, "--"}
		if err := give(data, postgreSQLUser); err != nil {
			tb.Fatal(err)
		}
	}
	run := func(args ...string) *exec.Cmd {
		args = slices.Concat(as, args)
		command := exec.Command(args[0], args[1:]...)
		command.Dir, command.Env = data, append(os.Environ(), "PGDATA="+data)
		return command
	}
	initialize := run(filepath.Join(programFolder, "initdb"), "-A", "trust", "-U", postgreSQLUser, "-E", "UTF8", "--locale=C", "--no-sync")
	if output, err := initialize.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, output)
	}
	address := launch.Address(tb)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		tb.Fatal(err)
	}
	server := run("sh", "-c", untilInputEnds, "sh", programs[len(programs)-1], "-h", host, "-p", port, "-k", data, "-c", "fsync=off", "-c", "max_connections=300")
	input, err := server.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(input.Close(), server.Wait()); err != nil {
			tb.Errorf("PostgreSQL: %v", err)
		}
		if tb.Failed() {
			tb.Logf("PostgreSQL: %s", log.Bytes())
		}
	})
	for began := time.Now(); run(filepath.Join(programFolder, "pg_isready"), "-h", host, "-p", port).Run() != nil; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			tb.Fatal("PostgreSQL does not answer")
		}
	}
	return "postgres://" + postgreSQLUser + "@" + address + "/postgres"
}

// give makes a user the owner of a directory.
func give(directory, name string) error {
	owner, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, uidErr := strconv.Atoi(owner.Uid)
	gid, gidErr := strconv.Atoi(owner.Gid)
	return errors.Join(uidErr, gidErr, os.Chown(directory, uid, gid))
}
