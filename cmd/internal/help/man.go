package help

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Documented returns a command and its sub-commands as far as help lists them.
func Documented(c *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() || sub.Name() == "help" {
			commands = append(commands, Documented(sub)...)
		}
	}
	return commands
}

// ManName returns the name of the manual page of a command.
func ManName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// ManPage returns the manual page of a command, with the same texts as its help. The date can be empty.
func ManPage(c *cobra.Command, version, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q\n.nh\n", strings.ToUpper(ManName(c)), date, version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(ManName(c)), roff(c.Short))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s", title, text)
		}
	}
	if !c.IsAdditionalHelpTopicCommand() {
		section("SYNOPSIS", verbatim(UsageLines(c)))
	}
	section("DESCRIPTION", paragraphs(commandDescription(c)))
	section("EXAMPLES", verbatim(wrapCommands(c.Example, Columns)))
	if !c.IsAdditionalHelpTopicCommand() {
		section("OPTIONS", manFlags(c.LocalNonPersistentFlags()))
		section("GLOBAL OPTIONS", manFlags(c.Root().PersistentFlags()))
	}
	var others []string
	if c.HasParent() {
		others = append(others, ManName(c.Parent()))
	}
	for _, sub := range Documented(c)[1:] {
		if sub.Parent() == c {
			others = append(others, ManName(sub))
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
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", roff(strings.TrimSpace(FlagSyntax(f))), roff(FlagDescription(f)))
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
