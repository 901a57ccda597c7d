package jinja

import (
	"slices"
	"strings"
)

// Parse parses a template. Statements that are not closed end with the template, and ends without a beginning are ignored.
func Parse(text string) []Node {
	t := &templateParser{text: text}
	return t.nodes(nil)
}

// IsTemplate reports whether a text contains statements, expressions or comments.
func IsTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#")
}

// Expression returns the expression of a text that consists of nothing else.
func Expression(text string) (Expr, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{{") {
		return nil, false
	}
	nodes := Parse(text)
	if len(nodes) != 1 {
		return nil, false
	}
	output, ok := nodes[0].(Output)
	return output.Value, ok
}

// A templateParser parses a template.
type templateParser struct {
	text  string
	depth int
	// failures counts the statements and expressions without an end, each of which may be searched for in the whole text.
	failures int
	// ended is the statement that ended the current body, with its tokens.
	ended []token
}

// nodes parses a body up to one of the statements that end it, or to the end of the template.
func (t *templateParser) nodes(ends []string) []Node {
	var nodes []Node
	t.ended = nil
	for t.text != "" {
		i := strings.IndexByte(t.text, '{')
		for i >= 0 && i+1 < len(t.text) && !strings.ContainsRune("{%#", rune(t.text[i+1])) {
			next := strings.IndexByte(t.text[i+1:], '{')
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i < 0 || i+1 >= len(t.text) {
			nodes = append(nodes, Text{t.text})
			t.text = ""
			break
		}
		if i > 0 {
			nodes = append(nodes, Text{t.text[:i]})
		}
		kind, before := t.text[i+1], t.text[i+2:]
		t.text = before
		var added []Node
		switch kind {
		case '#':
			_, t.text, _ = strings.Cut(before, "#}")
		case '{':
			added = []Node{t.output()}
		default:
			tokens := t.statement()
			if len(tokens) == 0 {
				break
			}
			if slices.Contains(ends, tokens[0].text) {
				t.ended = tokens
				return append(nodes, blank(before[:len(before)-len(t.text)])...)
			}
			nodes = append(nodes, blank(before[:len(before)-len(t.text)])...)
			nodes = append(nodes, t.parseStatement(tokens)...)
			continue
		}
		nodes = append(nodes, added...)
		nodes = append(nodes, blank(before[:len(before)-len(t.text)])...)
	}
	return nodes
}

// blank returns the line breaks of a text.
func blank(text string) []Node {
	if n := strings.Count(text, "\n"); n > 0 {
		return []Node{Blank{n}}
	}
	return nil
}

// output parses an expression after its braces.
func (t *templateParser) output() Node {
	text := strings.TrimPrefix(t.text, "-")
	tokens, rest, ok := lex(text, "}}")
	if !ok {
		t.fail(text, "}}")
		return Output{}
	}
	t.text = rest
	return Output{parseTokens(tokens)}
}

// fail continues after an end that the tokens of a text do not reach. After many failures, the rest of the template is ignored.
func (t *templateParser) fail(text, end string) {
	_, t.text, _ = strings.Cut(text, end)
	if t.failures++; t.failures > maxFailures {
		t.text = ""
	}
}

// maxFailures is the number of statements and expressions that cannot be parsed, after which a template is abandoned.
const maxFailures = 100

// statement returns the tokens of a statement after its brace.
func (t *templateParser) statement() []token {
	text := strings.TrimLeft(t.text, "-+")
	tokens, rest, ok := lex(text, "%}")
	if !ok {
		t.fail(text, "%}")
		return []token{{nameToken, "unknown"}}
	}
	t.text = rest
	return tokens
}

func (t *templateParser) parseStatement(tokens []token) []Node {
	if t.depth++; t.depth > maxDepth {
		t.text = ""
	}
	defer func() { t.depth-- }()
	keyword, rest := tokens[0].text, tokens[1:]
	switch keyword {
	case "if":
		return []Node{t.branch(rest)}
	case "for":
		return t.loop(rest)
	case "set":
		return []Node{t.set(rest)}
	case "include", "extends":
		return []Node{Include{Name: parseTokens(withoutOptions(rest)), Extends: keyword == "extends"}}
	case "import", "from":
		return []Node{parseImport(keyword, rest)}
	case "macro":
		return []Node{t.macro(rest)}
	case "call":
		return []Node{t.callBlock(rest)}
	case "with":
		return []Node{t.with(rest)}
	case "raw":
		body, after, _ := cutTag(t.text, "endraw")
		t.text = after
		return []Node{Text{body}}
	case "filter", "block", "autoescape":
		return []Node{Block{Body: t.nodes([]string{"end" + keyword})}}
	}
	return nil
}

// branch parses an if statement after its condition.
func (t *templateParser) branch(condition []token) Node {
	b := Branch{Conditions: []Expr{parseTokens(condition)}}
	for {
		b.Bodies = append(b.Bodies, t.nodes([]string{"elif", "else", "endif"}))
		switch ended := t.ended; {
		case len(ended) == 0 || ended[0].text == "endif":
			return b
		case ended[0].text == "elif":
			b.Conditions = append(b.Conditions, parseTokens(ended[1:]))
		default:
			b.Otherwise = true
		}
	}
}

func (t *templateParser) loop(tokens []token) []Node {
	l := Loop{}
	in := slices.Index(tokens, token{nameToken, "in"})
	if in >= 0 {
		l.Names = names(tokens[:in])
		over := tokens[in+1:]
		if i := slices.Index(over, token{nameToken, "recursive"}); i >= 0 {
			over = over[:i]
		}
		l.Over = parseTokens(over)
		if choice, ok := l.Over.(Choice); ok && choice.Else == nil { // a filter of the items
			l.Over = choice.Then
		}
	}
	l.Body = t.nodes([]string{"else", "endfor"})
	nodes := []Node{l}
	if len(t.ended) > 0 && t.ended[0].text == "else" {
		nodes = append(nodes, Block{Body: t.nodes([]string{"endfor"})})
	}
	return nodes
}

func (t *templateParser) set(tokens []token) Node {
	if i := slices.Index(tokens, token{operatorToken, "="}); i >= 0 {
		s := Set{Value: parseTokens(tokens[i+1:])}
		if !slices.Contains(tokens[:i], token{operatorToken, "."}) { // an attribute of a namespace is no variable
			s.Names = names(tokens[:i])
		}
		return s
	}
	return Set{Names: names(tokens), Body: t.nodes([]string{"endset"})}
}

func names(tokens []token) []string {
	var all []string
	for _, t := range tokens {
		if t.kind == nameToken {
			all = append(all, t.text)
		}
	}
	return all
}

// withoutOptions removes the options of an include or import statement.
func withoutOptions(tokens []token) []token {
	for _, option := range []string{"ignore", "with", "without"} {
		if i := slices.Index(tokens, token{nameToken, option}); i > 0 {
			tokens = tokens[:i]
		}
	}
	return tokens
}

// cutTag cuts a text around a statement without arguments.
func cutTag(text, keyword string) (before, after string, ok bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], "{%")
		if i < 0 {
			return text, "", false
		}
		at := from + i
		inner, rest, closed := strings.Cut(text[at+2:], "%}")
		if !closed {
			return text, "", false
		}
		if strings.TrimSpace(strings.Trim(inner, "-+")) == keyword {
			return text[:at], rest, true
		}
		from = at + 2
	}
}
