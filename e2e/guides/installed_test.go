package guides_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// library is something that a client needs besides Waybook.
type library struct {
	// name is what the reader of a skip has to install.
	name string
	// command succeeds if it is installed, with input as its standard input.
	command []string
	input   string
}

// The libraries of the clients.
var (
	phpCurl = library{name: "PHP with its extension curl", command: []string{"php", "-r", "exit(extension_loaded('curl') ? 0 : 1);"}}
	phpXML  = library{name: "PHP with its extension SimpleXML", command: []string{"php", "-r", "exit(extension_loaded('simplexml') ? 0 : 1);"}}
	java    = library{name: "javac", command: []string{"javac", "-version"}}
	apache  = library{name: "Apache HttpClient 4 (" + apacheJars + ")", command: append([]string{"ls"}, strings.Split(apacheJars, ":")...)}
	python  = library{name: "Python 3", command: []string{"python3", "-V"}}
	lwp     = library{name: "Perl with LWP", command: []string{"perl", "-MLWP::UserAgent", "-e", "1"}}
	perlXML = library{name: "Perl with XML::LibXML", command: []string{"perl", "-MXML::LibXML", "-e", "1"}}
	tcl     = library{name: "Tcl with its package http", command: []string{"tclsh"}, input: "exit [catch {package require http}]\n"}
	tdom    = library{name: "Tcl with the package tdom", command: []string{"tclsh"}, input: "exit [catch {package require tdom}]\n"}
	curl    = library{name: "curl", command: []string{"curl", "-V"}}
	dotnet  = library{name: "the .NET SDK", command: []string{"dotnet", "--version"}}
)

// apacheJars are the files of Apache HttpClient, where Debian's libhttpclient-java has them.
const apacheJars = "/usr/share/java/httpclient.jar:/usr/share/java/httpcore.jar:/usr/share/java/commons-logging.jar:/usr/share/java/commons-codec.jar"

func (l *library) isInstalled() bool {
	command := exec.Command(l.command[0], l.command[1:]...)
	command.Stdin = strings.NewReader(l.input)
	return command.Run() == nil
}

// need skips the test unless all libraries are installed.
func need(t *testing.T, libraries []library) {
	t.Helper()
	for _, each := range libraries {
		if !each.isInstalled() {
			t.Skipf("SKIPPED: %s is not installed, so this client was not run", each.name)
		}
	}
}

// compileJava compiles the Java programs of the page, as far as the libraries that they need are installed.
func compileJava(programs map[string]string, folder string) error {
	if !java.isInstalled() {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	args := []string{"-encoding", "UTF-8", "-d", folder, "-cp", apacheJars}
	for name, text := range programs {
		if filepath.Ext(name) != ".java" || strings.HasPrefix(name, "Apache") && !apache.isInstalled() {
			continue
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		args = append(args, path)
	}
	if output, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, output)
	}
	return nil
}
