package cmd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/help"
)

// TestReference compares the pages in docs/reference with the help of all commands. -update rewrites them.
func TestReference(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	visitCommands("operon", func(c *cobra.Command) {
		if !c.HasParent() {
			for _, c := range help.Documented(c) {
				pages[referenceName(c)] = referencePage(c)
			}
		}
	})
	dir := filepath.Join("..", "docs", "reference")
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	update := flag.Lookup("update").Value.String() == "true"
	if update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range entries {
		if _, found := pages[entry.Name()]; found {
			continue
		}
		if !update {
			t.Errorf("docs/reference/%s: no such command; run make docs", entry.Name())
		} else if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range pages {
		file := filepath.Join(dir, name)
		got, err := os.ReadFile(file)
		if err == nil && string(got) == want {
			continue
		}
		if !update {
			t.Errorf("docs/reference/%s is out of date; run make docs", name)
		} else if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// referenceName returns the file name of the reference page of a command.
func referenceName(c *cobra.Command) string {
	return strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md"
}

// referenceTitle returns the title of the reference page of a command.
func referenceTitle(c *cobra.Command) string {
	if c.IsAdditionalHelpTopicCommand() {
		return c.Parent().CommandPath() + " help " + c.Name()
	}
	return c.CommandPath()
}

// referencePage returns the reference page of a command, with the texts of its help.
func referencePage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Generated from the help of the command by make docs. -->\n\n# %s\n\n%s.\n\n", referenceTitle(c), escapeMarkdown(c.Short))
	if c.Long != "" {
		b.WriteString(markdownParagraphs(c.Long))
	}
	if c.IsAdditionalHelpTopicCommand() {
		return strings.TrimRight(b.String(), "\n") + "\n"
	}
	fmt.Fprintf(&b, "## Usage\n\n```\n%s```\n\n", outdent(help.UsageLines(c)))
	if c.Example != "" {
		fmt.Fprintf(&b, "## Examples\n\n```sh\n%s\n```\n\n", strings.TrimRight(outdent(c.Example), "\n"))
	}
	var subs, topics []*cobra.Command
	for _, sub := range help.Documented(c)[1:] {
		if sub.Parent() == c && sub.IsAdditionalHelpTopicCommand() {
			topics = append(topics, sub)
		} else if sub.Parent() == c {
			subs = append(subs, sub)
		}
	}
	for _, group := range c.Groups() {
		b.WriteString(commandTable(strings.TrimSuffix(group.Title, ":"), slices.DeleteFunc(slices.Clone(subs), func(c *cobra.Command) bool { return c.GroupID != group.ID })))
	}
	subs = slices.DeleteFunc(subs, func(c *cobra.Command) bool { return c.GroupID != "" })
	title := "Commands"
	if len(c.Groups()) > 0 {
		title = "Other"
	}
	b.WriteString(commandTable(title, subs))
	b.WriteString(commandTable("Topics", topics))
	for _, group := range help.FlagGroups(c) {
		b.WriteString(flagTable(group.Title, group.Flags))
	}
	if c.HasParent() {
		fmt.Fprintf(&b, "See also the [global flags](operon.md#global-flags) and [%s](%s).\n", c.Parent().CommandPath(), referenceName(c.Parent()))
	} else {
		b.WriteString(flagTable("Global flags", c.PersistentFlags()))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// commandTable returns a section with links to the pages of commands, or nothing if there are none.
func commandTable(title string, commands []*cobra.Command) string {
	if len(commands) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| | |\n|---|---|\n", title)
	for _, c := range commands {
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", referenceTitle(c), referenceName(c), escapeMarkdown(c.Short))
	}
	return b.String() + "\n"
}

// flagTable returns a section with flags, or nothing if there are none.
func flagTable(title string, flags *pflag.FlagSet) string {
	var rows strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			fmt.Fprintf(&rows, "| `%s` | %s |\n", strings.ReplaceAll(strings.TrimSpace(help.FlagSyntax(f)), "|", `\|`), escapeMarkdown(help.FlagDescription(f)))
		}
	})
	if rows.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("## %s\n\n| Flag | Description |\n|---|---|\n%s\n", title, rows.String())
}

// markdownParagraphs returns a help text as Markdown. Indented lines become code blocks.
func markdownParagraphs(text string) string {
	var b strings.Builder
	code := false
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		indented := strings.HasPrefix(line, "  ") || code && line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ")
		if indented != code {
			b.WriteString("```\n")
			if code && line != "" {
				b.WriteString("\n")
			}
			code = indented
		}
		if code {
			b.WriteString(strings.TrimPrefix(line, "  ") + "\n")
		} else {
			b.WriteString(escapeMarkdown(line) + "\n")
		}
	}
	if code {
		b.WriteString("```\n")
	}
	return b.String() + "\n"
}

// outdent removes the indentation of two columns from all lines.
func outdent(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n  ", "\n"), "  ")
}

// escapeMarkdown escapes characters that Markdown interprets.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "|", `\|`).Replace(text)
}
