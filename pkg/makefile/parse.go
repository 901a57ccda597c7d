// Package makefile parses and evaluates makefiles of GNU make. It starts no process and reads no environment, so the same
// files always give the same result: what $(shell ...) would print is unresolved unless the caller supplies it.
package makefile

import (
	"slices"
	"strings"
)

// A Kind is the kind of a Statement.
type Kind int

// The kinds of statements.
const (
	// Blank is a line of white space.
	Blank Kind = iota
	// Comment is a line with nothing but a comment.
	Comment
	// Assignment sets a variable, by an operator or by define and endef.
	Assignment
	// Rule names targets and prerequisites. The recipe follows as statements of its own.
	Rule
	// Recipe is a line of the recipe of the last rule.
	Recipe
	// Conditional is an ifeq, ifneq, ifdef, ifndef, else or endif line.
	Conditional
	// Include is an include, -include or sinclude line.
	Include
	// Directive is any other directive: export, unexport, undefine, vpath, load.
	Directive
	// Expression is a line without an operator, such as $(call NAME) or $(eval TEXT).
	Expression
)

// A Statement is a logical line of a makefile, with the lines that a backslash continues, or a define with its endef.
type Statement struct {
	Kind Kind
	// Line is the number of the first line, from 1.
	Line int
	// Text is the source, with line ends. The texts of all statements of a file are the file.
	Text string

	// Keyword is the directive of a Conditional, an Include or a Directive.
	Keyword string
	// Modifiers are those in front of an assignment: export, override, private, define.
	Modifiers []string
	// Targets are those of a rule, or of an assignment that is specific to targets. They are not expanded.
	Targets string
	// Separator stands between targets and prerequisites: ":", "::" or "&:".
	Separator string
	// Name and Operator are those of an assignment. The name is not expanded.
	Name, Operator string
	// Value is what is assigned, the prerequisites of a rule, the argument of a directive, the text of a recipe line without
	// the tab, or the expression. It is not expanded.
	Value string
	// Inline is the recipe that follows the prerequisites of a rule behind a semicolon, and HasInline reports whether there is
	// one.
	Inline    string
	HasInline bool
}

// Parse divides a makefile into statements. It accepts every input: a line that make would refuse becomes an Expression.
func Parse(data []byte) []Statement {
	p := &parser{rest: strings.SplitAfter(string(data), "\n"), line: 1}
	if last := len(p.rest) - 1; p.rest[last] == "" {
		p.rest = p.rest[:last]
	}
	var statements []Statement
	for len(p.rest) > 0 {
		statements = append(statements, p.next())
	}
	return statements
}

type parser struct {
	rest []string
	line int
	// inRule reports whether a line that starts with a tab belongs to a recipe.
	inRule bool
}

// take removes n lines from the input and returns them.
func (p *parser) take(n int) string {
	text := strings.Join(p.rest[:n], "")
	p.rest = p.rest[n:]
	p.line += n
	return text
}

// logical returns how many lines the logical line at i spans.
func (p *parser) logical(i int) int {
	n := 1
	for i+n < len(p.rest) && isContinued(p.rest[i+n-1]) {
		n++
	}
	return n
}

func isContinued(line string) bool {
	line = strings.TrimRight(line, "\r\n")
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// next returns the statement at the start of the rest.
func (p *parser) next() Statement {
	s := Statement{Line: p.line}
	n := p.logical(0)
	if p.inRule && strings.HasPrefix(p.rest[0], "\t") {
		s.Kind, s.Text = Recipe, p.take(n)
		s.Value = recipeText(s.Text[1:])
		return s
	}
	line := joinLines(strings.Join(p.rest[:n], ""))
	full := strings.TrimLeft(withoutComment(line), " \t")
	code := strings.TrimSpace(full)
	word, argument := cutWord(code)
	switch {
	case code == "" && strings.TrimSpace(line) == "":
		s.Kind = Blank
	case code == "":
		s.Kind = Comment
	case isAssignment(word, argument):
		p.inRule = false
		p.assignment(&s, full) // white space at the end is part of the value
		if slices.Contains(s.Modifiers, "define") {
			n = p.define(&s, n)
		}
	case slices.Contains([]string{"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"}, word) || strings.HasPrefix(word, "ifeq(") || strings.HasPrefix(word, "ifneq("):
		s.Kind, s.Keyword, s.Value = Conditional, word, argument
		if keyword, _, ok := strings.Cut(word, "("); ok {
			s.Keyword, s.Value = keyword, strings.TrimPrefix(code, keyword)
		}
	case slices.Contains([]string{"include", "-include", "sinclude"}, word):
		p.inRule = false
		s.Kind, s.Keyword, s.Value = Include, word, argument
	case slices.Contains([]string{"export", "unexport", "undefine", "vpath", "load", "-load"}, word) && !strings.HasPrefix(argument, ":"):
		p.inRule = false
		s.Kind, s.Keyword, s.Value = Directive, word, argument
	default:
		p.rule(&s, code, line)
	}
	s.Text = p.take(n)
	return s
}

// isAssignment reports whether a line that starts with a word assigns a variable.
func isAssignment(word, argument string) bool {
	switch word {
	case "define":
		return argument != "" && !strings.HasPrefix(argument, ":") && !strings.HasPrefix(argument, "=")
	case "export", "override", "private", "undefine":
		next, rest := cutWord(argument)
		return isAssignment(next, rest)
	}
	_, operator, _, ok := cutAssignment(strings.TrimSpace(word + " " + argument))
	return ok && operator != ""
}

// assignment fills in the name, operator and value of a line that isAssignment accepts.
func (p *parser) assignment(s *Statement, code string) {
	s.Kind = Assignment
	for {
		word, rest := cutWord(code)
		if !slices.Contains([]string{"export", "override", "private", "define"}, word) {
			break
		}
		if word != "define" && strings.HasPrefix(rest, "=") {
			break
		}
		s.Modifiers, code = append(s.Modifiers, word), rest
		if word == "define" {
			break
		}
	}
	name, operator, value, ok := cutAssignment(code)
	if !ok {
		name, operator = strings.TrimSpace(code), "=" // define NAME
	}
	s.Name, s.Operator, s.Value = name, operator, value
}

// define reads the lines up to endef as the value, and returns how many lines the statement spans.
func (p *parser) define(s *Statement, n int) int {
	depth := 1
	var body strings.Builder
	for n < len(p.rest) {
		count := p.logical(n)
		text := strings.Join(p.rest[n:n+count], "")
		n += count
		word, _ := cutWord(strings.TrimSpace(withoutComment(text)))
		if !strings.HasPrefix(text, "\t") {
			switch word {
			case "define":
				depth++
			case "endef":
				depth--
			}
		}
		if depth == 0 {
			break
		}
		body.WriteString(joinLines(text) + "\n")
	}
	s.Value = strings.TrimSuffix(body.String(), "\n")
	return n
}

// rule fills in a rule, an assignment that is specific to targets, or an expression.
func (p *parser) rule(s *Statement, code, line string) {
	colon := indexOutside(code, ":")
	if colon < 0 {
		s.Kind, s.Value = Expression, code
		return
	}
	p.inRule = true
	s.Kind, s.Targets, s.Separator = Rule, strings.TrimSpace(code[:colon]), ":"
	if targets, ok := strings.CutSuffix(s.Targets, "&"); ok {
		s.Targets, s.Separator = strings.TrimSpace(targets), "&:"
	}
	rest := code[colon+1:]
	if strings.HasPrefix(rest, ":") {
		s.Separator, rest = "::", rest[1:]
	}
	rest = strings.TrimSpace(rest)
	if word, argument := cutWord(rest); isAssignment(word, argument) {
		p.inRule = false
		p.assignment(s, rest)
		return
	}
	// A recipe behind a semicolon may hold number signs, which start a comment elsewhere.
	if semicolon := indexOutside(line, ";"); semicolon >= 0 && semicolon < len(line) {
		s.Inline, s.HasInline = strings.TrimSpace(line[semicolon+1:]), true
		if at := indexOutside(rest, ";"); at >= 0 {
			rest = rest[:at]
		}
	}
	s.Value = strings.TrimSpace(rest)
}

// cutAssignment divides a line at its assignment operator. It reports false where a colon of a rule comes first or where
// there is no operator.
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

// withoutReferences returns text without the references to variables in it.
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

// indexOutside returns the index of the first of some characters that is not part of a reference to a variable, or -1.
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

// referenceLength is the length of the reference that text starts with, 0 if it starts with none.
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

// closing is the index of the bracket that closes the one that text starts with, or -1.
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

// withoutComment returns a line up to the number sign that starts a comment. A backslash makes the sign a character.
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

// joinLines returns a logical line as one line, with a space for each backslash and line end.
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

// recipeText returns the text of a recipe line as the shell gets it: the tab that starts a continued line is not part of it.
func recipeText(text string) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	return strings.ReplaceAll(text, "\\\n\t", "\\\n")
}

// cutWord divides text behind its first word.
func cutWord(text string) (word, rest string) {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], " \t")
	}
	return text, ""
}
