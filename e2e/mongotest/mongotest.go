// Package mongotest runs a server of MongoDB's wire protocol for tests: FerretDB on SQLite, behind
// the face of package mongowire. Use it to test functions, never speed.
package mongotest

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// FerretDB is the package of the program that runs FerretDB.
const FerretDB = "github.com/waybook/waybook/e2e/mongotest/ferretdb"

// ferretInput is the standard input of FerretDB. It closes when this process ends, which ends
// FerretDB.
var ferretInput io.Closer

// ferret runs FerretDB as long as this process runs, and returns its address. All tests of the
// process share it, each with databases of its own.
var ferret = sync.OnceValues(func() (address string, err error) {
	command := exec.Command("go", "run", FerretDB)
	command.Stderr = os.Stderr
	if ferretInput, err = command.StdinPipe(); err != nil {
		return "", err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := command.Start(); err != nil {
		return "", err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if name, bound, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name == "grpc" {
			return strings.TrimSpace(bound), nil
		}
	}
	return "", fmt.Errorf("FerretDB printed no address: %w", command.Wait())
})

// Database returns an unused database name.
func Database() string {
	return "test_" + strings.ToLower(rand.Text())
}

// InDatabase replaces the database in a URI and keeps the authentication database.
func InDatabase(uri, name string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	rest, options, _ := strings.Cut(rest, "?")
	hosts, database, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") && !strings.Contains(strings.ToLower(options), "authsource=") {
		if database == "" {
			database = "admin"
		}
		options = strings.TrimPrefix(options+"&authSource="+database, "&")
	}
	if options != "" {
		options = "?" + options
	}
	return scheme + "://" + hosts + "/" + name + options
}
