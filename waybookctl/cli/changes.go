package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
)

type changes struct {
	TokenFile string `field:"-" placeholder:"FILE" help:"File that keeps the position between runs. The command begins there, and writes its new position when it has printed all. Without the file, it begins with everything that exists. Delete the file to start anew."`
}

// Run lists the settled changes. It writes the token when they are printed, so a command that is
// interrupted prints them again.
func (c *changes) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	if err := call.printItems(out, call.follow(ctx, &token)); err != nil || c.TokenFile == "" {
		return err
	}
	return atomicfile.Write(c.TokenFile, 0o600, func(file io.Writer) error {
		_, err := fmt.Fprintln(file, token)
		return err
	})
}

// token returns the token in the file.
func (c *changes) token() (string, error) {
	if c.TokenFile == "" {
		return "", nil
	}
	written, err := os.ReadFile(c.TokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(written)), err
}

// follow returns the settled changes after a token, and moves the token behind them.
func (r *rpc) follow(ctx context.Context, token *string) iter.Seq2[proto.Message, error] {
	return pages(limit{}, func(page pageOf) (changes []proto.Message, next string, err error) {
		page.token = *token
		reply, err := r.page(ctx, page)
		if err != nil {
			return nil, "", err
		}
		*token = reply.GetNextPageToken()
		if reply.(interface{ GetHasMore() bool }).GetHasMore() {
			next = *token
		}
		return itemsOf(reply), next, nil
	})
}
