package rpc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	attemptsPerPair = 10
	attemptWindow   = 15 * time.Minute
)

func TestStrangersDoNotLockAUsersDeviceOutOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		emails := []string{"a@waybook.example", "b@waybook.example"}
		// They share an address, as in an office.
		device, stranger := p.newBrowser(t, p.Account, "192.0.2.1"), p.newBrowser(t, p.Account, "192.0.2.1")
		for _, email := range emails {
			p.newLogin(email, "the password")
			device.expectLogin("the first login", email, "the password", "")
		}
		for _, email := range emails {
			for n := range attemptsPerPair {
				stranger.expectLogin("a guess", email, fmt.Sprint("guess number ", n), "PASSWORD_INCORRECT")
			}
			stranger.expectLogin("one guess too many", email, "the password", "TOO_MANY_ATTEMPTS")
		}
		for _, email := range emails {
			device.expectLogin("the known device", strings.ToUpper(email), "the password", "")
		}
		if !device.isLoggedIn() || stranger.isLoggedIn() {
			t.Errorf("logged in: the device %t, the stranger %t", device.isLoggedIn(), stranger.isLoggedIn())
		}
		if len(device.Cookies) != 3 {
			t.Errorf("the device has the cookies %v", device.Cookies)
		}
		p.newBrowser(t, p.Account, "192.0.2.2").expectLogin("from another address, without a cookie", emails[0], "the password", "")
	})
}

func TestADeviceHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	p.newLogin("a@waybook.example", "password of a")
	thief, user := p.newBrowser(t, p.Account, "192.0.2.1"), p.newBrowser(t, p.Account, "192.0.2.2")
	thief.expectLogin("the first login", "a@waybook.example", "password of a", "")
	for n := range attemptsPerPair {
		thief.expectLogin("a guess", "a@waybook.example", fmt.Sprint("guess number ", n), "PASSWORD_INCORRECT")
	}
	thief.expectLogin("one guess too many", "a@waybook.example", "password of a", "TOO_MANY_ATTEMPTS")
	user.expectLogin("another device", "a@waybook.example", "password of a", "")
	p.Clock.Advance(attemptWindow)
	thief.expectLogin("in the next quarter of an hour", "a@waybook.example", "password of a", "")
}

func TestADeviceIsForgottenWithANewPasswordAndCloseAll(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	user := p.newLogin("a@waybook.example", "the password").GetUserId()
	password := "the password"
	for name, end := range p.endings(user) {
		device, stranger := p.newBrowser(t, p.Account, "192.0.2.1"), p.newBrowser(t, p.Account, "192.0.2.1")
		device.expectLogin("the first login", "a@waybook.example", password, "")
		got(t, 0, end())
		if name == "a new password" {
			password = "the new one"
		}
		for n := range attemptsPerPair {
			stranger.expectLogin("a guess", "a@waybook.example", fmt.Sprint("guess number ", n), "PASSWORD_INCORRECT")
		}
		device.expectLogin("after "+name, "a@waybook.example", password, "TOO_MANY_ATTEMPTS")
		p.Clock.Advance(attemptWindow)
	}
}
