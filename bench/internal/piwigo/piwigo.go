// Package piwigo runs a gallery of Piwigo, with the servers that it needs, to compare Waybook with: nginx,
// php-fpm and MariaDB, with their files below one directory and set up for speed.
package piwigo

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/waybook/waybook/bench/internal/process"
)

// workers is the number of processes of php-fpm. Each has at most one request at a time.
const workers = 4

// Gallery is a running Piwigo. It is empty at first.
type Gallery struct {
	// Address is host:port of nginx.
	Address string
	// Servers are nginx, php-fpm and MariaDB.
	Servers []*process.Process

	programs programs
	// directory has the files of the servers, and code is the part of it with Piwigo.
	directory, code string
}

// CheckSource returns an error unless a directory has the source of a Piwigo.
func CheckSource(source string) error {
	if _, err := os.Stat(filepath.Join(source, "ws.php")); err != nil {
		return fmt.Errorf("%q is not the unpacked source of Piwigo: %w", source, err)
	}
	return nil
}

// Start copies Piwigo from the directory source to the empty one directory, starts its servers and installs it.
// Stop ends them.
func Start(source, directory string) (*Gallery, error) {
	found, err := find()
	if err != nil {
		return nil, err
	}
	g := &Gallery{programs: found, directory: directory, code: filepath.Join(directory, "piwigo")}
	if err := os.CopyFS(g.code, os.DirFS(source)); err != nil {
		return nil, err
	}
	for _, step := range []func() error{g.prepareTables, g.startMariaDB, g.startPHP, g.startNginx, g.install} {
		if err := step(); err != nil {
			return nil, errors.Join(err, g.Stop())
		}
	}
	return g, nil
}

// Stop stops the servers.
func (g *Gallery) Stop() error {
	var failed error
	for _, server := range g.Servers {
		failed = errors.Join(failed, server.Stop())
	}
	return failed
}

// in returns the path of a file of the servers.
func (g *Gallery) in(file string) string { return filepath.Join(g.directory, file) }

func (g *Gallery) start(network, address, binary string, args ...string) error {
	started, err := process.StartForeign(network, address, binary, args...)
	if err == nil {
		g.Servers = append([]*process.Process{started}, g.Servers...)
	}
	return err
}

// prepareTables changes what a new database is made from. Its tables are InnoDB, whose writes are durable,
// instead of MyISAM. Sessions and caches stay MyISAM, so that no read waits for a disk. Comments are on. Notices
// of PHP, which concurrent writes cause, stay out of replies.
func (g *Gallery) prepareTables() error {
	const structure, settings = "install/piwigo_structure-mysql.sql", "install/config.sql"
	text, err := os.ReadFile(filepath.Join(g.code, structure))
	if err != nil {
		return err
	}
	tables := strings.Split(string(text), "CREATE TABLE ")
	for i, table := range tables {
		if !strings.HasPrefix(table, "`piwigo_sessions`") && !strings.HasPrefix(table, "`piwigo_user_cache") {
			tables[i] = strings.ReplaceAll(table, "ENGINE=MyISAM", "ENGINE=InnoDB")
		}
	}
	initial, err := os.ReadFile(filepath.Join(g.code, settings))
	if err != nil {
		return err
	}
	const off, on = "('activate_comments','false'", "('activate_comments','true'"
	if len(tables) < 2 || !strings.Contains(string(initial)+on, off) {
		return fmt.Errorf("%s and %s are not those of Piwigo 16", structure, settings)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(g.code, structure), []byte(strings.Join(tables, "CREATE TABLE ")), 0o600),
		os.WriteFile(filepath.Join(g.code, settings), []byte(strings.Replace(string(initial), off, on, 1)), 0o600),
		os.WriteFile(filepath.Join(g.code, "local/config/config.inc.php"), []byte("<?php $conf['show_php_errors_on_frontend'] = false;\n"), 0o600),
	)
}

const database, databaseUser, databasePassword = "piwigo", "piwigo", "piwigo"

// startMariaDB starts MariaDB on a new directory of data, reachable by a socket.
func (g *Gallery) startMariaDB() error {
	data := "--datadir=" + g.in("mariadb")
	made := exec.Command(g.programs.mariadbInstall, "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db")
	if output, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", made, err, output)
	}
	statements := fmt.Sprintf("CREATE DATABASE %s;\nCREATE USER %s@localhost IDENTIFIED BY '%s';\nGRANT ALL ON %[1]s.* TO %[2]s@localhost;\n",
		database, databaseUser, databasePassword)
	if err := os.WriteFile(g.in("init.sql"), []byte(statements), 0o600); err != nil {
		return err
	}
	args := []string{
		"--no-defaults", data, "--socket=" + g.in("db.sock"), "--skip-networking", "--init-file=" + g.in("init.sql"),
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M", "--key-buffer-size=64M",
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	return g.start("unix", g.in("db.sock"), g.programs.mariadb, args...)
}

// startPHP starts php-fpm, reachable by a socket.
func (g *Gallery) startPHP() error {
	text := fmt.Sprintf("[global]\nerror_log = %s\ndaemonize = no\n[piwigo]\nlisten = %s\npm = static\npm.max_children = %d\n",
		g.in("php.log"), g.in("php.sock"), workers)
	args := []string{
		"--nodaemonize", "--fpm-config", g.in("php.conf"),
		"-d", "opcache.enable=1", "-d", "opcache.validate_timestamps=0", "-d", "display_errors=0", "-d", "log_errors=0",
	}
	if os.Getuid() == 0 {
		text += "user = root\n"
		args = append(args, "--allow-to-run-as-root")
	}
	if err := os.WriteFile(g.in("php.conf"), []byte(text), 0o600); err != nil {
		return err
	}
	return g.start("unix", g.in("php.sock"), g.programs.php, args...)
}

// nginxConfig needs the user directive, the directory of the servers, the address and the code.
const nginxConfig = `%[1]s
daemon off;
worker_processes auto;
pid %[2]s/nginx.pid;
error_log stderr;
events {}
http {
	access_log off;
	keepalive_timeout 1h;
	keepalive_requests 1000000000;
	client_body_temp_path %[2]s/body;
	fastcgi_temp_path %[2]s/fastcgi;
	proxy_temp_path %[2]s/proxy;
	uwsgi_temp_path %[2]s/uwsgi;
	scgi_temp_path %[2]s/scgi;
	server {
		listen %[3]s;
		root %[4]s;
		location ~ \.php$ {
			fastcgi_pass unix:%[2]s/php.sock;
			include /etc/nginx/fastcgi.conf;
		}
	}
}
`

// startNginx starts nginx on a free port.
func (g *Gallery) startNginx() error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g.Address = free.Addr().String()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	text := fmt.Sprintf(nginxConfig, user, g.directory, g.Address, g.code)
	if err := errors.Join(free.Close(), os.WriteFile(g.in("nginx.conf"), []byte(text), 0o600)); err != nil {
		return err
	}
	return g.start("tcp", g.Address, g.programs.nginx, "-p", g.directory, "-c", g.in("nginx.conf"), "-e", "stderr")
}
