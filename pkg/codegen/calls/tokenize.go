package calls

import "strings"

// A token is a word of a script before expansion, or an operator.
type token struct {
	text     string
	operator bool
	line     int // from 0
}

func (t token) is(operator string) bool { return t.operator && t.text == operator }

// tokenize splits a script into words and operators. Comments and here documents are left out.
func tokenize(script string) []token {
	var tokens []token
	var heredocs []string
	line := 0
	add := func(text string, operator bool) { tokens = append(tokens, token{text, operator, line}) }
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case c == '\n':
			add(";", true)
			i++
			line++
			for _, end := range heredocs {
				i, line = skipHeredoc(script, i, line, end)
			}
			heredocs = nil
		case c == '\\' && strings.HasPrefix(script[i:], "\\\n"):
			i += 2
			line++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			for i < len(script) && script[i] != '\n' {
				i++
			}
		case strings.HasPrefix(script[i:], "<<") && !strings.HasPrefix(script[i:], "<<<"):
			i += 2
			if i < len(script) && script[i] == '-' {
				i++
			}
			for i < len(script) && script[i] == ' ' {
				i++
			}
			end := i + wordLength(script[i:])
			heredocs = append(heredocs, strings.Trim(script[i:end], `"'\`))
			i = end
		case strings.IndexByte(";&|()", c) >= 0 && !strings.HasPrefix(script[i:], "&>"):
			n := 1
			if c != '(' && c != ')' && i+1 < len(script) && script[i+1] == c {
				n = 2
			}
			add(script[i:i+n], true)
			i += n
		default:
			n := wordLength(script[i:])
			add(strings.ReplaceAll(script[i:i+n], "\\\n", ""), false)
			line += strings.Count(script[i:i+n], "\n")
			i += n
		}
	}
	return tokens
}

// skipHeredoc returns the offset and line after a here document.
func skipHeredoc(script string, i, line int, end string) (int, int) {
	for i < len(script) {
		text, _, found := strings.Cut(script[i:], "\n")
		i += len(text)
		if found {
			i++
			line++
		}
		if strings.TrimLeft(text, "\t") == end {
			break
		}
	}
	return i, line
}

// wordLength returns the length of the word at the start of text, at least 1 unless text is empty.
func wordLength(text string) int {
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '\\':
			i += 2
		case c == '\'':
			i += quoteLength(text[i:], false)
		case c == '"':
			i += quoteLength(text[i:], true)
		case c == '`' || c == '$' && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '{'):
			i += substitutionLength(text[i:])
		case (c == '>' || c == '<') && i+1 < len(text) && text[i+1] == '&', c == '&' && i+1 < len(text) && text[i+1] == '>':
			i += 2 // 2>&1
		case strings.IndexByte(" \t\r\n;&|()", c) >= 0:
			return max(i, min(1, len(text)))
		default:
			i++
		}
	}
	return min(i, len(text))
}

// quoteLength returns the length of the quoted string at the start of text.
func quoteLength(text string, expands bool) int {
	for i := 1; i < len(text); {
		switch {
		case text[i] == text[0]:
			return i + 1
		case expands && text[i] == '\\':
			i += 2
		case expands && (text[i] == '`' || text[i] == '$' && i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '{')):
			i += substitutionLength(text[i:])
		default:
			i++
		}
	}
	return len(text)
}

// substitutionLength returns the length of `...`, $(...) or ${...} at the start of text.
func substitutionLength(text string) int {
	if text[0] == '`' {
		return quoteLength(text, false)
	}
	end := byte(')')
	if text[1] == '{' {
		end = '}'
	}
	depth := 0
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == '\\':
			i += 2
		case c == '\'' && end == ')':
			i += quoteLength(text[i:], false)
		case c == '"':
			i += quoteLength(text[i:], true)
		case c == text[1]:
			depth++
			i++
		case c == end:
			i++
			if depth--; depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(text)
}
