// Package piwigo runs a gallery of Piwigo, with the servers that it needs, to compare Waybook with: nginx,
// php-fpm and MariaDB, with their files below one directory and set up for speed.
package piwigo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybook/waybook/bench/internal/process"
)

// workers is the number of processes of php-fpm. Each serves a request at a time.
const workers = 4

// needed are the programs, and the modules of php-fpm, with the packages of Debian that have them.
var (
	needed        = [][2]string{{"nginx", "nginx"}, {"php-fpm", "php-fpm"}, {"mariadbd", "mariadb-server-core"}, {"mariadb-install-db", "mariadb-server-core"}}
	neededModules = [][2]string{{"mysqli", "php-mysql"}, {"gd", "php-gd"}, {"mbstring", "php-mbstring"}, {"xml", "php-xml"}, {"Zend OPcache", "php-opcache"}}
)

// Gallery is a running Piwigo.
type Gallery struct {
	// Address is host:port of nginx.
	Address string
	// Servers are nginx, php-fpm and MariaDB.
	Servers []*process.Process
	// programs are the paths of needed.
	programs map[string]string
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

// Start copies Piwigo from the directory source to the empty one directory, starts the servers and installs it.
// Stop ends them.
func Start(source, directory string) (*Gallery, error) {
	found, err := find()
	if err != nil {
		return nil, err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return nil, err
	}
	g := &Gallery{programs: found, directory: directory, code: filepath.Join(directory, "piwigo")}
	if err := os.CopyFS(g.code, os.DirFS(source)); err != nil {
		return nil, err
	}
	for _, step := range []func() error{g.configure, g.startMariaDB, g.startPHP, g.startNginx, g.install} {
		if err := step(); err != nil {
			return nil, errors.Join(err, g.Stop())
		}
	}
	return g, nil
}

// find returns the paths of the needed programs.
func find() (map[string]string, error) {
	found := map[string]string{}
	var missing error
	for _, each := range needed {
		// The PATH of an ordinary user may have no /usr/sbin. A name may end with a version.
		for _, directory := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") {
			for _, pattern := range []string{each[0], each[0] + "[0-9]*"} {
				if paths, err := filepath.Glob(filepath.Join(directory, pattern)); err == nil && len(paths) > 0 && found[each[0]] == "" {
					found[each[0]] = paths[0]
				}
			}
		}
		if found[each[0]] == "" {
			missing = errors.Join(missing, fmt.Errorf("%s is missing; install the package %s", each[0], each[1]))
		}
	}
	if missing != nil {
		return nil, missing
	}
	listed, err := exec.Command(found["php-fpm"], "-m").Output()
	if err != nil {
		return nil, fmt.Errorf("%s -m: %w", found["php-fpm"], err)
	}
	return found, checkModules(string(listed))
}

// checkModules checks the modules that php-fpm lists, one a line.
func checkModules(listed string) (missing error) {
	for _, each := range neededModules {
		if !slices.Contains(strings.Split(listed, "\n"), each[0]) {
			missing = errors.Join(missing, fmt.Errorf("php-fpm has no module %s; install the package %s", each[0], each[1]))
		}
	}
	return missing
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

// configure changes the copy of Piwigo. Tables of a new database are InnoDB, whose writes are durable, instead of
// MyISAM. Sessions and caches stay MyISAM, so that no read waits for a disk. Comments are on. Notices of PHP,
// which concurrent writes cause, stay out of replies.
func (g *Gallery) configure() error {
	structure, initial := filepath.Join(g.code, "install/piwigo_structure-mysql.sql"), filepath.Join(g.code, "install/config.sql")
	tables, err := os.ReadFile(structure)
	rows, failed := os.ReadFile(initial)
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	const off, on = "('activate_comments','false'", "('activate_comments','true'"
	if !strings.Contains(string(rows), off) || !strings.Contains(string(tables), "ENGINE=MyISAM") {
		return errors.New("the source is not that of Piwigo 16: its files in install/ differ")
	}
	return errors.Join(
		os.WriteFile(structure, []byte(durable(string(tables))), 0o600),                 // #nosec G703 -- a copy that the tool made
		os.WriteFile(initial, []byte(strings.Replace(string(rows), off, on, 1)), 0o600), // #nosec G703 -- as above
		os.WriteFile(filepath.Join(g.code, "local/config/config.inc.php"), []byte("<?php $conf['show_php_errors_on_frontend'] = false;\n"), 0o600),
	)
}

// durable makes tables InnoDB, except those of sessions and caches.
func durable(statements string) string {
	const create = "CREATE TABLE "
	tables := strings.Split(statements, create)
	for i, table := range tables {
		if !strings.HasPrefix(table, "`piwigo_sessions`") && !strings.HasPrefix(table, "`piwigo_user_cache") {
			tables[i] = strings.ReplaceAll(table, "ENGINE=MyISAM", "ENGINE=InnoDB")
		}
	}
	return strings.Join(tables, create)
}

// startMariaDB starts MariaDB on new data, which include an empty database "test".
func (g *Gallery) startMariaDB() error {
	data := "--datadir=" + g.in("mariadb")
	made := exec.Command(g.programs["mariadb-install-db"], "--no-defaults", data, "--auth-root-authentication-method=normal")
	if output, err := made.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", made, err, output)
	}
	args := []string{
		"--no-defaults", data, "--socket=" + g.in("db.sock"), "--skip-networking",
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M", "--key-buffer-size=64M",
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	return g.start("unix", g.in("db.sock"), g.programs["mariadbd"], args...)
}

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
	return g.start("unix", g.in("php.sock"), g.programs["php-fpm"], args...)
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
	return g.start("tcp", g.Address, g.programs["nginx"], "-p", g.directory, "-c", g.in("nginx.conf"), "-e", "stderr")
}

// The administrator, whom the installation creates, and the password of all users.
const admin, password = "webmaster", "secret of a user"

// install sends the form of the installation.
func (g *Gallery) install() error {
	reply, err := http.PostForm("http://"+g.Address+"/install.php", url.Values{
		"install": {"1"}, "prefix": {"piwigo_"}, "dbhost": {g.in("db.sock")}, "dbuser": {"root"}, "dbname": {"test"},
		"admin_name": {admin}, "admin_pass1": {password}, "admin_pass2": {password}, "admin_mail": {"webmaster@example.org"},
	})
	if err != nil {
		return err
	}
	page, err := readAll(reply)
	if err == nil && !strings.Contains(string(page), "installation is completed") {
		err = fmt.Errorf("install.php replied\n%s", page)
	}
	return err
}

func readAll(reply *http.Response) (body []byte, err error) {
	defer func() { err = errors.Join(err, reply.Body.Close()) }()
	return io.ReadAll(reply.Body)
}

// Session is that of a user at the web service.
type Session struct {
	// Cookie is the value of the Cookie header.
	Cookie string
	// address is that of the gallery, and token must be a parameter of some methods.
	address, token string
}

// Login opens a session of the administrator.
func (g *Gallery) Login() (*Session, error) { return login(g.Address, admin) }

func login(address, name string) (*Session, error) {
	s := &Session{address: address}
	if err := s.Call("pwg.session.login", nil, "username", name, "password", password); err != nil {
		return nil, err
	}
	var status struct {
		Token string `json:"pwg_token"`
	}
	err := s.Call("pwg.session.getStatus", &status)
	s.token = status.Token
	return s, err
}

// AddUser adds a user who may add albums, and opens a session. The caller is the administrator.
func (s *Session) AddUser(name string) (*Session, error) {
	var added struct{ Users []struct{ ID json.Number } }
	if err := s.Call("pwg.users.add", &added, "username", name, "password", password); err != nil {
		return nil, err
	}
	if len(added.Users) != 1 {
		return nil, fmt.Errorf("pwg.users.add added %d users of name %s", len(added.Users), name)
	}
	if err := s.Call("pwg.users.setInfo", nil, "user_id", added.Users[0].ID.String(), "status", "admin"); err != nil {
		return nil, err
	}
	return login(s.address, name)
}

// Add calls a method that adds an album or a photo, and returns its identifier.
func (s *Session) Add(method string, parameters ...string) (string, error) {
	var added struct {
		ID    json.Number
		Photo json.Number `json:"image_id"`
	}
	err := s.Call(method, &added, parameters...)
	return string(added.ID + added.Photo), err
}

// Call calls a method with parameters, each with its name before it. It decodes the result unless result is nil.
func (s *Session) Call(method string, result any, parameters ...string) error {
	form := url.Values{"method": {method}, "pwg_token": {s.token}}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+s.address+"/ws.php?format=json", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", s.Cookie)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	text, err := readAll(reply)
	for _, cookie := range reply.Cookies() {
		if cookie.Name == "pwg_id" {
			s.Cookie = cookie.Name + "=" + cookie.Value // the last one counts
		}
	}
	var decoded struct {
		Stat, Message string
		Result        json.RawMessage
	}
	err = errors.Join(err, json.Unmarshal(text, &decoded))
	if err == nil && decoded.Stat != "ok" {
		err = errors.New(decoded.Message)
	}
	if err == nil && result != nil {
		err = json.Unmarshal(decoded.Result, result)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", method, err, text)
	}
	return nil
}
