package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newDocs(a *app) *cobra.Command {
	return a.commandGroup("docs", "Write reference documentation", "  %s docs man ~/.local/share/man/man1",
		&cobra.Command{
			Use:   "man DIR",
			Short: "Write manual pages",
			Long: `Write a manual page for each command and help topic to DIR. Other files in DIR are kept, and it is
an error if a file that this command didn't write has the name of a page. The pages carry the date
from SOURCE_DATE_EPOCH, or no date.`,
			Example: fmt.Sprintf(`  %[1]s docs man ~/.local/share/man/man1
  man %[1]s-create-api`, a.program),
			Args: oneArgument("the directory to write to"),
			RunE: func(c *cobra.Command, args []string) error { return a.writeManPages(c, args[0]) },
		},
	)
}

// manMark is the first line of the manual pages, by which they are recognized later.
func (a *app) manMark() string { return `.\" Written by '` + a.program + " docs man'.\n" }

func (a *app) writeManPages(c *cobra.Command, dir string) error {
	at, given, err := a.sourceDate()
	if err != nil {
		return err
	}
	date := ""
	if given {
		date = at.Format(time.DateOnly)
	}
	target := filepath.Clean(a.absolute(dir))
	root := action.NearestDirectory(a.FS, target)
	below, err := filepath.Rel(root, target)
	if err != nil {
		return err
	}
	return a.runAt(c.Context(), a.actions(), root, func(p *action.Project) error {
		return a.printed(p.Update(c.Context(), func(tree *worktree.Tree) error {
			var problems []error
			for _, page := range documented(c.Root()) {
				name := path.Join(filepath.ToSlash(below), manName(page)+".1")
				old, err := tree.ReadOptional(name)
				if err != nil {
					return err
				}
				if old != nil && !bytes.HasPrefix(old, []byte(a.manMark())) {
					problems = append(problems, diag.Finding{
						Position: diag.Position{File: path.Join(filepath.ToSlash(dir), path.Base(name))},
						Problem:  "not written by '" + c.CommandPath() + "'", Fix: "remove it or pass another directory",
					})
					continue
				}
				tree.WriteFile(name, []byte(a.manMark()+manPage(page, date)), 0o644)
			}
			return errors.Join(problems...)
		}))
	})
}

// documented returns a command and its sub-commands as far as help lists them.
func documented(c *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() || sub.Name() == "help" {
			commands = append(commands, documented(sub)...)
		}
	}
	return commands
}

// manName returns the name of the manual page of a command.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the manual page of a command, with the same texts as its help.
func manPage(c *cobra.Command, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q\n.nh\n", strings.ToUpper(manName(c)), date, buildVersion().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(c)), roff(c.Short))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s", title, text)
		}
	}
	if !c.IsAdditionalHelpTopicCommand() {
		section("SYNOPSIS", verbatim(usageLines(c)))
	}
	section("DESCRIPTION", paragraphs(commandDescription(c)))
	section("EXAMPLES", verbatim(wrapCommands(c.Example, helpColumns)))
	if !c.IsAdditionalHelpTopicCommand() {
		section("OPTIONS", manFlags(c.LocalNonPersistentFlags()))
		section("GLOBAL OPTIONS", manFlags(c.Root().PersistentFlags()))
	}
	var others []string
	if c.HasParent() {
		others = append(others, manName(c.Parent()))
	}
	for _, sub := range documented(c)[1:] {
		if sub.Parent() == c {
			others = append(others, manName(sub))
		}
	}
	for i, other := range others {
		others[i] = `\fB` + roff(other) + `\fP(1)`
	}
	section("SEE ALSO", strings.Join(others, ",\n")+"\n")
	return b.String()
}

func manFlags(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", roff(strings.TrimSpace(flagSyntax(f))), roff(flagDescription(f)))
		}
	})
	return b.String()
}

// paragraphs returns a text as roff, with indented lines as they are.
func paragraphs(text string) string {
	var b strings.Builder
	indented := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		if now := strings.HasPrefix(line, " ") || indented && line == ""; now != indented {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[now])
			indented = now
		}
		if line == "" && !indented {
			b.WriteString(".PP\n")
		} else {
			b.WriteString(roff(line) + "\n")
		}
	}
	if indented {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// verbatim returns lines as roff that keeps them as they are.
func verbatim(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(roff(strings.TrimPrefix(strings.TrimRight(line, "\n"), "  ")) + "\n")
	}
	return ".nf\n" + b.String() + ".fi\n"
}

// roff escapes a line of text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	var b strings.Builder
	for _, r := range line {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
