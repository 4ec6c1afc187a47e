package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
	"github.com/waybook/waybook/waybookctl/retry"
)

type changes struct {
	TokenFile string    `placeholder:"FILE" help:"File that keeps the position between runs. The command begins there, and writes its new position when it has printed all. Without the file, it begins with everything that exists. Delete the file to start anew."`
	Since     time.Time `placeholder:"TIME" help:"Without a position, begin with what changed since this time, such as 2026-11-26T02:00:00Z, by the clock of the store, with the deletions that are kept. It looks back, and does not make a copy."`
	Watch     bool      `help:"Continue with what changes, until the command is interrupted. Each change is a line of JSON. The position is written after its lines, so a command that was killed prints some again when it is started again, and leaves none out."`
}

// Run lists the settled changes. It writes the token when they are printed, so a command that is
// interrupted prints them again.
func (c *changes) Run(ctx context.Context, call *rpc, out *output.Printer) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	if request := call.request.ProtoReflect(); token == "" && !c.Since.IsZero() {
		request.Set(call.method.Input().Fields().ByName("start_time"), protoreflect.ValueOfMessage(timestamppb.New(c.Since).ProtoReflect()))
	}
	if c.Watch {
		return c.watch(ctx, call, out, token)
	}
	if err := call.printItems(out, call.follow(ctx, &token)); err != nil {
		return err
	}
	return c.save(token)
}

// save writes the token to the file.
func (c *changes) save(token string) error {
	if c.TokenFile == "" {
		return nil
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

// idleTime is how long a watch may be without a change until it writes its position all the same, so that the
// position does not get too old.
const idleTime = time.Minute

// watch prints changes until ctx ends. It repeats calls while the service is unavailable or busy.
func (c *changes) watch(ctx context.Context, call *rpc, out *output.Printer, token string) error {
	if out.Format != output.JSON && out.Format != output.Table {
		return usageError("--watch prints lines of JSON; leave out --output")
	}
	lines, err := newLines(out.Out)
	if err != nil {
		return err
	}
	repeating := retry.Options{Note: func(text string) { out.Note("%s", text) }, IsEndless: true}
	for saved := time.Now(); ; {
		var reply listReply
		if _, err := retry.Do(ctx, repeating, func() (err error) {
			reply, err = call.page(ctx, pageOf{pageSize, token})
			return err
		}); err != nil {
			return err
		}
		found := itemsOf(reply)
		if err := lines.write(found); err != nil {
			return err
		}
		if token = reply.GetNextPageToken(); len(found) > 0 || time.Since(saved) >= idleTime {
			if err := c.save(token); err != nil {
				return err
			}
			saved = time.Now()
		}
	}
}

// lines writes messages as lines of JSON. If the output is a regular file, the lines of each call are synced.
type lines struct {
	to io.Writer
	// file is nil if the output is none.
	file *os.File
}

// newLines begins a new line in a file that is not empty, because a command that was killed may have left a part
// of one.
func newLines(to io.Writer) (lines, error) {
	file, isFile := to.(*os.File)
	if !isFile {
		return lines{to: to}, nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return lines{to: to}, err
	}
	if info.Size() > 0 {
		_, err = io.WriteString(to, "\n")
	}
	return lines{to, file}, err
}

func (l lines) write(messages []proto.Message) error {
	if len(messages) == 0 {
		return nil
	}
	var text []byte
	for _, message := range messages {
		line, err := json.Marshal(output.FromProto(message))
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if _, err := l.to.Write(text); err != nil || l.file == nil {
		return err
	}
	return l.file.Sync()
}
