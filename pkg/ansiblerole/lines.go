package ansiblerole

import (
	"strconv"
	"strings"
)

// The private characters around the number of the line breaks that follow in a rendered template but are not in its file.
const (
	markBegin = "\ue002"
	markEnd   = "\ue003"
)

// inline writes the text of another template or of a macro. Its line breaks are marked, so that the lines after it keep their numbers.
func (r *rendering) inline(text string) {
	text = withoutMarks(text)
	if n := strings.Count(text, "\n"); n > 0 {
		r.out.WriteString(markBegin + strconv.Itoa(n) + markEnd)
	}
	r.out.WriteString(text)
}

// withoutMarks returns a text without marks of line breaks.
func withoutMarks(text string) string {
	if !strings.Contains(text, markBegin) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, markBegin)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, markEnd)
	}
}

// originalLines returns the lines of a rendered template without marks, and the index of the line in the file for each of them.
func originalLines(text string) (lines []string, origins []int) {
	origin, extra := 0, 0
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && extra > 0 {
			extra--
		} else if i > 0 {
			origin++
		}
		for rest := line; ; {
			_, after, ok := strings.Cut(rest, markBegin)
			if !ok {
				break
			}
			number, after, _ := strings.Cut(after, markEnd)
			n, _ := strconv.Atoi(number)
			extra, rest = extra+n, after
		}
		lines, origins = append(lines, withoutMarks(line)), append(origins, origin)
	}
	return lines, origins
}
