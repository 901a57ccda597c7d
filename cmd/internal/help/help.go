// Package help prints what cobra knows about commands and their flags: as help for a terminal of any width, and as manual pages.
package help

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/operon-sdk/operon/cmd/internal/words"
)

const (
	// Columns is the width of help texts that are not printed at a terminal.
	Columns = 80
	// minHelpColumns and maxHelpColumns bound the width at a terminal; longer lines are hard to read.
	minHelpColumns, maxHelpColumns = 40, 100
	// flagColumns is the width up to which flags share a line with their description, which has minTextColumns at least.
	flagColumns, minTextColumns = 32, 20
	// narrowIndent is the indentation of descriptions where they do not fit beside the flags.
	narrowIndent = 8
)

// valueAnnotation is the annotation of a flag with the name of its value.
const valueAnnotation = "operon_value"

// NameValues moves the names of values from the usage of all flags, where pflag has them in back quotes, to an annotation:
// shell completion prints the usage as it is.
func NameValues(c *cobra.Command) {
	name := func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if usage != f.Usage {
			f.Usage = usage
			SetValueName(f, value)
		}
	}
	c.Flags().VisitAll(name)
	c.PersistentFlags().VisitAll(name)
	for _, sub := range c.Commands() {
		NameValues(sub)
	}
}

// SetValueName sets what ValueName returns.
func SetValueName(f *pflag.Flag, name string) { annotate(f, valueAnnotation, name) }

func annotate(f *pflag.Flag, key string, values ...string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = values
}

// ValueName returns the name of a flag's value. It is empty for flags without a value.
func ValueName(f *pflag.Flag) string {
	if names := f.Annotations[valueAnnotation]; len(names) > 0 {
		return names[0]
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// Width returns the number of columns that help texts may use on a stream; terminal reports whether it is one.
func Width(out io.Writer, terminal bool) int {
	if file, ok := out.(*os.File); ok && terminal {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return min(max(width, minHelpColumns), maxHelpColumns)
		}
	}
	return Columns
}

// Text returns the help of a command with lines of at most width columns, as far as its words permit. It begins with what most readers look
// for: the purpose, the usage and an example. A short text leaves out details and other examples.
func Text(c *cobra.Command, width int, short bool) string {
	var b strings.Builder
	purpose, details, _ := strings.Cut(commandDescription(c), "\n\n")
	if c.IsAdditionalHelpTopicCommand() {
		purpose, details = commandDescription(c), ""
	}
	b.WriteString(wrapText(purpose, width))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", title, text)
		}
	}
	section("Usage", UsageLines(c))
	example, others, _ := strings.Cut(c.Example, "\n\n")
	if short && others != "" {
		section("Example", wrapCommands(example+"\n", width))
	} else {
		section("Examples", wrapCommands(c.Example, width))
	}
	if details != "" && !short {
		b.WriteString("\n" + wrapText(details, width))
	}
	for _, group := range append(c.Groups(), &cobra.Group{Title: "Commands"}) {
		section(group.Title, commandList(c, width, func(sub *cobra.Command) bool {
			return sub.GroupID == group.ID && (sub.IsAvailableCommand() || sub.Name() == "help")
		}))
	}
	section("Topics", commandList(c, width, (*cobra.Command).IsAdditionalHelpTopicCommand))
	if !c.IsAdditionalHelpTopicCommand() {
		for _, group := range FlagGroups(c) {
			section(group.Title, flagList(group.Flags, width))
		}
		section("Global Flags", flagList(c.Root().PersistentFlags(), width))
	}
	switch {
	case c.HasAvailableSubCommands():
		b.WriteString("\n" + wrapText(fmt.Sprintf("Run '%s [command] --help' for more information about a command.", c.CommandPath()), width))
	case short && details+others != "":
		b.WriteString("\n" + wrapText(fmt.Sprintf("Run '%s --help' for details and more examples.", c.CommandPath()), width))
	}
	return b.String()
}

// commandDescription returns the long description of a command, or else the short one.
func commandDescription(c *cobra.Command) string {
	if c.Long != "" {
		return strings.TrimSpace(c.Long)
	}
	return c.Short
}

// UsageLines returns how a command is called. A command that only groups others has no line of its own.
func UsageLines(c *cobra.Command) string {
	var b strings.Builder
	if c.Runnable() && (!c.HasAvailableSubCommands() || c.LocalNonPersistentFlags().HasAvailableFlags()) {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	return b.String()
}

// commandList lists some sub-commands, with all descriptions in the same column.
func commandList(c *cobra.Command, width int, include func(*cobra.Command) bool) string {
	var rows [][2]string
	longest := 0
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			longest = max(longest, len(sub.Name()))
		}
		if include(sub) {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	for i := range rows {
		rows[i][0] = fmt.Sprintf("  %-*s", longest, rows[i][0])
	}
	return columns(rows, width)
}

func flagList(flags *pflag.FlagSet, width int) string {
	var rows [][2]string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			rows = append(rows, [2]string{"  " + FlagSyntax(f), FlagDescription(f)})
		}
	})
	return columns(rows, width)
}

// FlagSyntax returns how a flag is given, such as "-o, --output text|json".
func FlagSyntax(f *pflag.Flag) string {
	syntax := "    --" + f.Name
	if f.Shorthand != "" {
		syntax = "-" + f.Shorthand + ", --" + f.Name
	}
	if value := ValueName(f); value != "" {
		syntax += " " + value
	}
	return syntax
}

// FlagDescription returns the usage of a flag with its default, unless the usage describes the default itself.
func FlagDescription(f *pflag.Flag) string {
	value := strings.Trim(f.DefValue, "[]")
	if strings.Contains(f.Usage, "(default") || slices.Contains([]string{"", "0", "0s", "false"}, value) {
		return f.Usage
	}
	return f.Usage + " (default: " + value + ")"
}

// columns prints rows in two columns, and wraps the second. A first cell that is wider than flagColumns has its own line.
func columns(rows [][2]string, width int) string {
	indent := 0
	for _, row := range rows {
		if n := utf8.RuneCountInString(row[0]); n <= flagColumns {
			indent = max(indent, n)
		}
	}
	indent += 3
	if width-indent < minTextColumns {
		indent = narrowIndent
	}
	var b strings.Builder
	for _, row := range rows {
		lines := words.Wrap(row[1], width-indent)
		first := utf8.RuneCountInString(row[0])
		b.WriteString(row[0])
		for i, line := range lines {
			if i > 0 || first+3 > indent {
				b.WriteString("\n")
				first = 0
			}
			fmt.Fprintf(&b, "%s%s", strings.Repeat(" ", indent-first), line)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// wrapText wraps the paragraphs of a text. Indented lines are kept as they are; a list item begins with "- ".
func wrapText(text string, width int) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if len(paragraph) == 0 {
			return
		}
		indent := ""
		if strings.HasPrefix(paragraph[0], "- ") {
			indent = "  "
		}
		for i, line := range words.Wrap(strings.Join(paragraph, " "), width-len(indent)) {
			if i > 0 {
				b.WriteString(indent)
			}
			b.WriteString(line + "\n")
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, " "):
			flush()
			b.WriteString(line + "\n")
		case strings.HasPrefix(line, "- "):
			flush()
			fallthrough
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return b.String()
}

// wrapCommands wraps the commands of examples so that a shell still reads each as one, preferably before a flag.
func wrapCommands(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		more := ""
		for utf8.RuneCountInString(line) > width && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			at := breakCommand(line, width-2)
			if at < 0 {
				break
			}
			if more == "" {
				more = line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
			}
			b.WriteString(line[:at] + " \\\n")
			line = more + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// breakCommand returns the index of the last space outside quotes before which line has at most width columns. It
// prefers the last one before a flag or a pipe, and returns -1 if there is none.
func breakCommand(line string, width int) int {
	best, any := -1, -1
	quote, column, begun := rune(0), 0, false
	for i, r := range line {
		if column > width {
			break
		}
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' && begun:
			any = i
			if rest := line[i+1:]; strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "|") {
				best = i
			}
		case r != ' ':
			begun = true
		}
		column++
	}
	if best >= 0 {
		return best
	}
	return any
}
