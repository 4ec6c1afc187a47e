package cli

import (
	"context"
	"fmt"
	"io"
)

// maxTextBytes is more than the longest text that a service takes: 100,000 characters
// of at most four bytes.
const maxTextBytes = 400_000

// textOrInput is a text from the command line, or standard input when that is "-".
func textOrInput(ctx context.Context, text string, in io.Reader) (string, error) {
	if text != "-" {
		return text, nil
	}
	return await(ctx, func() (string, error) {
		read, err := io.ReadAll(io.LimitReader(in, maxTextBytes+1))
		if err != nil {
			return "", fmt.Errorf("standard input can't be read: %w", err)
		}
		if len(read) > maxTextBytes {
			return "", usageError("standard input is longer than a text may be")
		}
		return string(read), nil
	})
}
