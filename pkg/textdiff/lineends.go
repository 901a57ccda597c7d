package textdiff

import "bytes"

// ToLF returns a text whose lines all end in CRLF with LF instead, and whether that is the case. It returns any other
// text unchanged.
func ToLF(text []byte) (lf []byte, crlf bool) {
	if n := bytes.Count(text, []byte("\n")); n == 0 || bytes.Count(text, []byte("\r\n")) != n {
		return text, false
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), true
}

// FromLF is the inverse of ToLF.
func FromLF(text []byte, crlf bool) []byte {
	if !crlf {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}
