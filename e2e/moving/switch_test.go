package moving_test

import (
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/moving/movefile"
)

// clientCount is the number of old clients, and of users.
const clientCount = 6

// oldWriter is an old server with users who log in, and who add and change albums.
type oldWriter struct {
	mu       sync.Mutex
	users    map[string]int64 // by address
	sessions map[string]int64 // by idrand
	albums   []movefile.Album
}

// ServeHTTP answers login, addAlbum, updateAlbum and getAlbum.
func (o *oldWriter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	number := func(name string) int64 { n, _ := strconv.ParseInt(r.Form.Get(name), 10, 64); return n }
	title, reply := r.Form.Get("albumTitle"), "<status>FAILED</status><info>no</info>"
	idrand, _ := r.Cookie("idrand")
	user := int64(0)
	if idrand != nil {
		user = o.sessions[idrand.Value]
	}
	id := number("albumID")
	switch function := r.Form.Get("func"); {
	case function == "login":
		user, token := o.users[r.Form.Get("email")], fmt.Sprintf("%032x", len(o.sessions)+1)
		o.sessions[token] = user
		reply = fmt.Sprintf("<status>SUCCESS</status><id>%d</id><idrand>%s</idrand>", user, token)
	case function == "addAlbum" && user != 0:
		id = int64(len(o.albums) + 1)
		o.albums = append(o.albums, movefile.Album{
			ID: movefile.ID(fmt.Sprint(id)), OwnerID: movefile.ID(fmt.Sprint(user)), Title: title, Category: 1, CreateTime: movefile.Moment{Time: time.Now()},
		})
		reply = fmt.Sprintf("<status>SUCCESS</status><albumID>%d</albumID>", id)
	case function == "updateAlbum" && user != 0:
		o.albums[id-1].Title, o.albums[id-1].UpdateTime = title, movefile.Moment{Time: time.Now()}
		reply = "<status>SUCCESS</status>"
	case function == "getAlbum" && id > 0 && id <= int64(len(o.albums)):
		reply = fmt.Sprintf("<status>SUCCESS</status><albumTitle>%s</albumTitle>", o.albums[id-1].Title)
	}
	_, _ = io.WriteString(w, "<response>"+reply+"</response>") // the client may be gone
}

// export writes what the server has, to a new file.
func (o *oldWriter) export(t *testing.T) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var text strings.Builder
	out := movefile.NewWriter(&text)
	write := func(record movefile.Record) {
		if err := out.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	for email, user := range o.users {
		write(&movefile.User{
			ID: movefile.ID(fmt.Sprint(user)), Name: "user", Email: email, PasswordHash: fmt.Sprintf("%x", md5.Sum([]byte("secret"))),
		})
	}
	for token, user := range o.sessions {
		write(&movefile.Session{UserID: movefile.ID(fmt.Sprint(user)), IDRand: token, ExpireTime: movefile.Moment{Time: time.Now().Add(time.Hour)}})
	}
	for n := range o.albums {
		write(&o.albums[n])
	}
	if err := out.End(); err != nil {
		t.Fatal(err)
	}
	return small(t, strings.Split(strings.TrimSpace(text.String()), "\n")...)
}

// oldClient is a user who logs in, adds albums and renames them, and remembers what was acknowledged.
type oldClient struct {
	client  *waybooktest.Client
	email   string
	cookies []string
	titles  map[string]string // by album
	counts  [3]int            // acknowledged writes before, while and after the primary is read-only
	refused int
}

// ask sends a form, and returns the reply, which is empty if there was none.
func (c *oldClient) ask(cookie string, form url.Values) waybooktest.Reply {
	client := c.client.WithCookie(cookie)
	reply, err := client.Try(client.Form(http.MethodPost, form.Encode()))
	if err != nil {
		return waybooktest.Reply{}
	}
	return reply
}

// live uses the service until it is told to stop.
func (c *oldClient) live(phase *atomic.Int32, isDone *atomic.Bool) {
	for n := 0; !isDone.Load(); n++ {
		now := phase.Load()
		acknowledged := func(reply waybooktest.Reply) bool {
			isWritten := reply.Succeeded()
			if isWritten && phase.Load() == now {
				c.counts[now]++
			}
			if reply.Text("info") == "moving house" {
				c.refused++
			}
			return isWritten
		}
		if n%100 == 0 { // a user has 100 sessions at most
			if reply := c.ask("", url.Values{"func": {"login"}, "email": {c.email}, "password": {"secret"}}); acknowledged(reply) {
				c.cookies = append(c.cookies, "id="+reply.Text("id")+"; idrand="+reply.Text("idrand"))
			}
		}
		time.Sleep(time.Millisecond)
		if len(c.cookies) == 0 {
			continue
		}
		cookie, title := c.cookies[len(c.cookies)-1], fmt.Sprintf("%s at %d", c.email, n)
		form := url.Values{"func": {"addAlbum"}, "albumTitle": {title}, "category": {"1"}, "lat": {"0"}, "lng": {"0"}}
		reply := c.ask(cookie, form)
		if !acknowledged(reply) {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		id := reply.Text("albumID")
		c.titles[id] = title
		if acknowledged(c.ask(cookie, url.Values{"func": {"updateAlbum"}, "albumID": {id}, "albumTitle": {title + " later"}})) {
			c.titles[id] = title + " later"
		} else {
			c.titles[id] = "" // either title is right
		}
	}
}

// switchOver moves an old service that is in use, and returns how many acknowledged writes and logins were lost.
func switchOver(t *testing.T, readOnly bool) (lost, written int) {
	old := &oldWriter{users: map[string]int64{}, sessions: map[string]int64{}}
	data, http := t.TempDir(), launch.Address(t)
	start := func(more ...string) *launch.Process {
		return startOn(t, data, append(more, "-http", http, "-user-writes", "0")...)
	}
	var phase atomic.Int32
	var isDone atomic.Bool
	var running sync.WaitGroup
	clients := make([]*oldClient, clientCount)
	for n := range clients {
		email := fmt.Sprintf("%d@old.example", n+1)
		old.users[email] = int64(n + 1)
		clients[n] = &oldClient{client: waybooktest.ClientAt(t, http), email: email, titles: map[string]string{}}
	}
	address := serve(t, old)
	waybook := start("-primary", address)
	for _, c := range clients {
		running.Go(func() { c.live(&phase, &isDone) })
	}
	stop := func() {
		isDone.Store(true)
		running.Wait()
	}
	t.Cleanup(stop)
	moveIn := func(more ...string) {
		succeed(t, oldService{files: []string{old.export(t)}}.importInto(waybook, filepath.Join(t.TempDir(), "journal"), more...)...)
	}
	restart := func(now int32, more ...string) {
		if status := waybook.End(os.Interrupt); status != 0 {
			t.Errorf("standalone ended with status %d\n%s", status, waybook.Logged())
		}
		phase.Store(now)
		waybook = start(more...)
	}
	moveIn()
	if readOnly {
		restart(1, "-primary", address, "-primary-read-only", "moving house")
	}
	moveIn("--update")
	restart(2, "-shadow", address)
	time.Sleep(500 * time.Millisecond)
	stop()
	counts, refused := [3]int{}, 0
	for _, c := range clients {
		for n := range counts {
			counts[n] += c.counts[n]
		}
		refused += c.refused
		for id, title := range c.titles {
			if reply := album(t, waybook, id); (waybooktest.Reply{Body: reply}).Text("albumTitle") != title && (title != "" || reply == "") {
				lost++
			}
		}
		for _, cookie := range c.cookies {
			if reply := post(t, waybook, cookie, url.Values{"func": {"addAlbum"}}); !strings.Contains(reply, "MISSING PARAMETER") {
				lost++
			}
		}
	}
	if counts[0] == 0 || readOnly && (counts[1] != 0 || refused == 0) || counts[2] == 0 {
		t.Errorf("%v writes before, while and after the old server was read-only, %d refused", counts, refused)
	}
	return lost, counts[0] + counts[1] + counts[2]
}

func TestNoWriteAndNoLoginIsLostInASwitch(t *testing.T) {
	t.Parallel()
	lost, written := switchOver(t, true)
	if lost != 0 {
		t.Errorf("%d of %d writes and logins were lost", lost, written)
	}
	t.Logf("%d of %d writes and logins were lost", lost, written)
}

// The drill sees what is lost.
func TestASwitchWithoutAReadOnlyPrimaryLosesWrites(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	if lost, written := switchOver(t, false); lost == 0 {
		t.Errorf("%d of %d writes and logins were lost", lost, written)
	}
}
