package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"github.com/waybook/waybook/internal/platform/service"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/backupplace"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// encryption has the keys of backups.
type encryption struct {
	Identity string `twin:"" placeholder:"FILE" help:"File with a private key of age, as age-keygen writes it, to decrypt with."`
}

type storeBackup struct {
	encryption `embed:""`
	newFile    `embed:""`

	Service   string        `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"Back up the store of the program that serves this service, ${default} by default. Standalone has one store for all four."`
	Keep      int           `placeholder:"COUNT" help:"Take <to> as a directory, and keep the newest COUNT backups there."`
	KeepFor   time.Duration `placeholder:"DURATION" help:"Take <to> as a directory, and keep backups there that are younger than DURATION, such as 720h. With --keep, a backup stays that either of them keeps."`
	Recipient []string      `twin:"" placeholder:"KEY" help:"Encrypt the backup for this public key of age, such as age1…; repeat it for several."`
	To        string        `arg:"" help:"File to write, - for standard output, a directory with --keep or --keep-for, or s3://BUCKET/PREFIX. A file appears only when complete and verified, and only its owner can read it, because it holds hashes of passwords."`
}

// Help returns the detailed help.
func (*storeBackup) Help() string {
	return `The service keeps running. The file is the embedded store at the moment when the backup began; "store restore" puts
it in place of a store. Until the backup ends, the store's own file grows with each write. The service ends a backup whose
reader takes no data for 15 seconds. On MongoDB use mongodump.

In a directory and in a bucket, backups are named waybook-TIME.db, or waybook-TIME.db.age with --recipient. What was written is
read again and compared; with --identity it is also decrypted. Older backups are removed after that, so a directory needs space
for COUNT + 1. Without --keep and --keep-for, a bucket keeps all. The service remembers when its last backup began
(waybook_store_last_backup_timestamp_seconds).

A bucket is of Amazon S3, or of any service that speaks S3 and that AWS_ENDPOINT_URL_S3 names. The credentials are in
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the file that AWS_SHARED_CREDENTIALS_FILE names. AWS_REGION is us-east-1 by
default. The connection must take 8 MiB in 15 seconds.`
}

// Run backs up the store of a running service.
func (c *storeBackup) Run(ctx context.Context, to *services, out *output.Printer, report progress.Reporter, env variables) error {
	keys, err := backupplace.ReadKeys(c.Recipient, c.Identity)
	if err != nil {
		return err
	}
	if c.Keep < 0 || c.KeepFor < 0 {
		return usageError("--keep and --keep-for must be greater than 0")
	}
	made := backupMade{File: c.To}
	target := storekeeping.Target{Keys: keys, Write: func(write func(io.Writer) error) error {
		return atomicfile.WriteTo(out.Out, c.To, 0o600, write)
	}}
	var rotation *storekeeping.Rotation
	var name string
	if c.Keep > 0 || c.KeepFor > 0 || backupplace.IsBucket(c.To) {
		place, err := backupplace.Open(c.To, env, true)
		if err != nil {
			return err
		}
		rotation = new(storekeeping.NewRotation(place, c.Service))
		name = rotation.Name(time.Now(), keys.Encrypts())
		made.File, target = place.Of(name), storekeeping.TargetIn(ctx, place, name, keys)
	} else if err := c.check(c.To); err != nil {
		return err
	}
	made.BackedUp, err = storekeeping.Backup(ctx, storev1.NewStoreServiceClient(to.links[c.Service]), target, report)
	if err != nil {
		return err
	}
	if made.Unconfirmed != nil {
		out.Note("the backup is complete, but the service did not record it, so its metric shows an older one: %s", describe(ctx, made.Unconfirmed).message)
	}
	if rotation != nil {
		keep := storekeeping.Retention{Count: c.Keep, Age: c.KeepFor}
		if made.Removed, err = rotation.Prune(ctx, name, keep, time.Now()); err != nil {
			return fmt.Errorf("the backup %s is complete, but an older one can't be removed: %w", made.File, err)
		}
	}
	if c.To == "-" {
		return nil
	}
	return out.Tagged(made, func(page *output.Page) {
		page.Text(fmt.Sprintf("%s: %s, SHA-256 %s.", made.File, mebibytes(made.Bytes), made.SHA256))
		for _, name := range made.Removed {
			page.Text("Removed " + name + ".")
		}
	})
}

// backupMade is the result of a backup.
type backupMade struct {
	File string `json:"file"`
	storekeeping.BackedUp

	// Removed are the names of older files that were removed.
	Removed []string `json:"removed,omitempty"`
}

// storedBackup selects a backup.
type storedBackup struct {
	encryption `embed:""`

	Backup string `arg:"" help:"File that \"store backup\" wrote, or - for standard input. Of a directory, or of s3://BUCKET/PREFIX, the newest backup is taken."`
}

// source returns the backup, of the service if there are several.
func (c *storedBackup) source(ctx context.Context, service string, in io.Reader, env variables) (from storekeeping.Source, err error) {
	from.Name = c.Backup
	if from.Keys, err = backupplace.ReadKeys(nil, c.Identity); err != nil {
		return from, err
	}
	if c.Backup == "-" {
		from.Open = func() (backupplace.File, error) { return backupplace.File{ReadCloser: io.NopCloser(in)}, nil }
		return from, nil
	}
	where, name := c.Backup, ""
	if !backupplace.IsBucket(where) {
		info, err := os.Stat(where)
		if err != nil {
			return from, err
		}
		if !info.IsDir() {
			from.Open = func() (backupplace.File, error) { return backupplace.OpenFile(where) }
			return from, nil
		}
	} else if storekeeping.IsBackup(path.Base(where)) {
		where, name = path.Split(where)
	}
	place, err := backupplace.Open(where, env, false)
	if err != nil {
		return from, err
	}
	if name == "" {
		if name, err = storekeeping.NewRotation(place, service).Newest(ctx); err != nil {
			return from, err
		}
	}
	from.Name = place.Of(name)
	from.Open = func() (backupplace.File, error) { return place.Open(ctx, name) }
	return from, nil
}

type storeRestore struct {
	Data    string `twin:"" default:"waybook-data" placeholder:"DIRECTORY" help:"Directory of the embedded store, ${default} by default, created if missing. No service may have it open."`
	Service string `placeholder:"SERVICE" enum:"account,album,blog,poi" default:"account" help:"With several backups: restore one that was made with this --service, ${default} by default."`

	storedBackup `embed:""`
}

// Help returns the detailed help.
func (*storeRestore) Help() string {
	return `The command copies the backup, decrypts it if it is encrypted, reads the copy again, and checks every page, document and
index. Only then does the copy take the place of waybook.db. The former store stays beside it, as waybook.db.before-TIME. Run
the command as the user of the service, or as root: then the store gets the owner of the former one, or of the directory.
The variables of a bucket are those of "store backup".`
}

// Run restores a store.
func (c *storeRestore) Run(ctx context.Context, out *output.Printer, report progress.Reporter, in io.Reader, env variables) error {
	backup, err := c.source(ctx, c.Service, in, env)
	if err != nil {
		return err
	}
	options := storekeeping.Options{Store: service.StoreFlags{Data: c.Data}}
	done, err := storekeeping.Restore(ctx, options, backup, time.Now(), report)
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

type storeRehearse struct {
	Scratch string   `placeholder:"DIRECTORY" help:"Existing directory for the restored store; by default that of temporary files."`
	Service []string `placeholder:"SERVICE" enum:"account,album,blog,poi" help:"Only for the store of a single service: its name."`
	Confirm bool     `help:"Report the success to the running service, whose metric waybook_store_last_rehearsal_timestamp_seconds shows it."`

	storedBackup `embed:""`
}

// Help returns the detailed help.
func (*storeRehearse) Help() string {
	return `A backup that nobody has restored is none. The command restores it into a new directory, checks every page, document and
index as "store check" does, and removes the directory. The exit status is 0 only if the store is clean. Run it every week. The
variables of a bucket are those of "store backup".`
}

// Run rehearses a restore.
func (c *storeRehearse) Run(ctx context.Context, to *services, out *output.Printer, report progress.Reporter, in io.Reader, env variables) error {
	named := append(c.Service, "account")[0]
	backup, err := c.source(ctx, named, in, env)
	if err != nil {
		return err
	}
	done, err := storekeeping.Rehearse(ctx, backup, c.Scratch, c.Service, time.Now(), report)
	if err != nil {
		return err
	}
	if c.Confirm {
		if _, err := storev1.NewStoreServiceClient(to.links[named]).ConfirmRehearsal(ctx, &storev1.ConfirmRehearsalRequest{}); err != nil {
			return err
		}
	}
	return out.Tagged(done, func(page *output.Page) {
		page.Text(fmt.Sprintf("%s can be restored: %s, %d documents.", done.Backup, mebibytes(done.Bytes), done.Documents))
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
	renewed, err := storekeeping.RenewFeeds(ctx, storekeeping.Options{Store: service.StoreFlags{MongoDBURI: c.MongoDBURI, Log: warnings(out)}})
	if err != nil {
		return err
	}
	return out.Value(output.Object{{Name: "feeds", Value: renewed}}, func(page *output.Page) {
		page.Text(fmt.Sprintf("%d feeds begin anew.", renewed))
	})
}

// mebibytes writes a size for people.
func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
