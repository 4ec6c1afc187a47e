package send

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
	"github.com/waybook/waybook/waybookctl/workers"
)

// Given counts users who had no password.
type Given struct {
	// Passwords is how many got one. Addressless is how many have no email address to log in with.
	Passwords, Addressless int64
}

// givenPassword is a line of a file of passwords.
type givenPassword struct {
	UserID   int64  `json:"user_id"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

// lineBegin begins each line of such a file, and maxLineBytes bounds it.
const (
	lineBegin    = `{"user_id":`
	maxLineBytes = 64 << 10
)

const (
	// passwordWorkers is how many passwords are set at a time. It leaves places for the hashes of logins.
	passwordWorkers = 2
	passwordPage    = 100
)

// passwordFile is a file that only its owner can read. A password is in it before the service has it.
type passwordFile struct {
	file *os.File
	// passwords are those of earlier runs, by user: some 100 bytes for each.
	passwords map[int64]string
}

// GivePasswords sets a random password for each user who has an email address and no password, and adds it to the
// file at path. A run that ended early is resumed with the same file.
func GivePasswords(ctx context.Context, services Services, path string, report progress.Reporter) (given Given, err error) {
	to, err := openPasswords(path)
	if err != nil {
		return given, err
	}
	defer func() { err = errors.Join(err, to.file.Close()) }()
	report.Start("giving passwords", progress.Records, 0)
	defer report.Finish()
	var mu sync.Mutex // held while a worker notes
	again := notingUnder(&mu, report.Note)
	for request := (&accountv1.ListUsersRequest{PageSize: passwordPage}); ; {
		var page *accountv1.ListUsersResponse
		if _, err := retry.Do(ctx, again, func() (err error) {
			page, err = services.Account.ListUsers(ctx, request)
			return err
		}); err != nil {
			return given, err
		}
		var without []givenPassword
		for _, user := range page.GetUsers() {
			switch {
			case user.GetHasPassword():
			case user.GetEmail() == "":
				given.Addressless++
			default:
				without = append(without, givenPassword{UserID: user.GetUserId(), Email: user.GetEmail()})
			}
		}
		if err := to.draw(without); err != nil {
			return given, err
		}
		if err := setPasswords(ctx, services, without, again); err != nil {
			return given, err
		}
		given.Passwords += int64(len(without))
		report.Reach(given.Passwords)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return given, nil
		}
	}
}

func setPasswords(ctx context.Context, services Services, all []givenPassword, again retry.Options) error {
	return workers.Each(ctx, passwordWorkers, all, func(ctx context.Context, g givenPassword) error {
		_, err := retry.Do(ctx, again, func() error {
			_, err := services.Account.UpdateUser(ctx, &accountv1.UpdateUserRequest{UserId: g.UserID, Password: &g.Password})
			return gone(err)
		})
		return err
	})
}

// openPasswords opens or makes a file, and reads the passwords of earlier runs. A line that a crash cut off does not
// count.
func openPasswords(path string) (*passwordFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &passwordFile{file, map[int64]string{}}
	if err := f.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *passwordFile) read() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s must be a file that only its owner can read; name a new one", f.file.Name())
	}
	switch isLocked, err := tryLock(f.file); {
	case err != nil:
		return err
	case !isLocked:
		return fmt.Errorf("another command gives the passwords in %s", f.file.Name())
	}
	lines, whole := bufio.NewReaderSize(f.file, maxLineBytes), int64(0)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && bytes.HasPrefix(line, []byte(lineBegin[:min(len(line), len(lineBegin))])) {
			break
		}
		var each givenPassword
		if err != nil || json.Unmarshal(line, &each) != nil || each.Password == "" {
			return fmt.Errorf("%s holds something else than passwords; name a new file", f.file.Name())
		}
		whole += int64(len(line))
		f.passwords[each.UserID] = each.Password
	}
	if err := f.file.Truncate(whole); err != nil {
		return err
	}
	_, err = f.file.Seek(whole, io.SeekStart)
	return err
}

// draw gives users their passwords, those of an earlier run or new ones, and returns when the new ones are safe.
func (f *passwordFile) draw(users []givenPassword) error {
	var text []byte
	for n := range users {
		isKnown := false
		if users[n].Password, isKnown = f.passwords[users[n].UserID]; isKnown {
			continue
		}
		users[n].Password = rand.Text()
		line, err := json.Marshal(users[n]) // #nosec G117 -- the file is for passwords
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if len(text) == 0 {
		return nil
	}
	if _, err := f.file.Write(text); err != nil {
		return err
	}
	return f.file.Sync()
}
