package operations_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Whoever has a copy of a store has no password and no session (SECURITY.md).
func TestACopyOfAStoreHasNoPasswordAndNoSession(t *testing.T) {
	t.Parallel()
	p := startEmpty(t)
	on := operator{t, p.GRPC}
	const password = "correct horse of Ann"
	on.run(password+"\n", "user", "create", "Ann", "--email", "ann@waybook.example", "--password-stdin").expect(0)
	login, err := accountv1.NewAccountServiceClient(launch.Dial(t, p.GRPC)).
		Authenticate(t.Context(), &accountv1.AuthenticateRequest{Email: "ann@waybook.example", Password: password})
	if err != nil {
		t.Fatal(err)
	}

	backup, dump := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "dump")
	on.must("store", "backup", backup)
	p.End(os.Interrupt)
	on.must("store", "dump", dump, "--data", p.Data)
	for _, path := range []string{backup, dump, filepath.Join(p.Data, "waybook.db")} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range map[string]string{"password": password, "session": login.GetToken()} {
			if secret == "" || bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has the %s %q", filepath.Base(path), what, secret)
			}
		}
		for _, known := range []string{"ann@waybook.example", "$argon2id$"} {
			if !bytes.Contains(content, []byte(known)) {
				t.Errorf("%s has no %q; SECURITY.md says that it has", filepath.Base(path), known)
			}
		}
	}
}
