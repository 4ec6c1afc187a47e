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

	"github.com/waybook/waybook/e2e/jsonv2"
)

// FerretDB is the package of the program that runs FerretDB. It is built in jsonv2.Environment: most of
// its time goes into decoding documents, because it answers each query with a scan.
const FerretDB = "github.com/waybook/waybook/e2e/mongotest/ferretdb"

// ferret is a running FerretDB.
type ferret struct {
	address string
	// input is its standard input. FerretDB ends when it closes, which happens when this process
	// ends, or when nothing refers to it any more.
	input io.Closer
}

// theFerret runs FerretDB as long as this process runs. All tests of the process share it, each
// with databases of its own.
var theFerret = sync.OnceValues(func() (ferret, error) { return startFerret() })

func startFerret(flags ...string) (ferret, error) {
	command := exec.Command("go", append([]string{"run", FerretDB}, flags...)...)
	command.Env, command.Stderr = jsonv2.Environment(), os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return ferret{}, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return ferret{}, err
	}
	if err := command.Start(); err != nil {
		return ferret{}, err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if name, bound, _ := strings.Cut(strings.TrimSpace(lines.Text()), " "); name == "grpc" {
			return ferret{address: strings.TrimSpace(bound), input: input}, nil
		}
	}
	return ferret{}, fmt.Errorf("FerretDB printed no address: %w", command.Wait())
}

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
