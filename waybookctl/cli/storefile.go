package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

type storeBackup struct {
	newFile `embed:""`

	Service string `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"Back up the store of the program that serves this service, ${default} by default. Standalone has one store for all four."`
	Keep    int    `placeholder:"COUNT" help:"Take <to> as a directory, and remove all but its newest COUNT backups afterwards."`
	To      string `arg:"" help:"File to write, - for standard output, or a directory. A file appears only when complete and verified, and only its owner can read it, because it holds hashes of passwords."`
}

func (*storeBackup) Help() string {
	return `The service keeps running. The backup is a tar file of the embedded store at the moment when the backup began, and a
manifest. In a directory it is named waybook-TIME.tar, or waybook-SERVICE-TIME.tar with --service. Until the backup ends, the
store's own file grows with each write. The service ends a backup whose reader takes no data for 15 seconds. On MongoDB use
mongodump. The metric waybook_store_last_backup_timestamp_seconds shows when the last backup began that the service sent.`
}

func (c *storeBackup) Run(ctx context.Context, to *services, out *output.Printer, report progress.Reporter) error {
	if c.Keep < 0 || c.Keep > 0 && c.To == "-" {
		return usageError("--keep needs a number greater than 0, and a directory")
	}
	made, now := backupMade{File: c.To}, time.Now()
	info, err := os.Stat(c.To)
	if c.Keep > 0 || err == nil && info.IsDir() {
		if err := os.MkdirAll(c.To, 0o700); err != nil {
			return err
		}
		made.File = filepath.Join(c.To, storekeeping.BackupName(c.Service, now))
	} else if err := c.check(c.To); err != nil {
		return err
	}
	var unrecorded error
	if err := atomicfile.WriteTo(out.Out, made.File, 0o600, func(file io.Writer) (err error) {
		made.Manifest, unrecorded, err = storekeeping.Backup(ctx, storev1.NewStoreServiceClient(to.links[c.Service]),
			file, now, report)
		return err
	}); err != nil {
		return err
	}
	if unrecorded != nil {
		out.Note("the backup is complete, but the service did not record it, so its metric shows an older one: %s",
			describe(ctx, unrecorded).message)
	}
	if c.Keep > 0 {
		if made.Removed, err = storekeeping.Prune(c.To, c.Service, filepath.Base(made.File), c.Keep); err != nil {
			return fmt.Errorf("the backup %s is complete, but an older one can't be removed: %w", made.File, err)
		}
	}
	if c.To == "-" {
		return nil
	}
	return out.Value(made, func(page *output.Page) {
		page.Text(fmt.Sprintf("%s: a store of %s, SHA-256 %s.", made.File, mebibytes(made.Bytes), made.SHA256))
		for _, name := range made.Removed {
			page.Text("Removed " + name + ".")
		}
	})
}

// backupMade is the result of a backup.
type backupMade struct {
	File string `json:"file"`
	storekeeping.Manifest

	// Removed are the names of older files that were removed.
	Removed []string `json:"removed,omitempty"`
}

type storeRestore struct {
	Data   string `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default, created if missing. No service may have it open."`
	Backup string `arg:"" help:"File that \"store backup\" wrote, or - for standard input. Of a directory, the newest waybook-TIME.tar is taken."`
}

func (*storeRestore) Help() string {
	return `The command copies the store beside waybook.db, reads the copy again, compares it with the manifest, and checks every
page, document and index. Only then does the copy take the place of waybook.db. The former store stays beside it, as
waybook.db.before-TIME. Run the command as the user of the service, or as root: then the store gets the owner of the former
one, or of the directory.`
}

func (c *storeRestore) Run(ctx context.Context, out *output.Printer, report progress.Reporter, in io.Reader) error {
	backup := storekeeping.Source{Name: "standard input", Reader: in}
	if c.Backup != "-" {
		backup.Name = c.Backup
		info, err := os.Stat(c.Backup)
		if err == nil && info.IsDir() {
			backup.Name, err = storekeeping.NewestBackup(c.Backup)
		}
		if err != nil {
			return err
		}
		file, err := os.Open(backup.Name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it is only read
		if info, err = file.Stat(); err != nil {
			return err
		}
		backup.Reader, backup.Bytes = file, info.Size()
	}
	done, err := storekeeping.Restore(ctx, storekeeping.Options{Store: service.StoreFlags{Data: c.Data}}, backup,
		time.Now(), report)
	if err != nil {
		return err
	}
	return out.Value(done, func(page *output.Page) {
		page.Text(fmt.Sprintf("Restored %s to %s: %s, SHA-256 %s.", done.Backup, done.Store, mebibytes(done.Bytes),
			done.SHA256))
		if done.Former != "" {
			page.Text("The former store is " + done.Former + ".")
		}
	})
}

type storeCompact struct {
	Data string `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default. No service may have it open."`
}

func (*storeCompact) Help() string {
	return `The file of an embedded store never shrinks by itself: pages that deletions free serve for new documents. This
command writes a packed copy beside the file, verifies it and puts it in the place of the file, which needs free space for the
copy. A crash leaves the old file or the new one. "store check" says when a compaction pays.`
}

func (c *storeCompact) Run(ctx context.Context, out *output.Printer) error {
	done, err := storekeeping.Compact(ctx, storekeeping.Options{Store: service.StoreFlags{Data: c.Data}})
	if err != nil {
		return err
	}
	return out.Value(done, func(page *output.Page) {
		page.Text(fmt.Sprintf("The file had %s and now has %s.", mebibytes(done.BytesBefore),
			mebibytes(done.BytesAfter)))
	})
}

type storeRenew struct {
	storeChoice `embed:""`
}

func (*storeRenew) Help() string {
	return `A store that mongorestore, a snapshot or a copy of its file puts back lacks changes that followers may have seen, and does
not say so. After that, this command makes the store refuse the tokens of before with START_ANEW, so that followers begin with
an empty copy. "store restore" and "store load" do so themselves.`
}

func (c *storeRenew) Run(ctx context.Context, out *output.Printer) error {
	if err := storekeeping.Renew(ctx, c.options(out)); err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "renewed", Value: true}}, func(page *output.Page) {
		page.Text("Followers of changes start anew.")
	})
}

// mebibytes writes a size for people.
func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
