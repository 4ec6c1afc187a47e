package cli

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/waybook/waybook/waybookctl/completion"
)

type completionCommands struct {
	Bash printBash `cmd:"" help:"Print the script for bash: source <(waybookctl completion bash)."`
	Zsh  printZsh  `cmd:"" help:"Print the script for zsh: source <(waybookctl completion zsh)."`
	Fish printFish `cmd:"" help:"Print the script for fish: waybookctl completion fish | source."`
}

type (
	printBash struct{}
	printZsh  struct{}
	printFish struct{}
)

// Run prints the script.
func (printBash) Run(parser *kong.Kong) error { return printScript(parser.Stdout, "bash") }

// Run prints the script.
func (printZsh) Run(parser *kong.Kong) error { return printScript(parser.Stdout, "zsh") }

// Run prints the script.
func (printFish) Run(parser *kong.Kong) error { return printScript(parser.Stdout, "fish") }

func printScript(out io.Writer, shell string) error {
	script, err := completion.Script(shell)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, script)
	return err
}

// completeWords prints completion candidates for the scripts.
type completeWords struct {
	Words []string `arg:"" optional:"" help:"The words after the program's name; the last one is completed."`
}

// Run prints a line for each candidate: the word, a tab, and its help.
func (c *completeWords) Run(parser *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range completion.Candidates(parser.Model, words) {
		if _, err := fmt.Fprintf(parser.Stdout, "%s\t%s\n", candidate.Word, candidate.Help); err != nil {
			return err
		}
	}
	return nil
}
