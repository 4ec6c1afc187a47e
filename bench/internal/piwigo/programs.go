package piwigo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// programs are the paths of the servers, and of the program that makes a database.
type programs struct{ nginx, php, mariadb, mariadbInstall string }

// find returns the programs. An error names the packages of Debian to install.
func find() (p programs, err error) {
	var failed [4]error
	p.nginx, failed[0] = look("nginx", "nginx")
	p.php, failed[1] = look("php-fpm", "php-fpm", "php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1")
	p.mariadb, failed[2] = look("mariadb-server-core", "mariadbd")
	p.mariadbInstall, failed[3] = look("mariadb-server-core", "mariadb-install-db")
	if err := errors.Join(failed[:]...); err != nil {
		return p, err
	}
	modules, err := exec.Command(p.php, "-m").Output()
	if err != nil {
		return p, fmt.Errorf("%s -m: %w", p.php, err)
	}
	return p, checkModules(string(modules))
}

// look finds a program that has one of some names.
func look(of string, names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		path := filepath.Join("/usr/sbin", name) // not in the PATH of every user
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is missing; install the package %s", names[0], of)
}

// checkModules checks the modules that php-fpm lists, one a line.
func checkModules(listed string) error {
	var failed error
	for _, needed := range []struct{ module, of string }{
		{"mysqli", "php-mysql"}, {"gd", "php-gd"}, {"mbstring", "php-mbstring"}, {"xml", "php-xml"}, {"Zend OPcache", "php-opcache"},
	} {
		if !slices.Contains(strings.Split(listed, "\n"), needed.module) {
			failed = errors.Join(failed, fmt.Errorf("php-fpm has no module %s; install the package %s", needed.module, needed.of))
		}
	}
	return failed
}
