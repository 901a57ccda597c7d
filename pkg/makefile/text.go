package makefile

import (
	"strings"
)

// cutAssignment splits a line at its assignment operator. It returns false if the line has no operator or is a rule.
func cutAssignment(code string) (name, operator, value string, ok bool) {
	at := indexOutside(code, ":=?+!")
	for at >= 0 {
		rest := code[at:]
		for _, op := range []string{":::=", "::=", ":=", "?=", "+=", "!=", "="} {
			if !strings.HasPrefix(rest, op) {
				continue
			}
			name = strings.TrimSpace(code[:at])
			if name == "" || strings.ContainsAny(withoutReferences(name), " \t#") {
				return "", "", "", false
			}
			return name, op, strings.TrimLeft(rest[len(op):], " \t"), true
		}
		if rest[0] == ':' {
			return "", "", "", false
		}
		next := indexOutside(rest[1:], ":=?+!")
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return "", "", "", false
}

// withoutReferences returns text without references to variables.
func withoutReferences(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if n := referenceLength(text[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// indexOutside returns the index of the first of the characters outside references to variables, or -1.
func indexOutside(text, chars string) int {
	for i := 0; i < len(text); {
		if n := referenceLength(text[i:]); n > 0 {
			i += n
			continue
		}
		if strings.IndexByte(chars, text[i]) >= 0 {
			return i
		}
		i++
	}
	return -1
}

// referenceLength returns the length of the reference that text starts with, or 0.
func referenceLength(text string) int {
	if len(text) < 2 || text[0] != '$' {
		return 0
	}
	open := text[1]
	if open != '(' && open != '{' {
		return 2
	}
	end := closing(text[1:])
	if end < 0 {
		return len(text)
	}
	return 1 + end + 1
}

// closing returns the index of the bracket that closes the first character of text, or -1.
func closing(text string) int {
	open, end := text[0], byte(')')
	if open == '{' {
		end = '}'
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// withoutComment returns a line without its comment, which starts at a number sign. A backslash escapes the sign.
func withoutComment(line string) string {
	var b strings.Builder
	for i := range len(line) {
		if line[i] != '#' {
			b.WriteByte(line[i])
			continue
		}
		if (len(line[:i])-len(strings.TrimRight(line[:i], `\`)))%2 == 0 {
			break
		}
		before := strings.TrimSuffix(b.String(), `\`)
		b.Reset()
		b.WriteString(before + "#")
	}
	return b.String()
}

// joinLines returns a logical line as one line, with a space for each backslash and line break.
func joinLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if i > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if i < len(lines)-1 {
			line = strings.TrimRight(strings.TrimSuffix(line, `\`), " \t") + " "
		}
		lines[i] = line
	}
	return strings.Join(lines, "")
}

// recipeText returns the text of a recipe line as passed to the shell, without the tabs that start continued lines.
func recipeText(text string) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	return strings.ReplaceAll(text, "\\\n\t", "\\\n")
}

// cutWord splits text after its first word.
func cutWord(text string) (word, rest string) {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], " \t")
	}
	return text, ""
}

// isContinued reports whether a line ends with a backslash that is not escaped.
func isContinued(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// splitLines splits text at line breaks without a preceding backslash.
func splitLines(text string) []string {
	var lines []string
	current := ""
	for _, line := range strings.Split(text, "\n") {
		current += line
		if isContinued(line) {
			current += "\n"
			continue
		}
		lines, current = append(lines, current), ""
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// cutOutside splits text at the first separator outside references to variables.
func cutOutside(text, separator string) (before, after string, ok bool) {
	if i := indexOutside(text, separator); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}
