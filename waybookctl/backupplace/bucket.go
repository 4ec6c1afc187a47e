package backupplace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// partBytes is how much of a file is kept in memory and sent at a time. A file has at most 10,000
	// parts, so it is at most 78 GiB long.
	partBytes = 8 << 20
	// maxRetries is how often a request that failed is sent again.
	maxRetries = 4
	// amazon is the address of S3 itself.
	amazon = "https://s3.amazonaws.com"
)

// bucket is a place in a bucket.
type bucket struct {
	client       *minio.Client
	name, prefix string
}

// openBucket returns a bucket, or the part of it below a prefix: BUCKET/PREFIX. It sends nothing. The
// variables are those of Amazon's own tools.
func openBucket(where string, lookupEnv func(string) (string, bool)) (Place, error) {
	variable := func(name string) string {
		value, _ := lookupEnv(name)
		return strings.TrimSpace(value)
	}
	name, prefix, _ := strings.Cut(strings.TrimRight(where, "/"), "/")
	if name == "" {
		return nil, fmt.Errorf("%s%s names no bucket; write s3://BUCKET or s3://BUCKET/PREFIX", bucketScheme, where)
	}
	endpoint := cmp.Or(variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL"), amazon)
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return nil, errors.New("AWS_ENDPOINT_URL_S3 is malformed; write https://HOST or http://HOST:PORT") // it may hold a password
	}
	signer := credentials.NewFileAWSCredentials(variable("AWS_SHARED_CREDENTIALS_FILE"), cmp.Or(variable("AWS_PROFILE"), "default"))
	if id := variable("AWS_ACCESS_KEY_ID"); id != "" {
		signer = credentials.NewStaticV4(id, variable("AWS_SECRET_ACCESS_KEY"), variable("AWS_SESSION_TOKEN"))
	} else if variable("AWS_SHARED_CREDENTIALS_FILE") == "" {
		return nil, errors.New("a bucket needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE")
	}
	client, err := minio.New(address.Host, &minio.Options{
		Creds: signer, Secure: address.Scheme == "https", MaxRetries: maxRetries,
		Region: cmp.Or(variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), "us-east-1"),
	})
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", bucketScheme, where, err)
	}
	return &bucket{client, name, prefix}, nil
}

// Of returns the address of a file.
func (b *bucket) Of(name string) string { return bucketScheme + path.Join(b.name, b.prefix, name) }

func (b *bucket) key(name string) string { return path.Join(b.prefix, name) }

// failed adds the address to an error.
func (b *bucket) failed(name string, err error) error {
	if err == nil {
		return nil
	}
	if answer := minio.ToErrorResponse(err); answer.StatusCode == http.StatusNotFound {
		err = fmt.Errorf("%w: %w", err, fs.ErrNotExist)
	}
	return fmt.Errorf("%s: %w", b.Of(name), err)
}

// Write sends a file in parts while it is written. The service shows it when the last part has been
// confirmed. The parts of a failed one are removed, or remain invisible if this process is killed.
func (b *bucket) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	from, to := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		_, err := b.client.PutObject(ctx, b.name, b.key(name), from, -1, minio.PutObjectOptions{
			PartSize: partBytes, NumThreads: 1, ContentType: "application/octet-stream",
		})
		err = b.failed(name, err)
		_ = from.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // never fails
		sent <- err
	}()
	err := write(to)
	_ = to.CloseWithError(err) // never fails; without an error the reader sees the end
	// Either error reaches the other side, too. If write fails, it has the one that came first.
	if failed := <-sent; err == nil {
		return failed
	}
	return err
}

// Open opens a file.
func (b *bucket) Open(ctx context.Context, name string) (File, error) {
	object, err := b.client.GetObject(ctx, b.name, b.key(name), minio.GetObjectOptions{})
	if err != nil {
		return File{}, b.failed(name, err)
	}
	info, err := object.Stat()
	if err != nil {
		return File{}, errors.Join(b.failed(name, err), object.Close())
	}
	return File{object, info.Size}, nil
}

// List returns the names of files, none of which has a slash.
func (b *bucket) List(ctx context.Context, prefix string) (names []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	start := b.key(prefix)
	for object := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: start}) {
		if object.Err != nil {
			return nil, b.failed(prefix, object.Err)
		}
		if !strings.HasSuffix(object.Key, "/") { // a folder, or a file that some tool has made for one
			names = append(names, path.Base(object.Key))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Remove removes a file.
func (b *bucket) Remove(ctx context.Context, name string) error {
	return b.failed(name, b.client.RemoveObject(ctx, b.name, b.key(name), minio.RemoveObjectOptions{}))
}
