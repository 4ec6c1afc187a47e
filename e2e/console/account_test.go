package console_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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
	// Replies show a new profile within half a minute.
	for until := time.Now().Add(time.Minute); !strings.Contains(ask(t, process, "GET", "/API.php?func=getAlbum&albumID="+seen["albumID"], "").Body, "upload/user/"); {
		if time.Now().After(until) {
			t.Fatal("the album does not show the picture of its owner")
		}
		time.Sleep(time.Second)
	}
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

func TestAnOwnerRemovesAllCommentsOfAUser(t *testing.T) {
	longform.Only(t)
	process := start(t)
	user, token := demoSession(t, process)
	connection := launch.Dial(t, process.GRPC)
	spammer := launch.CreateUser(t, connection, "廣告")
	seen := known{}
	seen.note(operation{}, ask(t, process, "GET", "/API.php?func=getUserAlbumList&userID="+user, "").Body)
	var album int64
	if _, err := fmt.Sscan(seen["albumID"], &album); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := commentv1.NewCommentServiceClient(connection).AddComment(t.Context(), &commentv1.AddCommentRequest{
			AuthorId: spammer, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: "便宜",
		}); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, process, "#/read/album/"+seen["albumID"])
	p.paste(user, token)
	p.await("the comments", `[...document.querySelectorAll('[data-testid="comment"]')].filter(each => each.innerText.includes('便宜')).length === 3`)
	p.click(`li:last-child > .read-comment ` + id("remove-all-by"))
	p.awaitText(`li:last-child > .read-comment `+id("remove-all-by"), "for good")
	p.click(`li:last-child > .read-comment ` + id("remove-all-by"))
	p.await("no comments of the user", `document.querySelectorAll('[data-testid="comment"]').length === 1`)
}
