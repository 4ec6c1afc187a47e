package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/standalone/demo"
)

// Greet prints the addresses of Waybook. If there is demo content, it also prints three
// curl commands that work as pasted.
func (a *App) Greet(ctx context.Context, out io.Writer) error {
	var shown *demo.Shown
	if a.hasDemo {
		var err error
		if shown, err = demo.Find(ctx, a.clients, a.dataDir); err != nil {
			return fmt.Errorf("demo content: %w", err)
		}
	}
	fmt.Fprint(out, "Waybook is ready.\n\n")
	if a.hasConsole {
		fmt.Fprintf(out, "  page   http://%s/\n", a.HTTP)
	}
	fmt.Fprintf(out, "  edge   http://%s/API.php\n  grpc   %s\n  admin  http://%s\n",
		a.HTTP, process.Target(a.GRPC), a.Admin)
	switch {
	case a.needsSignatures:
		fmt.Fprint(out, "\nRequests must be signed by an application: waybookctl application create NAME makes one,\n"+
			"and docs/signatures.md says how it signs.\n")
	case shown != nil:
		a.suggest(out, shown)
	}
	fmt.Fprint(out, "\nCtrl-C ends it.\n")
	return nil
}

// suggest prints commands to paste.
func (a *App) suggest(out io.Writer, shown *demo.Shown) {
	url := "http://" + a.HTTP.String() + "/API.php"
	read := fmt.Sprintf("func=getAlbum&albumID=%d", shown.AlbumID)
	if shown.AlbumID == 0 {
		read = fmt.Sprintf("func=getUserAlbumList&userID=%d", shown.UserID)
	}
	fmt.Fprintf(out, "\nTry it:\n\n  curl '%s?%s'\n  curl '%s?func=getCategoryPOIList&category=2'\n"+
		"  curl -b \"$(cat %s)\" -d func=addAlbum -d category=5 -d lat=25.0340 -d lng=121.5645 --data-urlencode albumTitle=我的相簿 %s\n",
		url, read, url, shellQuoted(shown.CookieFile), url)
	if a.hasLogin && shown.PasswordFile != "" {
		fmt.Fprintf(out, "\nfunc=login takes the email %s and the password in %s\n", demo.Email, shown.PasswordFile)
	}
}

// shellQuoted quotes a path for a POSIX shell if it needs that.
func shellQuoted(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@", r))
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
