package cli

import (
	"context"
	"fmt"
	"io"
)

// maxTextBytes bounds a text: services accept at most 100,000 characters of at most four bytes.
const maxTextBytes = 400_000

// textOrInput returns text, or standard input if text is "-".
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
			return "", usageError("standard input is longer than 100,000 characters")
		}
		return string(read), nil
	})
}
