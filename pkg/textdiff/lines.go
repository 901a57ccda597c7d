package textdiff

import (
	"bytes"
	"slices"
)

// ToLF converts a text whose lines all end in CRLF to LF, and reports whether it did. Other texts are returned unchanged.
func ToLF(text []byte) (lf []byte, crlf bool) {
	if n := bytes.Count(text, []byte("\n")); n == 0 || bytes.Count(text, []byte("\r\n")) != n {
		return text, false
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), true
}

// AllToLF converts all CRLF of a text to LF, and reports whether there were any.
func AllToLF(text []byte) (lf []byte, crlf bool) {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), bytes.Contains(text, []byte("\r\n"))
}

// FromLF is the inverse of ToLF.
func FromLF(text []byte, crlf bool) []byte {
	if !crlf {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// CountLines returns how often consecutive lines occur in other lines.
func CountLines(lines, part []string) int {
	n := 0
	for i := 0; i+len(part) <= len(lines); i++ {
		if slices.Equal(lines[i:i+len(part)], part) {
			n++
		}
	}
	return n
}
