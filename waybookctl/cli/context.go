package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
)

// contextFlag is the name of the flag that selects a context.
const contextFlag = "context"

// maxContextsBytes bounds the file of contexts.
const maxContextsBytes = 1 << 20

// contexts are connections with names. A context holds flags that all commands have, by their names: addresses, and
// paths of certificates and keys, but no secret.
type contexts struct {
	path string
	// err says why the file cannot be read.
	err error

	Current string                       `json:"current"`
	ByName  map[string]map[string]string `json:"contexts"`
}

// openContexts reads the file of contexts, which need not exist.
func openContexts(lookupEnv func(string) (string, bool)) *contexts {
	c := &contexts{}
	directory, _ := lookupEnv("XDG_CONFIG_HOME")
	if home, _ := lookupEnv("HOME"); directory == "" && home != "" {
		directory = filepath.Join(home, ".config")
	}
	if directory != "" {
		c.path = filepath.Join(directory, "waybook", "contexts.json")
		c.err = c.read()
	}
	if c.ByName == nil {
		c.ByName = map[string]map[string]string{}
	}
	return c
}

func (c *contexts) read() error {
	file, err := os.Open(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	decoder := json.NewDecoder(io.LimitReader(file, maxContextsBytes))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return fmt.Errorf("%s: %w; correct or delete the file", c.path, err)
	}
	return nil
}

// valueOf returns the value of a flag in the selected context, and the name of that context.
func (c *contexts) valueOf(flag *kong.Flag, chosen string) (value, name string) {
	if c == nil || flag.Name == contextFlag {
		return "", ""
	}
	if chosen == "" {
		chosen = c.Current
	}
	return c.ByName[chosen][flag.Name], chosen
}

// check refuses a context that does not exist, and a file that cannot be read.
func (c *contexts) check(name string) error {
	if c.err != nil {
		return c.err
	}
	if _, isKnown := c.ByName[name]; isKnown || name == "" {
		return nil
	}
	return statusError{statusNotFound, fmt.Sprintf("there is no context %q; see waybookctl context list", name)}
}

func (c *contexts) save() error {
	if c.path == "" {
		return errors.New("neither XDG_CONFIG_HOME nor HOME is set, so contexts have no file")
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(c.path, 0o600, func(file io.Writer) error {
		encoder := json.NewEncoder(file)
		encoder.SetIndent("", "  ")
		return encoder.Encode(c)
	})
}

type contextCommands struct {
	List   contextList   `cmd:"" help:"List the contexts."`
	Use    contextUse    `cmd:"" help:"Use a context from now on."`
	Set    contextSet    `cmd:"" help:"Make a context, or replace it, with the flags of the connection that are given."`
	Delete contextDelete `cmd:"" help:"Delete a context."`
}

type contextList struct{}

// Run lists the contexts.
func (contextList) Run(kept *contexts, out *output.Printer) error {
	type context struct {
		Context string            `json:"key"`
		Current bool              `json:"current"`
		Flags   map[string]string `json:"flags"`
	}
	var all []context
	for _, name := range slices.Sorted(maps.Keys(kept.ByName)) {
		all = append(all, context{name, name == kept.Current, kept.ByName[name]})
	}
	return out.Tagged(all, func(page *output.Page) {
		output.Rows(page, []string{"CURRENT", "CONTEXT", "FLAGS"}, all, func(c context) []string {
			current, flags := "", []string{}
			if c.Current {
				current = "*"
			}
			for _, flag := range slices.Sorted(maps.Keys(c.Flags)) {
				flags = append(flags, "--"+flag+"="+c.Flags[flag])
			}
			return []string{current, c.Context, strings.Join(flags, " ")}
		})
	})
}

// contextName selects a context.
type contextName struct {
	Name string `arg:"" help:"Name of the context."`
}

type contextUse struct{ contextName }

// Run selects the context.
func (c *contextUse) Run(kept *contexts) error {
	if err := kept.check(c.Name); err != nil {
		return err
	}
	kept.Current = c.Name
	return kept.save()
}

type contextSet struct{ contextName }

// Help returns the detailed help.
func (*contextSet) Help() string {
	return `For example: waybookctl context set prod --address waybook.example:9090 --tls-cert op.crt --tls-key op.key --tls-ca ca.crt

Flags of a command line win over the environment, and the environment over the context. Paths are kept as absolute
paths. The first context that is made is used from then on.`
}

// Run makes the context.
func (c *contextSet) Run(kept *contexts, line *kong.Context) error {
	flags := map[string]string{}
	for _, each := range line.Path {
		if each.Flag == nil || each.Resolved || envName(each.Flag) == "" || each.Flag.Name == contextFlag {
			continue
		}
		value := fmt.Sprint(line.FlagValue(each.Flag))
		if each.Flag.PlaceHolder == "FILE" {
			var err error
			if value, err = filepath.Abs(value); err != nil {
				return err
			}
		}
		flags[each.Flag.Name] = value
	}
	if len(flags) == 0 {
		return usageError("a context needs at least one flag, such as --address")
	}
	if len(kept.ByName) == 0 {
		kept.Current = c.Name
	}
	kept.ByName[c.Name] = flags
	return kept.save()
}

type contextDelete struct{ contextName }

// Run deletes the context.
func (c *contextDelete) Run(kept *contexts) error {
	if err := kept.check(c.Name); err != nil {
		return err
	}
	delete(kept.ByName, c.Name)
	if kept.Current == c.Name {
		kept.Current = ""
	}
	return kept.save()
}
