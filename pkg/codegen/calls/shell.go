package calls

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A shell evaluates a script to find the calls of controller-gen in it. It evaluates all branches of conditions, and the
// body of a for loop for each word, and starts no process. Unlike a shell, it continues after invalid syntax.
type shell struct {
	*finder
	dir       string // relative to the project, of the current command
	at        diag.Position
	variables map[string]string
	arguments []string
	arrays    map[string][]string
	bash      bool
	// inScript reports whether line numbers count within the script.
	inScript bool
	// isAfterCall reports whether a call precedes the current command.
	isAfterCall bool
	stack       []string // directories of enclosing subshells
	// pipeline has an entry for each command whose output the current one reads: what kustomize builds, or nothing.
	// writes is the redirection of the current command to a file, such as >> FILE, or empty.
	pipeline []build
	writes   string
	steps    int
	base     int // the first line of the script
}

// maxSteps limits the commands that one script runs, which nested loops multiply.
const maxSteps = 10000

func (s *shell) run(script string) {
	s.base = s.at.Line
	s.list(tokenize(script))
}

func (s *shell) list(tokens []token) {
	for i := 0; i < len(tokens) && s.steps < maxSteps; {
		if tokens[i].operator {
			switch tokens[i].text {
			case "|", ")":
			default:
				s.pipeline = nil
			}
			switch tokens[i].text {
			case "(":
				s.stack = append(s.stack, s.dir)
			case ")":
				if n := len(s.stack); n > 0 {
					s.dir, s.stack = s.stack[n-1], s.stack[:n-1]
				}
			}
			i++
			continue
		}
		if end := s.function(tokens, i); end > i {
			i = end
			continue
		}
		if end := s.array(tokens, i); end > i {
			i = end
			continue
		}
		if tokens[i].text == "for" {
			if end := s.loop(tokens, i); end > i {
				i = end
				continue
			}
		}
		end := commandEnd(tokens, i)
		words := tokens[i:end]
		if s.inScript {
			s.at.Line = s.base + words[0].line
		}
		s.steps++
		s.command(words)
		i = end
	}
}

// function returns the index after the head of a function, or i for other tokens. Its body is evaluated where it stands.
func (s *shell) function(tokens []token, i int) int {
	if i+2 < len(tokens) && tokens[i+1].is("(") && tokens[i+2].is(")") {
		return i + 3
	}
	return i
}

// array evaluates "NAME=(WORDS)", and returns the index after it, or i for other tokens.
func (s *shell) array(tokens []token, i int) int {
	name, isArray := strings.CutSuffix(tokens[i].text, "=")
	if !isArray || !assignment.MatchString(tokens[i].text) || i+1 >= len(tokens) || !tokens[i+1].is("(") {
		return i
	}
	name, appends := strings.CutSuffix(name, "+")
	var words []string
	if appends {
		words = s.arrays[name]
	}
	for i += 2; i < len(tokens) && !tokens[i].is(")"); i++ {
		if !tokens[i].operator {
			words = append(words, s.fields(tokens[i].text)...)
		}
	}
	if s.arrays == nil {
		s.arrays = map[string][]string{}
	}
	s.arrays[name], s.variables[name] = words, strings.Join(words, " ")
	return i + 1
}

// commandEnd returns the index of the first operator after the index start.
func commandEnd(tokens []token, start int) int {
	for start < len(tokens) && !tokens[start].operator {
		start++
	}
	return start
}

// loop evaluates "for NAME in WORDS; do LIST; done", and returns the index after it, or i for other tokens.
func (s *shell) loop(tokens []token, i int) int {
	if i+2 >= len(tokens) || tokens[i+2].text != "in" {
		return i
	}
	words := i + 3
	body := words
	for body < len(tokens) && (tokens[body].operator || tokens[body].text != "do") {
		body++
	}
	depth, end := 0, body
	for ; end < len(tokens); end++ {
		if tokens[end].operator {
			continue
		}
		if tokens[end].text == "do" {
			depth++
		} else if tokens[end].text == "done" {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if end >= len(tokens) {
		return i
	}
	for _, word := range tokens[words:body] {
		if word.operator {
			break
		}
		for _, value := range s.fields(word.text) {
			s.variables[tokens[i+1].text] = value
			s.list(tokens[body+1 : end])
		}
	}
	return end + 1
}

var (
	assignment = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	redirect   = lazyregexp.New(`^[0-9&]*(>>?|<)(&?[0-9-]+$)?`)
)

// command evaluates a simple command.
func (s *shell) command(tokens []token) {
	keywords := []string{"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "exec"}
	for len(tokens) > 0 && slices.Contains(keywords, tokens[0].text) {
		tokens = tokens[1:]
	}
	local := map[string]string{}
	for len(tokens) > 0 {
		if slices.Contains([]string{"export", "local", "readonly", "declare", "typeset"}, tokens[0].text) ||
			strings.HasPrefix(tokens[0].text, "-") && len(local) > 0 {
			tokens = tokens[1:]
			continue
		}
		if !assignment.MatchString(tokens[0].text) {
			break
		}
		name, value, _ := strings.Cut(tokens[0].text, "=")
		value = strings.Join(s.fields("\"\""+value), " ")
		if plain, ok := strings.CutSuffix(name, "+"); ok {
			name, value = plain, s.variables[plain]+value
		}
		local[name] = value
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		maps.Copy(s.variables, local)
		return
	}
	var words []string
	for _, word := range withoutRedirects(tokens) {
		words = append(words, s.fields(word.text)...)
	}
	if len(words) > 0 {
		s.writes = s.redirection(tokens)
		s.execute(words, local)
		if s.bundle != nil {
			s.pipeline = append(s.pipeline, s.built(words))
		}
	}
}

// redirection returns the redirection of a command that writes to a file other than a device, or empty.
func (s *shell) redirection(tokens []token) string {
	for i, word := range tokens {
		m := redirect.FindString(word.text)
		file := strings.TrimPrefix(word.text, m)
		if m == word.text && i+1 < len(tokens) {
			file = tokens[i+1].text
		}
		if strings.HasSuffix(m, ">") && file != "" && !strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "&") {
			return m + " " + strings.Join(s.fields(file), " ")
		}
	}
	return ""
}

// withoutRedirects returns the words of a command without redirections.
func withoutRedirects(tokens []token) []token {
	var words []token
	for i := 0; i < len(tokens); i++ {
		m := redirect.FindString(tokens[i].text)
		if m == "" {
			words = append(words, tokens[i])
		} else if m == tokens[i].text && strings.HasSuffix(strings.TrimSuffix(m, "<"), ">") || m == "<" {
			i++ // the file is the next word
		}
	}
	return words
}
