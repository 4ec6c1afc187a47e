package cli

import (
	"context"
	"fmt"

	"github.com/waybook/waybook/internal/platform/service"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

type storeBackup struct {
	Service string `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"Back up the store of the program that serves this service, ${default} by default. Standalone has one store for all four."`
	File    string `arg:"" help:"File to write. It appears only when complete and verified, and only its owner can read it, because it holds hashes of passwords."`
}

// Help returns the detailed help.
func (*storeBackup) Help() string {
	return `The service keeps running. The file is the embedded store at the moment when the backup began; to restore it, stop
the service and put it in place of waybook.db. Until the backup ends, the store's own file grows with each write. The service
ends a backup whose reader takes no data for 15 seconds. On MongoDB use mongodump.`
}

// Run backs up the store of a running service.
func (c *storeBackup) Run(ctx context.Context, to *services, out *output.Printer, report progress.Reporter) error {
	hasStarted := false
	done, err := storekeeping.Backup(ctx, to.store[c.Service], c.File, func(arrived, size int64) {
		if !hasStarted {
			hasStarted = true
			report.Start("receiving", progress.Bytes, size)
		}
		report.Reach(arrived)
	})
	if hasStarted {
		report.Finish()
	}
	if err != nil {
		return err
	}
	value, err := output.FromJSON(done)
	if err != nil {
		return err
	}
	return out.Value(value, func(page *output.Page) {
		page.Text(fmt.Sprintf("%s: %s, SHA-256 %s.", c.File, mebibytes(done.Bytes), done.SHA256))
	})
}

type storeCompact struct {
	Data string `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default. No service may have it open."`
}

// Help returns the detailed help.
func (*storeCompact) Help() string {
	return `The file of an embedded store never shrinks by itself: pages that deletions free serve for new documents. This
command writes a packed copy beside the file, verifies it and puts it in the place of the file, which needs free space for the
copy. A crash leaves the old file or the new one. "store check" says when a compaction pays.`
}

// Run compacts the store.
func (c *storeCompact) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	options := storekeeping.Options{Store: service.StoreFlags{Data: c.Data}, Progress: func(_ string, entries int64) { report.Reach(entries) }}
	report.Start("compacting", progress.Documents, 0)
	done, err := storekeeping.Compact(ctx, options)
	report.Finish()
	if err != nil {
		return err
	}
	value, err := output.FromJSON(done)
	if err != nil {
		return err
	}
	return out.Value(value, func(page *output.Page) {
		page.Text(fmt.Sprintf("The file had %s and now has %s.", mebibytes(done.BytesBefore), mebibytes(done.BytesAfter)))
	})
}

// mebibytes writes a size for people.
func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// backups returns the clients of the stores behind the services, by service.
func backups(links map[string]*link) map[string]storev1.StoreServiceClient {
	clients := map[string]storev1.StoreServiceClient{}
	for name, link := range links {
		clients[name] = storev1.NewStoreServiceClient(link)
	}
	return clients
}
