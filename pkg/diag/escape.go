package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns text that cannot do anything to a terminal: control characters except for tabs and line breaks (\n and \r\n),
// characters that change the direction of text, and invalid UTF-8 are written as in Go strings, such as \x1b. Everything that did not
// come from Operon can contain them: names of files and objects, errors of libraries, annotations.
func Escape(text string) string { return escape(text, "\n\t") }

// EscapeLine is Escape for a name, which stays on its line.
func EscapeLine(name string) string { return escape(name, "") }

// EscapeJSON escapes what Escape does within the strings of JSON, so that its meaning remains.
func EscapeJSON(text string) string {
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if acts(r) && r > '\n' && r != '\r' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escape(text, kept string) string {
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !acts(r) || strings.ContainsRune(kept, r) || kept != "" && strings.HasPrefix(text[i:], "\r\n"):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// acts reports whether a terminal or a reader of lines does something else with a character than to show it.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Continue returns a text whose lines after the first are indented, so that none can be taken for another message. A text in which they are
// already is returned as it is.
func Continue(text string) string {
	first, rest, many := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if !many {
		return text
	}
	lines := strings.SplitAfter(rest, "\n")
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	indent := ""
	for _, line := range lines {
		if !blank(line) && !strings.HasPrefix(line, "  ") {
			indent = "  "
		}
	}
	for i, line := range lines {
		if !blank(line) {
			lines[i] = indent + line
		}
	}
	return first + "\n" + strings.Join(lines, "")
}
