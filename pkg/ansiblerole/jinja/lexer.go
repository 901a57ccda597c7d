package jinja

import (
	"maps"
	"slices"
	"strings"
)

// A tokenKind is the kind of a token of an expression.
type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	stringToken
	operatorToken
)

type token struct {
	kind tokenKind
	text string
}

// operators are the operators of more than one character.
var operators = []string{"**", "//", "==", "!=", ">=", "<="}

// lex returns the tokens of an expression up to an end delimiter outside of brackets and strings, or up to the end of the text if
// the delimiter is "". rest is the text after the delimiter. ok is false if there is none.
func lex(text, end string) (tokens []token, rest string, ok bool) {
	depth := 0
	for text != "" {
		c := text[0]
		if end != "" && depth == 0 {
			for _, prefix := range []string{"", "-", "+"} {
				if after, found := strings.CutPrefix(text, prefix+end); found {
					return tokens, after, true
				}
			}
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			text = text[1:]
		case c == '\'' || c == '"':
			value, after, found := lexString(text)
			if !found {
				return nil, "", false
			}
			tokens, text = append(tokens, token{stringToken, value}), after
		case isNameByte(c) && !isDigit(c):
			n := 1
			for n < len(text) && isNameByte(text[n]) {
				n++
			}
			tokens, text = append(tokens, token{nameToken, text[:n]}), text[n:]
		case isDigit(c):
			n := 1
			for n < len(text) && (isNameByte(text[n]) || text[n] == '.' && n+1 < len(text) && isDigit(text[n+1])) {
				n++
			}
			tokens, text = append(tokens, token{numberToken, text[:n]}), text[n:]
		default:
			n := 1
			for _, operator := range operators {
				if strings.HasPrefix(text, operator) {
					n = len(operator)
				}
			}
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			}
			tokens, text = append(tokens, token{operatorToken, text[:n]}), text[n:]
		}
	}
	return tokens, "", end == ""
}

// lexString returns the value of a string at the beginning of a text.
func lexString(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return b.String(), text[i+1:], true
		case text[i] == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\', '\'', '"':
				b.WriteByte(text[i])
			default:
				b.WriteString(text[i-1 : i+1])
			}
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", false
}

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c >= 0x80
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// names returns the names of the named arguments, sorted.
func (a Arguments) names() []string { return slices.Sorted(maps.Keys(a.Named)) }
