package calls

import (
	"path"
	"strings"
)

// fields expands a word to the arguments of a command.
func (s *shell) fields(word string) []string {
	if words, ok := s.arrays[strings.TrimSuffix(strings.TrimPrefix(word, `"${`), `[@]}"`)]; ok && strings.HasSuffix(word, `[@]}"`) {
		return words
	}
	words := []string{word}
	if s.bash {
		words = expandBraces(word)
	}
	var all []string
	for _, word := range words {
		all = append(all, s.expand(word)...)
	}
	return all
}

// expand removes quotes and replaces variables and commands. Unquoted values are split at white space.
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

// parameter expands the expression at the start of text, a dollar sign or a back quote, and returns its length.
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

// nameLength returns the length of the name of a variable or parameter at the start of text.
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
	// The caller of a script sets the program.
	plain := strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "")), "bin")
	program, ok := map[string]string{"controllergen": "controller-gen", "kustomize": "kustomize", "operatorsdk": "operator-sdk"}[plain]
	return program, ok
}

// expandBraces expands the first unquoted {a,b} of a word as bash does, and those in the results.
func expandBraces(word string) []string {
	for i := 0; i < len(word); {
		switch c := word[i]; {
		case c == '\\':
			i += 2
		case c == '\'' || c == '"':
			i += quoteLength(word[i:], c == '"')
		case c == '`' || c == '$' && i+1 < len(word) && (word[i+1] == '(' || word[i+1] == '{'):
			i += substitutionLength(word[i:])
		case c == '{':
			parts, n := splitBraces(word[i:])
			if len(parts) < 2 {
				i++
				continue
			}
			var all []string
			for _, part := range parts {
				all = append(all, expandBraces(word[:i]+part+word[i+n:])...)
			}
			return all
		default:
			i++
		}
	}
	return []string{word}
}

// splitBraces splits {a,b} at its commas, and returns its length.
func splitBraces(text string) (parts []string, n int) {
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
