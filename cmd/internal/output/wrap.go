package output

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// minColumns is the width below which lines are not wrapped.
const minColumns = 20

// wrapMessage ends the lines of a message on stderr at words, if that is a terminal.
func (p *Printer) wrapMessage(message string) string { return wrapped(p.Err, p.ErrTerminal, message) }

// wrapResult is wrapMessage for stdout.
func (p *Printer) wrapResult(result string) string { return wrapped(p.Out, p.OutTerminal, result) }

func wrapped(stream io.Writer, terminal bool, message string) string {
	file, ok := stream.(*os.File)
	if !ok || !terminal {
		return message
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil || columns < minColumns {
		return message
	}
	return wrap(message, columns)
}

// wrap breaks the lines of a message at spaces so that they fit into a number of columns, as far as its words permit. What follows is
// indented by two more columns. A command in quotes that fits into a line stays in one, so that it can be copied.
func wrap(message string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))] + "  "
		end := ""
		if strings.HasSuffix(line, "\n") {
			line, end = line[:len(line)-1], "\n"
		}
		for width(line) > columns {
			at := breakAt(line, columns)
			if at < 0 {
				break
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = indent + line[at+1:]
		}
		b.WriteString(line + end)
	}
	return b.String()
}

// breakAt returns the index of the last space at which a line can be broken, or -1 if there is none.
func breakAt(line string, columns int) int {
	last, used, quoted, color := -1, 0, -1, false
	start := len(line) - len(strings.TrimLeft(line, " "))
	for i, r := range line {
		switch {
		case r == '\'' && quoted < 0 && (i == 0 || line[i-1] == ' '):
			if closing := strings.IndexByte(line[i+1:], '\''); closing >= 0 && closing+2 <= columns-start-2 {
				quoted = i + 1 + closing
			}
		case i == quoted:
			quoted = -1
		case r == ' ' && i > start && quoted < 0 && (used <= columns || last < 0):
			last = i
		}
		if color = color || r == '\x1b'; !color {
			used++
		}
		color = color && r != 'm'
		if used > columns && last >= 0 {
			return last
		}
	}
	return last
}

// width returns the number of columns of a line, without its colors.
func width(line string) int {
	n := utf8.RuneCountInString(line)
	for {
		_, rest, found := strings.Cut(line, "\x1b[")
		if !found {
			return n
		}
		sequence, after, _ := strings.Cut(rest, "m")
		n -= len("\x1b[") + len(sequence) + len("m")
		line = after
	}
}
