// Package makefile parses and evaluates makefiles of GNU make. Evaluate returns a Makefile, whose Commands are those that make
// would run. It starts no process and reads no environment: the output of $(shell ...) is unresolved unless the caller
// supplies it.
package makefile

import (
	"slices"
	"strings"
)

// A statementKind is the kind of a statement.
type statementKind int

// The kinds of statements.
const (
	// kindBlank is a line of white space.
	kindBlank statementKind = iota
	// kindComment is a line that contains only a comment.
	kindComment
	// kindAssignment sets a variable, by an operator or by define and endef.
	kindAssignment
	// kindRule has targets and prerequisites. The lines of the recipe are separate statements.
	kindRule
	// kindRecipe is a line of the recipe of the last rule.
	kindRecipe
	// kindConditional is an ifeq, ifneq, ifdef, ifndef, else or endif line.
	kindConditional
	// kindInclude is an include, -include or sinclude line.
	kindInclude
	// kindDirective is any other directive: export, unexport, undefine, vpath, load.
	kindDirective
	// kindExpression is a line without an operator, such as $(call NAME) or $(eval TEXT).
	kindExpression
)

// A statement is a logical line of a makefile, with the lines that a backslash continues, or a define with its endef.
type statement struct {
	Kind statementKind
	// Line is the number of the first line, from 1.
	Line int
	// Text is the source with line breaks. The concatenated texts of all statements are the file.
	Text string

	// Keyword is the directive of a conditional, an include or another directive.
	Keyword string
	// Modifiers precede an assignment: export, override, private, define.
	Modifiers []string
	// Targets belong to a rule or a target-specific assignment. They are not expanded.
	Targets string
	// Separator is between targets and prerequisites: ":", "::" or "&:".
	Separator string
	// Name and Operator belong to an assignment. The name is not expanded.
	Name, Operator string
	// Value is the assigned value, the prerequisites of a rule, the argument of a directive, the text of a recipe line without
	// the tab, or the expression. It is not expanded.
	Value string
	// Inline is the recipe after a semicolon in the line of a rule. HasInline reports whether there is a semicolon.
	Inline    string
	HasInline bool
}

// parse splits a makefile into statements. It accepts every input: a line that make rejects becomes an expression.
func parse(data []byte) []statement {
	p := &parser{rest: strings.SplitAfter(string(data), "\n"), line: 1}
	if last := len(p.rest) - 1; p.rest[last] == "" {
		p.rest = p.rest[:last]
	}
	var statements []statement
	for len(p.rest) > 0 {
		statements = append(statements, p.next())
	}
	return statements
}

type parser struct {
	rest []string
	line int
	// inRule is true if a line that starts with a tab belongs to a recipe.
	inRule bool
}

// take removes n lines from the input and returns them.
func (p *parser) take(n int) string {
	text := strings.Join(p.rest[:n], "")
	p.rest = p.rest[n:]
	p.line += n
	return text
}

// logical returns the number of lines of the logical line at index i.
func (p *parser) logical(i int) int {
	n := 1
	for i+n < len(p.rest) && isContinued(p.rest[i+n-1]) {
		n++
	}
	return n
}

// next removes the first statement of the rest and returns it.
func (p *parser) next() statement {
	s := statement{Line: p.line}
	n := p.logical(0)
	if p.inRule && strings.HasPrefix(p.rest[0], "\t") {
		s.Kind, s.Text = kindRecipe, p.take(n)
		s.Value = recipeText(s.Text[1:])
		return s
	}
	line := joinLines(strings.Join(p.rest[:n], ""))
	full := strings.TrimLeft(withoutComment(line), " \t")
	code := strings.TrimSpace(full)
	word, argument := cutWord(code)
	switch {
	case code == "" && strings.TrimSpace(line) == "":
		s.Kind = kindBlank
	case code == "":
		s.Kind = kindComment
	case isAssignment(word, argument):
		p.inRule = false
		p.assignment(&s, full) // white space at the end is part of the value
		if slices.Contains(s.Modifiers, "define") {
			n = p.define(&s, n)
		}
	case slices.Contains([]string{"ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"}, word) || strings.HasPrefix(word, "ifeq(") || strings.HasPrefix(word, "ifneq("):
		s.Kind, s.Keyword, s.Value = kindConditional, word, argument
		if keyword, _, ok := strings.Cut(word, "("); ok {
			s.Keyword, s.Value = keyword, strings.TrimPrefix(code, keyword)
		}
	case slices.Contains([]string{"include", "-include", "sinclude"}, word):
		p.inRule = false
		s.Kind, s.Keyword, s.Value = kindInclude, word, argument
	case slices.Contains([]string{"export", "unexport", "undefine", "vpath", "load", "-load"}, word) && !strings.HasPrefix(argument, ":"):
		p.inRule = false
		s.Kind, s.Keyword, s.Value = kindDirective, word, argument
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

// assignment sets the name, operator and value of a statement from a line for which isAssignment is true.
func (p *parser) assignment(s *statement, code string) {
	s.Kind = kindAssignment
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

// define sets the value to the lines up to endef and returns the number of lines of the statement.
func (p *parser) define(s *statement, n int) int {
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

// rule sets the fields of a rule, a target-specific assignment or an expression.
func (p *parser) rule(s *statement, code, line string) {
	colon := indexOutside(code, ":")
	if colon < 0 {
		s.Kind, s.Value = kindExpression, code
		return
	}
	p.inRule = true
	s.Kind, s.Targets, s.Separator = kindRule, strings.TrimSpace(code[:colon]), ":"
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
		s.Kind = kindRule // of its targets, and not for all
		return
	}
	// Unlike other text, a recipe after a semicolon may contain number signs. A comment before it includes the semicolon.
	if semicolon := indexOutside(line, ";"); semicolon >= 0 && indexOutside(withoutComment(line), ";") >= 0 {
		s.Inline, s.HasInline = strings.TrimSpace(line[semicolon+1:]), true
		if at := indexOutside(rest, ";"); at >= 0 {
			rest = rest[:at]
		}
	}
	s.Value = strings.TrimSpace(rest)
}
