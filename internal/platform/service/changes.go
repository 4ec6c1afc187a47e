package service

import (
	"flag"
	"fmt"
	"time"
)

// DefaultKept is the default of -changes-kept.
const DefaultKept = 7 * 24 * time.Hour

// leastKept is longer than any call may run.
const leastKept = time.Hour

// Changes holds the settings of the feeds of changes. The zero value means the defaults.
type Changes struct {
	// Kept is how long a deletion is shown; 0 means DefaultKept.
	Kept time.Duration
	// Settling is how long a change waits before it is shown; 0 means docstore.DefaultSettling.
	Settling time.Duration
}

// Register declares the flags, with their defaults.
func (c *Changes) Register(flags *flag.FlagSet) {
	flags.DurationVar(&c.Kept, "changes-kept", DefaultKept, "how long deletions are shown to followers of changes, at least 1h; a follower that was away for longer starts anew")
}

// Check reports a setting out of its range.
func (c Changes) Check() error {
	if c.KeptTime() < leastKept {
		return fmt.Errorf("-changes-kept is %v; it must be at least %v", c.Kept, leastKept)
	}
	return nil
}

// KeptTime returns how long a deletion is shown.
func (c Changes) KeptTime() time.Duration {
	if c.Kept == 0 {
		return DefaultKept
	}
	return c.Kept
}
