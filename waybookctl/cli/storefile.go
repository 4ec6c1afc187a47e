package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/waybook/waybook/internal/platform/service"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

type storeBackup struct {
	Service string `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"Back up the store of the program that serves this service, ${default} by default. Standalone has one store for all four."`
	Keep    int    `placeholder:"COUNT" help:"Take <file> as a directory, write waybook-TIME.db there, and keep the newest COUNT such files."`
	newFile `embed:""`
	File    string `arg:"" help:"File to write, - for standard output, or a directory with --keep. A file appears only when complete and verified, and only its owner can read it, because it holds hashes of passwords."`
}

// Help returns the detailed help.
func (*storeBackup) Help() string {
	return `The service keeps running. The file is the embedded store at the moment when the backup began; "store restore" puts
it in place of a store. Until the backup ends, the store's own file grows with each write. The service ends a backup whose
reader takes no data for 15 seconds. On MongoDB use mongodump.

With --keep, the oldest files are removed after the new one is complete and verified, so the directory needs space for
COUNT + 1. The service remembers when its last backup began (waybook_store_last_backup_timestamp_seconds).`
}

// Run backs up the store of a running service.
func (c *storeBackup) Run(ctx context.Context, to *services, out *output.Printer, report progress.Reporter) error {
	file, rotation := c.File, storekeeping.NewRotation(c.File, c.Service, c.Keep)
	if c.Keep < 0 {
		return usageError("--keep must be at least 1")
	}
	if c.Keep == 0 {
		if err := c.check(c.File); err != nil {
			return err
		}
	}
	if c.Keep > 0 {
		var err error
		if file, err = rotation.Path(time.Now()); err != nil {
			return err
		}
	}
	made := backupMade{File: file}
	var err error
	reach, finish := copying(report, "receiving")
	made.BackedUp, err = storekeeping.Backup(ctx, storev1.NewStoreServiceClient(to.links[c.Service]), file, out.Out, reach)
	finish()
	if err != nil {
		return err
	}
	if made.Unconfirmed != nil {
		out.Note("the backup is complete, but the service did not record it, so its metric shows an older one: %s", describe(ctx, made.Unconfirmed).message)
	}
	if c.Keep > 0 {
		if made.Removed, err = rotation.Prune(file); err != nil {
			return fmt.Errorf("the backup %s is complete, but an older one can't be removed: %w", file, err)
		}
	}
	if file == "-" {
		return nil
	}
	return out.Tagged(made, func(page *output.Page) {
		page.Text(fmt.Sprintf("%s: %s, SHA-256 %s.", file, mebibytes(made.Bytes), made.SHA256))
		for _, name := range made.Removed {
			page.Text("Removed " + name + ".")
		}
	})
}

// copying reports a copy whose size is known only when it begins.
func copying(report progress.Reporter, what string) (reach func(copied, size int64), finish func()) {
	hasStarted := false
	reach = func(copied, size int64) {
		if !hasStarted {
			hasStarted = true
			report.Start(what, progress.Bytes, size)
		}
		report.Reach(copied)
	}
	return reach, func() {
		if hasStarted {
			report.Finish()
		}
	}
}

// backupMade is the result of a backup.
type backupMade struct {
	File string `json:"file"`
	storekeeping.BackedUp

	// Removed are the names of older files that were removed.
	Removed []string `json:"removed,omitempty"`
}

type storeRestore struct {
	Data    string `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default, created if missing. No service may have it open."`
	Service string `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"With a directory: restore a backup that was made with this --service, ${default} by default."`
	Backup  string `arg:"" help:"File that \"store backup\" wrote, or a directory of them, of which the newest is restored."`
}

// Help returns the detailed help.
func (*storeRestore) Help() string {
	return `The command checks every page, document and index of the backup, copies it, and reads the copy again. Only then does
the copy take the place of waybook.db. The former store stays beside it, as waybook.db.before-TIME. Run the command as the
user of the service, which must be able to read and write the file.`
}

// Run restores a store.
func (c *storeRestore) Run(ctx context.Context, out *output.Printer, report progress.Reporter) error {
	backup := c.Backup
	if info, err := os.Stat(backup); err != nil {
		return err
	} else if info.IsDir() {
		if backup, err = storekeeping.NewRotation(backup, c.Service, 1).Newest(); err != nil {
			return err
		}
	}
	options := storekeeping.Options{Store: service.StoreFlags{Data: c.Data}}
	reach, finish := copying(report, "restoring")
	done, err := storekeeping.Restore(ctx, options, backup, time.Now(), reach)
	finish()
	if err != nil {
		return err
	}
	return out.Tagged(done, func(page *output.Page) {
		page.Text(fmt.Sprintf("Restored %s to %s: %s, SHA-256 %s.", done.Backup, done.Store, mebibytes(done.Bytes), done.SHA256))
		if done.Former != "" {
			page.Text("The former store is " + done.Former + ".")
		}
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
	return out.Tagged(done, func(page *output.Page) {
		page.Text(fmt.Sprintf("The file had %s and now has %s.", mebibytes(done.BytesBefore), mebibytes(done.BytesAfter)))
	})
}

type storeRenewFeeds struct {
	MongoDBURI string `twin:"" name:"mongodb-uri" required:"" placeholder:"URI" help:"URI of the services' MongoDB."`
}

// Help returns the detailed help.
func (*storeRenewFeeds) Help() string {
	return `A restore with mongorestore or from a snapshot takes changes back that followers may have seen, and does not say
so. After it, this command makes the feeds refuse the tokens of before with START_ANEW, so that followers begin with an empty
copy. An embedded store and "store load" do so themselves.`
}

// Run renews the feeds.
func (c *storeRenewFeeds) Run(ctx context.Context, out *output.Printer) error {
	renewed, err := storekeeping.RenewFeeds(ctx, storekeeping.Options{Store: service.StoreFlags{MongoDBURI: c.MongoDBURI}})
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "feeds", Value: renewed}}, func(page *output.Page) {
		page.Text(fmt.Sprintf("%d feeds begin anew.", renewed))
	})
}

// mebibytes writes a size for people.
func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
