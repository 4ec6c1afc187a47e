package piwigo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

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
