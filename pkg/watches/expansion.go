package watches

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// reference matches references to environment variables, and two dollars, which are none.
var reference = lazyregexp.New(`\$\$|\$\{([^{}\s]+)\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// An expansion is a text in which references to variables are replaced.
type expansion struct {
	data         []byte // before
	expanded     []byte
	replacements []replacement // sorted
}

// A replacement is a reference and its value, by their offsets.
type replacement struct {
	start, end       int // in data
	newStart, newEnd int // in expanded
}

// expand replaces $NAME and ${NAME} where lookup has a value, which may be empty. Everything else stays as it is.
func expand(data []byte, lookup func(string) (string, bool)) *expansion {
	e := &expansion{data: data}
	last := 0
	for _, m := range reference.FindAllSubmatchIndex(data, -1) {
		name := ""
		for _, group := range []int{2, 4} {
			if m[group] >= 0 {
				name = string(data[m[group]:m[group+1]])
			}
		}
		value, ok := lookup(name)
		if name == "" || !ok {
			continue
		}
		e.expanded = append(e.expanded, data[last:m[0]]...)
		start := len(e.expanded)
		e.expanded = append(e.expanded, value...)
		e.replacements = append(e.replacements, replacement{m[0], m[1], start, len(e.expanded)})
		last = m[1]
	}
	e.expanded = append(e.expanded, data[last:]...)
	return e
}

// original returns the position in the text before the expansion. Zero values stay.
func (e *expansion) original(line, column int) (int, int) {
	if e == nil || len(e.replacements) == 0 || line == 0 {
		return line, column
	}
	at := offset(e.expanded, line, column)
	i, _ := slices.BinarySearchFunc(e.replacements, at, func(r replacement, at int) int {
		if r.newStart <= at {
			return -1
		}
		return 1
	})
	if i > 0 {
		if r := e.replacements[i-1]; at < r.newEnd {
			at = r.start
		} else {
			at += r.end - r.newEnd
		}
	}
	return position(e.data, at)
}

var lineNumber = lazyregexp.New(`\bline ([0-9]+)\b`)

// originalLines replaces the numbers of lines in a message of a parser.
func (e *expansion) originalLines(message string) string {
	return lineNumber.ReplaceAllStringFunc(message, func(text string) string {
		line, err := strconv.Atoi(strings.TrimPrefix(text, "line "))
		if err != nil {
			return text
		}
		line, _ = e.original(line, 1)
		return "line " + strconv.Itoa(line)
	})
}

// offset returns the offset of a position that a YAML parser reports: lines end as in YAML 1.1, columns count characters.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1 && at < len(data); line-- {
		at = nextLine(data, at)
	}
	for ; column > 1 && at < len(data); column-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}

// position is the inverse of offset.
func position(data []byte, at int) (line, column int) {
	at = min(at, len(data))
	line = 1
	start := 0
	for next := nextLine(data, 0); next <= at && next > start && endsLine(data[:next]); next = nextLine(data, next) {
		start = next
		line++
	}
	return line, utf8.RuneCount(data[start:at]) + 1
}

// nextLine returns the offset after the line that contains an offset.
func nextLine(data []byte, at int) int {
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		at += size
		switch r {
		case '\r':
			if at < len(data) && data[at] == '\n' {
				at++
			}
			return at
		case '\n', '\u0085', '\u2028', '\u2029':
			return at
		}
	}
	return at
}

// endsLine reports whether a text ends with the end of a line.
func endsLine(data []byte) bool {
	r, _ := utf8.DecodeLastRune(data)
	return strings.ContainsRune("\r\n\u0085\u2028\u2029", r)
}
