// Package words splits and joins command lines as a shell does, and wraps text for terminals.
package words

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Split splits a command line into words like a POSIX shell: at white space, with quotes and backslashes. It returns an error
// for syntax that requires a shell, as none is run.
func Split(line string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		begun bool
		quote rune
	)
	text := []rune(line)
	for i := 0; i < len(text); i++ {
		r := text[i]
		switch {
		case quote == '\'':
			if r == quote {
				quote = 0
				continue
			}
		case r == '\\':
			if i+1 == len(text) {
				return nil, errors.New("ends in a backslash")
			}
			i++
			if quote == '"' && !strings.ContainsRune("\\\"$`", text[i]) {
				word.WriteRune('\\') // in double quotes, it is literal before other characters
			}
			word.WriteRune(text[i])
			begun = true
			continue
		case r == '$' || r == '`':
			return nil, needsShell(r)
		case quote == '"':
			if r == quote {
				quote = 0
				continue
			}
		case r == '\'' || r == '"':
			quote, begun = r, true
			continue
		case strings.ContainsRune(" \t\r\n", r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
			continue
		case strings.ContainsRune("|&;<>()*?[", r), strings.ContainsRune("~#", r) && !begun:
			return nil, needsShell(r)
		}
		word.WriteRune(r)
		begun = true
	}
	if quote != 0 {
		return nil, fmt.Errorf("has an unclosed %c", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("has no program")
	}
	return words, nil
}

func needsShell(r rune) error {
	return fmt.Errorf("has a %c, which requires a shell; quote it, or use a script", r)
}

// Join is the inverse of Split. It quotes words where a shell requires it.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\r\n\\\"'$`|&;<>()*?[~#") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Wrap breaks a text at spaces into lines of at most width columns, as far as its words permit.
func Wrap(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case line == "":
			line, length = word, n
		case length+1+n > width:
			lines = append(lines, line)
			line, length = word, n
		default:
			line, length = line+" "+word, length+1+n
		}
	}
	return append(lines, line)
}

// Trimmed returns the elements of a list without white space around them.
func Trimmed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.TrimSpace(s)
	}
	return out
}
