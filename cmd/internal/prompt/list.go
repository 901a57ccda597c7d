package prompt

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxRows is the number of options that are on the screen at the same time.
	maxRows = 15
	// maxFilter is the length of the text that options are filtered by.
	maxFilter = answerColumns - 2
	listHelp  = "  (arrows and Enter choose, typing filters)"
)

// list is a list at a terminal in raw mode. The cursor remains behind its title and the filter, above the options.
type list struct {
	keys    *keys
	out     io.Writer
	title   string
	columns int
	options []string

	filter string
	// matches are the indices of the options that contain the filter, selected is an index in matches.
	matches  []int
	selected int
}

// choose returns the index of the chosen option, or io.EOF after Ctrl-C.
func (l *list) choose(suggestion int) (int, error) {
	l.setFilter("")
	l.selected = suggestion
	for {
		l.draw()
		r, err := l.keys.key()
		if err != nil {
			return 0, err
		}
		switch {
		case r == keyEnter:
			fmt.Fprintf(l.out, "\r\x1b[J%s %s\r\n", l.title, l.options[l.matches[l.selected]])
			return l.matches[l.selected], nil
		case r == keyInterrupt || r == keyEnd:
			fmt.Fprint(l.out, "\r\x1b[J", l.title, "\r\n")
			return 0, io.EOF
		case r == keyUp:
			l.selected = (l.selected + len(l.matches) - 1) % len(l.matches)
		case r == keyDown:
			l.selected = (l.selected + 1) % len(l.matches)
		case r == keyBackspace && l.filter != "":
			filter := []rune(l.filter)
			l.setFilter(string(filter[:len(filter)-1]))
		case r == keyEraseLine || r == keyEraseWord:
			l.setFilter("")
		case unicode.IsPrint(r) && len(l.filter) < maxFilter:
			l.setFilter(l.filter + string(r))
		}
	}
}

// setFilter shows the options that contain a text, unless none does. It selects the first one that begins with it.
func (l *list) setFilter(filter string) {
	var matches []int
	for i, option := range l.options {
		if strings.Contains(strings.ToLower(option), strings.ToLower(filter)) {
			matches = append(matches, i)
		}
	}
	if len(matches) == 0 {
		return
	}
	l.filter, l.matches = filter, matches
	l.selected = max(0, slices.IndexFunc(matches, func(i int) bool {
		return strings.HasPrefix(strings.ToLower(l.options[i]), strings.ToLower(filter))
	}))
}

// draw draws the list over an earlier one.
func (l *list) draw() {
	first := max(0, min(l.selected-maxRows/2, len(l.matches)-maxRows))
	rows := []string{}
	for i, option := range l.matches[first:min(len(l.matches), first+maxRows)] {
		mark := "  "
		if first+i == l.selected {
			mark = "> "
		}
		rows = append(rows, mark+l.options[option])
	}
	rows = append(rows, listHelp)
	if hidden := len(l.matches) - len(rows) + 1; hidden > 0 {
		rows[len(rows)-1] += fmt.Sprintf("; %d more", hidden)
	}
	fmt.Fprint(l.out, "\r\x1b[J", l.title, " ", l.filter)
	for _, row := range rows {
		if r := []rune(row); len(r) > l.columns {
			row = string(r[:l.columns-1]) + "…"
		}
		fmt.Fprint(l.out, "\r\n", row)
	}
	fmt.Fprintf(l.out, "\x1b[%dA\r\x1b[%dC", len(rows), len([]rune(l.title))+1+len([]rune(l.filter)))
}
