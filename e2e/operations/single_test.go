package operations_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// What the overlay single does in a cluster: a backup with a certificate of its own while the program serves, the
// loss of the store, and a restore.
func TestTheOverlaySingleBacksUpAndRestores(t *testing.T) {
	t.Parallel()
	certificates, backups := launch.NewCertificates(t), t.TempDir()
	as := func(name string) []string {
		files := certificates.Files(name)
		return []string{"--tls-cert", files.Certificate, "--tls-key", files.Key, "--tls-ca", files.Authorities}
	}
	start := func(data string) *launch.Process {
		t.Helper()
		return launch.Begin(t, filepath.Join(binaries, "standalone"), certificates.Environment("standalone"), append(launch.FreePorts(data),
			"-demo=false", "-clients=backup=/waybook.store.v1.StoreService/Backup")...).Ready()
	}
	run := func(on *launch.Process, name string, args ...string) result {
		t.Helper()
		return operator{t, on.GRPC}.run("", append(args, as(name)...)...)
	}
	create := func(on *launch.Process, name string) string {
		t.Helper()
		var user struct {
			ID json.Number `json:"user_id"`
		}
		run(on, "operator", "user", "create", name, "-o", "json").expect(0).read(&user)
		return user.ID.String()
	}
	data := t.TempDir()
	restore := func() result { return runInProcess(t, nil, "", "store", "restore", backups, "--data="+data) }

	standalone := start(data)
	before := create(standalone, "before the backup")
	run(standalone, "backup", "store", "backup", backups, "--keep=7").expect(0)
	if lastBackup(t, standalone) == 0 {
		t.Error("the service does not know of the backup")
	}
	run(standalone, "backup", "user", "show", before).expect(4, "may not call")
	after := create(standalone, "after the backup")
	restore().expect(1, "stop it first")
	if status := standalone.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	data = t.TempDir() // the volume is lost
	restore().expect(0)

	again := start(data)
	if lastBackup(t, again) != 0 {
		t.Error("a new volume knows of a backup of the lost one")
	}
	if told := run(again, "operator", "user", "show", before).expect(0).out; !strings.Contains(told, "before the backup") {
		t.Errorf("the user is %s", told)
	}
	run(again, "operator", "user", "show", after).expect(3)
}
