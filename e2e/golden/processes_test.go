package golden

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
)

// readyTimeout is how long a program may take to say where it listens.
const readyTimeout = 30 * time.Second

const module = "github.com/waybook/waybook/"

// startFiveProcesses builds the five programs and starts them as an operator does,
// each service on a store of its own.
func startFiveProcesses(t *testing.T) *deployment {
	bin := t.TempDir()
	if err := launch.Build(bin, launch.AsTested,
		module+"services/account/cmd/account", module+"services/album/cmd/album",
		module+"services/blog/cmd/blog", module+"services/poi/cmd/poi", module+"edge/cmd/edge"); err != nil {
		t.Fatal(err)
	}
	grpc := map[string]string{}
	services := []string{"account", "album", "blog", "poi"}
	for _, name := range services {
		args := []string{"-grpc=127.0.0.1:0", "-admin=127.0.0.1:0", "-data=" + t.TempDir()}
		if name != "account" {
			args = append(args, "-account="+grpc["account"])
		}
		grpc[name] = startProgram(t, filepath.Join(bin, name), args...)["grpc"]
	}
	args := []string{"-http=127.0.0.1:0", "-admin=127.0.0.1:0"}
	for _, name := range services {
		args = append(args, "-"+name+"="+grpc[name])
	}
	edge := startProgram(t, filepath.Join(bin, "edge"), args...)["edge"]
	return newDeployment(t, strings.TrimSuffix(edge, "/API.php"), func(name string) string { return grpc[name] })
}

// startProgram starts a program and returns the addresses that it prints, by what
// it calls them. The program is ended by SIGTERM and must end well.
func startProgram(t *testing.T, path string, args ...string) map[string]string {
	name := filepath.Base(path)
	diary := &diary{}
	program := exec.Command(path, args...)
	program.Env = plainEnvironment()
	program.Stderr = diary
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(program); err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
		diary.check(t, name)
	})
	addresses := make(chan map[string]string, 1)
	go readAddresses(out, addresses)
	select {
	case printed := <-addresses:
		if len(printed) < 2 {
			t.Fatalf("%s printed %v and logged %s", name, printed, diary)
		}
		return printed
	case <-time.After(readyTimeout):
		t.Fatalf("%s is not ready after %s and logged %s", name, readyTimeout, diary)
		return nil
	}
}

// readAddresses reads lines of a name and an address until it has the address of
// the admin port, which comes last. The rest is read so that it can be written.
func readAddresses(out io.Reader, addresses chan<- map[string]string) {
	printed := map[string]string{}
	lines := bufio.NewScanner(out)
	for printed["admin"] == "" && lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 2 {
			printed[words[0]] = words[1]
		}
	}
	addresses <- printed
	for lines.Scan() {
	}
}

// end asks a program to end and returns how it did; nil is status 0.
func end(program *exec.Cmd) error {
	err := program.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopTimeout, func() { program.Process.Kill() })
	defer kill.Stop()
	return errors.Join(err, program.Wait())
}

// plainEnvironment is the environment without Waybook's own variables, which
// would stand for flags.
func plainEnvironment() []string {
	var plain []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WAYBOOK_") {
			plain = append(plain, variable)
		}
	}
	return plain
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}
