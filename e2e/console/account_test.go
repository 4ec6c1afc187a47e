package console_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

func TestWhereNobodyMayRegisterThereIsNoForm(t *testing.T) {
	p := open(t, start(t), "#/account")
	p.awaitText(id("account"), "Ask its operator")
	if p.has(id("register-form")) {
		t.Error("there is a form")
	}
	p.openSession()
	if p.has(id("session-register")) {
		t.Error("there is a link to the form")
	}
}

func TestAStrangerRegistersAndChangesProfileAndPassword(t *testing.T) {
	longform.Only(t)
	process := start(t, "-registration", "open")
	p := open(t, process, "")
	p.openSession()
	p.click(id("session-register"))
	p.shot("account-register")
	register := func(email string) {
		p.fill(id("account-email"), email)
		p.fill(id("account-nickname"), "阿新")
		p.fill(id("account-password"), "first password")
		p.click(id("register-send"))
	}
	register("demo@waybook.example")
	p.awaitText(id("register-failure"), "already")
	register("new@waybook.example")
	p.awaitElement(id("session") + `[data-state="open"]`)
	p.awaitElement(id("profile-form"))
	// A second session, as of a phone that is lost.
	if reply := ask(t, process, "POST", "/API.php?func=login", "email=new%40waybook.example&password=first+password"); !strings.Contains(reply.Body, "SUCCESS") {
		t.Fatal(reply.Body)
	}
	p.visit("#/account")
	p.await("both sessions", `document.querySelectorAll('[data-testid="sessions"] li').length === 2`)
	p.shot("account")
	p.click(id("close-others"))
	p.await("one session", `document.querySelectorAll('[data-testid="sessions"] li').length === 1`)

	picture := filepath.Join(t.TempDir(), "me.jpg")
	writePhoto(t, picture, 1)
	p.fill(id("account-nickname"), "阿新新")
	p.do("choose a picture", chromedp.SetUploadFiles(chromedp.CSS(id("account-icon")), []string{picture}))
	p.click(id("profile-send"))
	p.awaitElement(id("profile-done"))
	p.shot("account-icon")
	p.visit("#/explore/addAlbum?albumTitle=Hills&category=1&lat=25&lng=121")
	_, raw := p.send()
	seen := known{}
	seen.note(operation{}, raw)
	awaitReply(t, process, "func=getAlbum&albumID="+seen["albumID"], "upload/user/", true)
	p.visit("#/read/album/" + seen["albumID"])
	p.await("the picture of the owner", `document.querySelector('.read-icon img')?.naturalWidth > 0`)
	p.visit("#/account")
	p.await("the picture", `document.querySelector('.account-icon img')?.src.includes('/upload/user/')`)
	p.click(id("remove-icon"))
	p.click(id("remove-icon"))
	p.await("no picture", `!document.querySelector('.account-icon img')`)
	p.fill(id("account-oldPassword"), "not the password")
	p.fill(id("account-newPassword"), "second password")
	p.click(id("password-send"))
	p.awaitText(id("password-failure"), "password")
	p.fill(id("account-oldPassword"), "first password")
	p.click(id("password-send"))
	p.awaitElement(id("password-done"))

	p.openSession()
	p.click(id("logout"))
	p.awaitSession("")
	p.fill(id("login-email"), "new@waybook.example")
	p.fill(id("login-password"), "second password")
	p.click(id("login-send"))
	p.awaitElement(id("session") + `[data-state="open"]`)
}

// awaitReply waits until the reply to a query has, or lacks, a part. Profiles and hidden users are known within half a minute.
func awaitReply(t *testing.T, process *launch.Process, query, part string, has bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); strings.Contains(ask(t, process, "GET", "/API.php?"+query, "").Body, part) != has; {
		if time.Now().After(until) {
			t.Fatalf("%s: the reply has %q: %t", query, part, !has)
		}
		time.Sleep(time.Second)
	}
}

// An owner opens an account by invitation, and looks after an album. An operator hides users.
func TestANewSiteIsModerated(t *testing.T) {
	longform.Only(t)
	picture := filepath.Join(t.TempDir(), "me.jpg")
	writePhoto(t, picture, 1)
	for name, shown := range map[string]screen{
		"desktop": desktop, "phone": {width: 390, height: 844, scheme: "light"},
	} {
		t.Run(name, func(t *testing.T) {
			process := start(t, "-registration", "invite", "-demo=false")
			connection := launch.Dial(t, process.GRPC)
			accounts := accountv1.NewAccountServiceClient(connection)
			invitation, err := accounts.CreateInvitation(t.Context(), &accountv1.CreateInvitationRequest{})
			if err != nil {
				t.Fatal(err)
			}
			p := open(t, process, "")
			p.show(shown)
			p.openSession()
			p.click(id("session-register"))
			for field, text := range map[string]string{
				"email": "owner@waybook.example", "nickname": "小旅人", "password": "password of owner", "invitation": invitation.GetCode(),
			} {
				p.fill(id("account-"+field), text)
			}
			p.click(id("register-send"))
			p.awaitElement(id("profile-form"))
			p.do("choose a picture", chromedp.SetUploadFiles(chromedp.CSS(id("account-icon")), []string{picture}))
			p.click(id("profile-send"))
			p.awaitElement(id("profile-done"))
			p.shot("site-profile-" + name)

			p.visit("#/explore/addAlbum?albumTitle=Hills&category=1&lat=25&lng=121")
			_, raw := p.send()
			seen := known{}
			seen.note(operation{}, raw)
			album := numberOf(t, seen["albumID"])
			friend, spammer := launch.CreateUser(t, connection, "朋友"), launch.CreateUser(t, connection, "廣告")
			for _, by := range []int64{friend, spammer, friend, spammer, spammer} {
				if _, err := commentv1.NewCommentServiceClient(connection).AddComment(t.Context(), &commentv1.AddCommentRequest{
					AuthorId: by, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: fmt.Sprint("by ", by),
				}); err != nil {
					t.Fatal(err)
				}
			}
			query, place := "func=getAlbum&albumID="+seen["albumID"], "#/read/album/"+seen["albumID"]
			awaitReply(t, process, query, "upload/user/", true)
			comments := func(want int) {
				t.Helper()
				p.await(fmt.Sprint(want, " comments"), fmt.Sprintf(`document.querySelectorAll('[data-testid="comment"]').length === %d`, want))
			}
			p.visit(place)
			p.await("the picture of the owner", `document.querySelector('.read-icon img')?.naturalWidth > 0`)
			comments(5)
			p.shot("site-album-" + name)
			p.click(`li:first-child > .read-comment ` + id("remove-comment"))
			comments(4)
			removeAll := `li:last-child > .read-comment ` + id("remove-all-by")
			p.click(removeAll)
			p.awaitText(removeAll, "for good")
			p.click(removeAll)
			comments(1)

			hide := func(user int64, hidden bool) {
				t.Helper()
				if _, err := accounts.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Hidden: &hidden, Disabled: &hidden}); err != nil {
					t.Fatal(err)
				}
				part := fmt.Sprint("by ", friend)
				if user != friend {
					part = "SUCCESS"
				}
				awaitReply(t, process, query, part, !hidden)
				p.visit(place)
			}
			hide(friend, true)
			comments(0)
			p.shot("site-hidden-" + name)
			hide(friend, false)
			comments(1)
			owner := numberOf(t, value[string](p, `document.querySelector('[data-testid="owner"]').href.split('/').at(-1)`))
			hide(owner, true)
			p.awaitText(id("failure"), "This album does not exist")
			hide(owner, false)
			comments(1)
		})
	}
}

func numberOf(t *testing.T, text string) (number int64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &number); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return number
}
