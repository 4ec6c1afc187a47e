//go:build linux

package mongotest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongowire"
)

// postgreSQLUser is the user who runs PostgreSQL if root runs the tests, because root may not. Debian's package has it.
const postgreSQLUser = "postgres"

// StartOnPostgreSQL is StartServer with a FerretDB of its own, on PostgreSQL. It skips the test if the programs of
// PostgreSQL are missing. They take many commands at a time.
func StartOnPostgreSQL(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	running, err := startFerret("-postgresql", startPostgreSQL(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := running.input.Close(); err != nil {
			tb.Error(err)
		}
	})
	config.Backend = running.address
	return listen(tb, config)
}

// startPostgreSQL runs PostgreSQL until the test ends, and returns the URL of a database.
func startPostgreSQL(tb testing.TB) (url string) {
	tb.Helper()
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(programs) == 0 {
		tb.Skip("SKIPPED: no postgres program; install Debian's package postgresql")
	}
	programFolder := filepath.Dir(programs[len(programs)-1])
	as := userOf(tb)
	data, err := os.MkdirTemp("", "waybook-postgresql")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(data) })
	if as.Credential != nil {
		if err := os.Chown(data, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
			tb.Fatal(err)
		}
	}
	run := func(name string, args ...string) *exec.Cmd {
		command := exec.Command(filepath.Join(programFolder, name), args...)
		command.Dir, command.Env, command.SysProcAttr = data, append(os.Environ(), "PGDATA="+data), as
		return command
	}
	if output, err := run("initdb", "-A", "trust", "-U", postgreSQLUser, "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, output)
	}
	address := launch.Address(tb)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		tb.Fatal(err)
	}
	var log bytes.Buffer
	server := run("postgres", "-h", host, "-p", port, "-k", data, "-c", "fsync=off", "-c", "max_connections=300")
	server.Stderr = &log
	if err := server.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
		if tb.Failed() {
			tb.Logf("PostgreSQL: %s", log.Bytes())
		}
	})
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if run("pg_isready", "-h", host, "-p", port).Run() == nil {
			break
		}
		if time.Since(began) > time.Minute {
			tb.Fatal("PostgreSQL does not answer")
		}
	}
	return "postgres://" + postgreSQLUser + "@" + address + "/postgres"
}

// userOf returns the attributes of a process that is not root's and that ends with this one.
func userOf(tb testing.TB) *syscall.SysProcAttr {
	tb.Helper()
	as := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		return as
	}
	found, err := user.Lookup(postgreSQLUser)
	if err != nil {
		tb.Fatal(err)
	}
	uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		tb.Fatal(uidErr, gidErr)
	}
	as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return as
}
