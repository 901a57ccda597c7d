package calls

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
)

// Around the text of a command whose output is not known. The characters do not occur in scripts.
const (
	unresolvedStart = "\uE0F2"
	unresolvedEnd   = "\uE0F3"
	// unresolvedSpace stands for white space in that text, so that the text stays one word.
	unresolvedSpace = "\uE0F4"
)

// unresolved stands for the output of a command.
func unresolved(command string) string {
	return unresolvedStart + strings.Join(strings.Fields(command), unresolvedSpace) + unresolvedEnd
}

// token is a word of a script, not expanded, or an operator.
type token struct {
	text     string
	operator bool
	line     int // from 0
}

// tokenize divides a script into words and operators. Comments and here documents are left out.
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

// skipHeredoc returns where a here document ends.
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

// wordLength is the length of the word that text starts with, at least 1 where there is text.
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

// quoteLength is the length of a quoted text.
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

// substitutionLength is the length of `...`, $(...) or ${...}.
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

// fields expands a word to the fields that a command gets.
func (s *shell) fields(word string) []string {
	words := []string{word}
	if s.bash {
		words = braces(word)
	}
	var all []string
	for _, word := range words {
		all = append(all, s.expand(word)...)
	}
	return all
}

// expand removes quotes and replaces variables and commands. What is not quoted is divided at white space.
func (s *shell) expand(word string) []string {
	var fields []string
	var b strings.Builder
	started := false
	unquoted := func(value string) {
		for i, part := range strings.Fields(value) {
			if i > 0 || started && value[0] == ' ' && b.Len() > 0 {
				fields = append(fields, b.String())
				b.Reset()
			}
			b.WriteString(part)
			started = true
		}
	}
	for i := 0; i < len(word); {
		switch c := word[i]; {
		case c == '\\':
			if i+1 < len(word) {
				b.WriteByte(word[i+1])
			}
			started = true
			i += 2
		case c == '\'':
			n := quoteLength(word[i:], false)
			b.WriteString(strings.TrimSuffix(word[i+1:i+n], "'"))
			started = true
			i += n
		case c == '"':
			n := quoteLength(word[i:], true)
			s.quoted(&b, strings.TrimSuffix(word[i+1:i+n], `"`))
			started = true
			i += n
		case c == '$' || c == '`':
			value, n := s.parameter(word[i:])
			unquoted(value)
			i += n
		default:
			b.WriteByte(c)
			started = true
			i++
		}
	}
	if started {
		fields = append(fields, b.String())
	}
	return fields
}

// quoted expands the text in double quotes.
func (s *shell) quoted(b *strings.Builder, text string) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0:
			b.WriteByte(text[i+1])
			i += 2
		case c == '$' || c == '`':
			value, n := s.parameter(text[i:])
			b.WriteString(value)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
}

// parameter expands what starts with a dollar sign or a back quote, and returns how long that is.
func (s *shell) parameter(text string) (value string, n int) {
	if text[0] == '`' {
		n = substitutionLength(text)
		return s.substitute(strings.Trim(text[:n], "`")), n
	}
	if len(text) < 2 {
		return "$", 1
	}
	switch c := text[1]; {
	case c == '(':
		n = substitutionLength(text)
		return s.substitute(strings.TrimSuffix(text[2:n], ")")), n
	case c == '{':
		n = substitutionLength(text)
		inner := strings.TrimSuffix(text[2:n], "}")
		name := inner[:nameLength(inner)]
		rest := inner[len(name):]
		if rest == "[0]" {
			rest = ""
		}
		value, ok := s.lookup(name)
		switch {
		case rest == "":
			return value, n
		case strings.HasPrefix(rest, ":-") || strings.HasPrefix(rest, ":="):
			if !ok || value == "" {
				return strings.Join(s.expand(rest[2:]), " "), n
			}
			return value, n
		case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "="):
			if !ok {
				return strings.Join(s.expand(rest[1:]), " "), n
			}
			return value, n
		case strings.HasPrefix(rest, ":?"), rest == "[@]", rest == "[*]":
			return value, n
		}
		return unresolved("{" + inner + "}"), n
	case nameLength(text[1:]) > 0:
		n = 1 + nameLength(text[1:])
		value, _ = s.lookup(text[1:n])
		return value, n
	}
	return "$", 1
}

// nameLength is the length of the name of a variable or parameter.
func nameLength(text string) int {
	if text == "" {
		return 0
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '@' || c == '*' || c == '#' || c == '?' {
		return 1
	}
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] >= '0' && text[n] <= '9' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// lookup returns the value of a variable.
func (s *shell) lookup(name string) (string, bool) {
	if value, ok := s.variables[name]; ok {
		return value, true
	}
	switch name {
	case "PWD":
		return path.Join(s.root, s.dir), true
	case "BASH_SOURCE":
		name = "0"
	case "@", "*":
		if len(s.arguments) > 0 {
			return strings.Join(s.arguments[1:], " "), true
		}
		return "", false
	}
	if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
		if i := int(name[0] - '0'); i < len(s.arguments) {
			return s.arguments[i], true
		}
		return "", false
	}
	// Scripts get the program from their caller.
	if plain := strings.ToLower(strings.ReplaceAll(name, "_", "")); plain == "controllergen" || plain == "controllergenbin" {
		return "controller-gen", true
	}
	return "", false
}

// substitute returns the output of commands, as far as they are about directories and the year.
func (s *shell) substitute(script string) string {
	inner := &shell{finder: newFinder(s.files), dir: s.dir, variables: s.variables, arguments: s.arguments, bash: s.bash}
	var output string
	known := false
	tokens := tokenize(strings.TrimSpace(script))
	for i := 0; i < len(tokens); {
		if tokens[i].operator {
			if tokens[i].text == "||" && known {
				break
			}
			i++
			continue
		}
		end := i
		for end < len(tokens) && !tokens[end].operator {
			end++
		}
		var words []string
		for _, word := range withoutRedirects(tokens[i:end]) {
			words = append(words, inner.fields(word.text)...)
		}
		i = end
		text, ok := inner.output(words)
		if !ok {
			return unresolved(script)
		}
		if text != "" {
			output, known = text, true
		}
	}
	if !known {
		return unresolved(script)
	}
	return output
}

// output returns what a command prints.
func (s *shell) output(words []string) (string, bool) {
	if len(words) == 0 {
		return "", true
	}
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "--" })
	last := words[len(words)-1]
	switch text := strings.Join(words, " "); {
	case strings.Contains(text, unresolvedStart):
	case words[0] == "cd":
		s.dir = s.relative(last)
		return "", true
	case words[0] == "cat" && len(words) == 2:
		data, err := s.files.ReadFile(s.relative(last))
		return strings.TrimSpace(string(data)), err == nil
	case words[0] == "pwd":
		return path.Join(s.root, s.dir), true
	case words[0] == "dirname" && len(words) > 1:
		return path.Dir(last), true
	case (words[0] == "realpath" || words[0] == "readlink") && len(words) > 1:
		return path.Join(s.root, s.relative(last)), true
	case words[0] == "echo" && len(words) > 1:
		return strings.Join(words[1:], " "), true
	case text == "git rev-parse --show-toplevel":
		return s.root, s.read(".git/HEAD") != nil
	case text == "date +%Y", text == "date -u +%Y":
		return codegen.CurrentYear, true
	}
	return "", false
}

// braces expands the first unquoted {a,b} of a word as bash does, and those in the results.
func braces(word string) []string {
	for i := 0; i < len(word); {
		switch c := word[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i += quoteLength(word[i:], c == '"')
		case c == '`' || c == '$' && i+1 < len(word) && (word[i+1] == '(' || word[i+1] == '{'):
			i += substitutionLength(word[i:])
		case c == '{':
			parts, n := alternatives(word[i:])
			if len(parts) < 2 {
				i++
				continue
			}
			var all []string
			for _, part := range parts {
				all = append(all, braces(word[:i]+part+word[i+n:])...)
			}
			return all
		default:
			i++
		}
	}
	return []string{word}
}

// alternatives divides {a,b} at its commas, and returns how long it is.
func alternatives(text string) (parts []string, n int) {
	depth, start := 0, 1
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			i++
		case '\'', '"':
			i += quoteLength(text[i:], text[i] == '"') - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return append(parts, text[start:i]), i + 1
			}
		case ',':
			if depth == 1 {
				parts, start = append(parts, text[start:i]), i+1
			}
		}
		i++
	}
	return nil, 0
}
