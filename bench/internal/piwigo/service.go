package piwigo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"
)

// The administrator, whom the installation creates.
const admin, adminPassword = "webmaster", "webmaster"

// install sends the form of the installation.
func (g *Gallery) install() error {
	form := url.Values{
		"install": {"1"}, "prefix": {"piwigo_"}, "dbhost": {g.in("db.sock")}, "dbuser": {databaseUser}, "dbpasswd": {databasePassword}, "dbname": {database},
		"admin_name": {admin}, "admin_pass1": {adminPassword}, "admin_pass2": {adminPassword}, "admin_mail": {"webmaster@example.org"},
	}
	reply, err := http.PostForm("http://"+g.Address+"/install.php", form)
	if err != nil {
		return err
	}
	page, err := readAll(reply)
	if err == nil && !strings.Contains(string(page), "installation is completed") {
		err = errors.New("the installation is not completed")
	}
	if err != nil {
		err = fmt.Errorf("install.php: %w\n%s", err, page)
	}
	return err
}

func readAll(reply *http.Response) (body []byte, err error) {
	defer func() { err = errors.Join(err, reply.Body.Close()) }()
	if body, err = io.ReadAll(reply.Body); err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", reply.Status)
	}
	return body, err
}

// Session is that of a user, or of a visitor, at the web service.
type Session struct {
	gallery *Gallery
	client  http.Client
	// token must be a parameter of some methods.
	token string
}

// Visit opens a session of a visitor.
func (g *Gallery) Visit() (*Session, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &Session{gallery: g, client: http.Client{Jar: jar}}
	return s, s.readToken()
}

func (s *Session) readToken() error {
	var status struct {
		Token string `json:"pwg_token"`
	}
	err := s.Call("pwg.session.getStatus", nil, &status)
	s.token = status.Token
	return err
}

// Admin opens a session of the administrator.
func (g *Gallery) Admin() (*Session, error) { return g.login(admin, adminPassword) }

func (g *Gallery) login(name, password string) (*Session, error) {
	s, err := g.Visit()
	if err != nil {
		return nil, err
	}
	if err := s.Call("pwg.session.login", url.Values{"username": {name}, "password": {password}}, nil); err != nil {
		return nil, err
	}
	return s, s.readToken()
}

// NewUser creates a user who may add albums, and opens a session. Only the session of the administrator may.
func (s *Session) NewUser(name string) (*Session, error) {
	const password = "secret of a user"
	var made struct {
		Users []struct{ ID id }
	}
	if err := s.Call("pwg.users.add", url.Values{"username": {name}, "password": {password}}, &made); err != nil {
		return nil, err
	}
	if len(made.Users) != 1 {
		return nil, fmt.Errorf("pwg.users.add made %d users of %s", len(made.Users), name)
	}
	if err := s.Call("pwg.users.setInfo", url.Values{"user_id": {made.Users[0].ID.String()}, "status": {"admin"}}, nil); err != nil {
		return nil, err
	}
	return s.gallery.login(name, password)
}

// Cookie returns the value of a Cookie header for the session.
func (s *Session) Cookie() string {
	var pairs []string
	for _, cookie := range s.client.Jar.Cookies(&url.URL{Scheme: "http", Host: s.gallery.Address, Path: "/"}) {
		pairs = append(pairs, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(pairs, "; ")
}

// Call calls a method of the web service, and decodes its result unless result is nil.
func (s *Session) Call(method string, parameters url.Values, result any) error {
	form := url.Values{"method": {method}, "pwg_token": {s.token}}
	for name, values := range parameters {
		form[name] = values
	}
	return s.post(method, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), result)
}

// id is an identifier, which some replies have as a string.
type id = json.Number

// AddAlbum creates an album and returns its identifier.
func (s *Session) AddAlbum(name string) (string, error) {
	var made struct{ ID id }
	err := s.Call("pwg.categories.add", url.Values{"name": {name}, "position": {"last"}}, &made)
	return made.ID.String(), err
}

// AlbumsNamed returns the identifiers of all albums with a name.
func (s *Session) AlbumsNamed(name string) (ids []string, err error) {
	var list struct {
		Categories []struct {
			ID   id
			Name string
		}
	}
	err = s.Call("pwg.categories.getAdminList", nil, &list)
	for _, each := range list.Categories {
		if each.Name == name {
			ids = append(ids, each.ID.String())
		}
	}
	return ids, err
}

// DeleteAlbums deletes albums, if there are any.
func (s *Session) DeleteAlbums(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return s.Call("pwg.categories.delete", url.Values{"category_id": {strings.Join(ids, ",")}}, nil)
}

// AddPhoto uploads the n-th photo and shows it in albums. It returns its identifier.
func (s *Session) AddPhoto(n int, name, comment string, albums ...string) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	var failed error
	for field, value := range map[string]string{"method": "pwg.images.addSimple", "name": name, "comment": comment} {
		failed = errors.Join(failed, form.WriteField(field, value))
	}
	file, err := form.CreateFormFile("image", fmt.Sprintf("%d.jpg", n))
	if err := errors.Join(failed, err); err != nil {
		return "", err
	}
	picture := image.NewGray(image.Rect(0, 0, 160+n, 120)) // no two photos are the same
	if err := errors.Join(jpeg.Encode(file, picture, nil), form.Close()); err != nil {
		return "", err
	}
	var made struct {
		ID id `json:"image_id"`
	}
	if err := s.post("pwg.images.addSimple", form.FormDataContentType(), &body, &made); err != nil {
		return "", err
	}
	return made.ID.String(), s.Call("pwg.images.setInfo", url.Values{"image_id": {made.ID.String()}, "categories": {strings.Join(albums, ";")}}, nil)
}

// keyDelay is longer than a form of a comment has to be shown before it is accepted.
const keyDelay = 2200 * time.Millisecond

// Comment adds comments to a photo.
func (s *Session) Comment(photo, text string, times int) error {
	var info struct {
		Post struct{ Key string } `json:"comment_post"`
	}
	if err := s.Call("pwg.images.getInfo", url.Values{"image_id": {photo}}, &info); err != nil {
		return err
	}
	time.Sleep(keyDelay)
	for range times {
		form := url.Values{"image_id": {photo}, "content": {text}, "key": {info.Post.Key}}
		if err := s.Call("pwg.images.addComment", form, nil); err != nil {
			return err
		}
	}
	return nil
}

// post sends the call of a method. Its reply is JSON.
func (s *Session) post(method, contentType string, body io.Reader, result any) error {
	reply, err := s.client.Post("http://"+s.gallery.Address+"/ws.php?format=json", contentType, body)
	if err != nil {
		return err
	}
	text, err := readAll(reply)
	var decoded struct {
		Stat, Message string
		Result        json.RawMessage
	}
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
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
