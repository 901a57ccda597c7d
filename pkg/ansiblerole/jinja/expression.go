package jinja

import (
	"slices"
	"strings"
)

// maxDepth is the number of nested expressions, and of operators in a row, that are parsed.
const maxDepth = 200

// ParseExpression parses an expression without braces, as in the conditions of tasks.
func ParseExpression(text string) Expr {
	tokens, _, ok := lex(text, "")
	if !ok {
		return nil
	}
	return parseTokens(tokens)
}

// parseTokens parses an expression. Trailing tokens make it unknown.
func parseTokens(tokens []token) Expr {
	p := &parser{tokens: tokens}
	e := p.tuple()
	if p.failed {
		return nil
	}
	if p.peek().kind != endToken {
		return Unknown{Operands: []Expr{e}}
	}
	return e
}

// A parser parses the tokens of an expression.
type parser struct {
	tokens []token
	depth  int
	failed bool
}

func (p *parser) peek() token {
	if len(p.tokens) == 0 || p.failed {
		return token{}
	}
	return p.tokens[0]
}

func (p *parser) next() token {
	t := p.peek()
	if len(p.tokens) > 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept consumes an operator or keyword if it is next.
func (p *parser) accept(texts ...string) (string, bool) {
	t := p.peek()
	if (t.kind == operatorToken || t.kind == nameToken) && slices.Contains(texts, t.text) {
		p.next()
		return t.text, true
	}
	return "", false
}

// expect consumes an operator, whose absence is an error.
func (p *parser) expect(text string) {
	if _, ok := p.accept(text); !ok {
		p.failed = true
	}
}

// nested calls a function unless the nesting is too deep.
func (p *parser) nested(parse func() Expr) Expr {
	if p.depth++; p.depth > maxDepth {
		p.failed = true
	}
	defer func() { p.depth-- }()
	if p.failed {
		return nil
	}
	return parse()
}

// tuple parses an expression, or several separated by commas.
func (p *parser) tuple() Expr {
	first := p.expression()
	if p.peek().text != "," || p.peek().kind != operatorToken {
		return first
	}
	list := List{Items: []Expr{first}}
	for {
		if _, ok := p.accept(","); !ok || p.peek().kind == endToken || p.peek().text == ")" {
			return list
		}
		list.Items = append(list.Items, p.expression())
	}
}

// expression parses an expression with a choice.
func (p *parser) expression() Expr {
	return p.nested(func() Expr {
		e := p.binary(0)
		for n := 0; n < maxDepth; n++ {
			if _, ok := p.accept("if"); !ok {
				return e
			}
			c := Choice{Then: e, If: p.binary(0)}
			if _, ok := p.accept("else"); ok {
				c.Else = p.expression()
			}
			e = c
		}
		p.failed = true
		return nil
	})
}

// levels are the binary operators in the order of increasing precedence.
var levels = [][]string{{"or"}, {"and"}, {"not"}, {"==", "!=", "<", ">", "<=", ">=", "in", "not", "is"}, {"+", "-"}, {"~"}, {"*", "/", "//", "%"}, {"**"}}

const notLevel, compareLevel = 2, 3

// binary parses operators of a level or of higher precedence.
func (p *parser) binary(level int) Expr {
	if level == len(levels) {
		return p.unary()
	}
	if level == notLevel {
		if _, ok := p.accept("not"); ok {
			return p.nested(func() Expr { return Test{Operands: []Expr{p.binary(notLevel)}} })
		}
		return p.binary(level + 1)
	}
	left := p.binary(level + 1)
	for n := 0; ; n++ {
		operator, ok := p.accept(levels[level]...)
		if !ok {
			return left
		}
		if n > maxDepth {
			p.failed = true
			return nil
		}
		if level == compareLevel {
			left = p.test(operator, left)
		} else {
			left = Binary{Operator: operator, Left: left, Right: p.binary(level + 1)}
		}
	}
}

// test parses the rest of a comparison or a test.
func (p *parser) test(operator string, left Expr) Expr {
	if operator != "is" {
		p.accept("in") // not in
		return Test{Operands: []Expr{left, p.binary(compareLevel + 1)}}
	}
	p.accept("not")
	t := Test{Operands: []Expr{left}}
	if p.next().kind != nameToken {
		p.failed = true
		return nil
	}
	for p.peek().text == "." && p.peek().kind == operatorToken { // a test of a collection
		p.next()
		p.next()
	}
	next := p.peek()
	switch {
	case next.kind == operatorToken && next.text == "(":
		p.next()
		arguments := p.arguments()
		t.Operands = append(t.Operands, arguments.Positional...)
		for _, name := range arguments.names() {
			t.Operands = append(t.Operands, arguments.Named[name])
		}
	case next.kind == stringToken, next.kind == numberToken,
		next.kind == nameToken && !slices.Contains([]string{"and", "or", "not", "if", "else", "in", "is"}, next.text):
		t.Operands = append(t.Operands, p.unary())
	}
	return t
}

// unary parses signs, a primary expression and what follows it.
func (p *parser) unary() Expr {
	return p.nested(func() Expr {
		if _, ok := p.accept("-", "+"); ok {
			return Unknown{Operands: []Expr{p.unary()}}
		}
		e := p.primary()
		for n := 0; ; n++ {
			if n > maxDepth {
				p.failed = true
				return nil
			}
			operator, ok := p.accept(".", "[", "(", "|")
			if !ok {
				return e
			}
			switch operator {
			case ".":
				e = Index{Of: e, Key: Literal{Text: p.next().text}}
			case "[":
				e = p.subscript(e)
			case "(":
				e = Call{Function: e, Arguments: p.arguments()}
			default:
				e = p.filter(e)
			}
		}
	})
}

// filter parses the name and the arguments of a filter.
func (p *parser) filter(of Expr) Expr {
	f := Filter{Of: of, Name: p.next().text}
	for p.peek().text == "." && p.peek().kind == operatorToken { // a filter of a collection
		p.next()
		f.Name = p.next().text
	}
	if _, ok := p.accept("("); ok {
		f.Arguments = p.arguments()
	}
	return f
}

// subscript parses an index or a slice after its bracket.
func (p *parser) subscript(of Expr) Expr {
	var parts []Expr
	isSlice := false
	for {
		var part Expr
		if text := p.peek().text; text != "]" && text != ":" {
			part = p.expression()
		}
		parts = append(parts, part)
		if _, ok := p.accept(":"); !ok {
			break
		}
		if isSlice = true; len(parts) > 2 {
			p.failed = true
			return nil
		}
	}
	p.expect("]")
	switch {
	case !isSlice:
		return Index{Of: of, Key: parts[0]}
	case len(parts) > 2: // with a step
		return Slice{Of: of}
	}
	return Slice{Of: of, From: parts[0], To: parts[1]}
}

// arguments parses the arguments of a call after its parenthesis.
func (p *parser) arguments() Arguments {
	a := Arguments{Named: map[string]Expr{}}
	for !p.failed {
		if _, ok := p.accept(")"); ok {
			break
		}
		if _, ok := p.accept("*", "**"); ok {
			a.Positional = append(a.Positional, Unknown{Operands: []Expr{p.expression()}})
		} else if t := p.peek(); t.kind == nameToken && len(p.tokens) > 1 && p.tokens[1] == (token{operatorToken, "="}) {
			p.next()
			p.next()
			a.Named[t.text] = p.expression()
		} else {
			a.Positional = append(a.Positional, p.expression())
		}
		if _, ok := p.accept(","); !ok {
			p.expect(")")
			break
		}
	}
	return a
}

// primary parses a literal, a variable, or an expression in brackets.
func (p *parser) primary() Expr {
	switch t := p.next(); t.kind {
	case stringToken:
		var text strings.Builder
		for text.WriteString(t.text); p.peek().kind == stringToken; {
			text.WriteString(p.next().text)
		}
		return Literal{Text: text.String()}
	case numberToken:
		return Literal{Text: t.text}
	case nameToken:
		switch t.text {
		case "true", "True", "false", "False":
			return Literal{Text: map[bool]string{true: "true", false: "false"}[t.text == "true" || t.text == "True"]}
		case "none", "None":
			return Literal{Null: true}
		}
		return Name{Name: t.text}
	case operatorToken:
		switch t.text {
		case "(":
			if _, ok := p.accept(")"); ok {
				return List{}
			}
			e := p.tuple()
			p.expect(")")
			return e
		case "[":
			return p.list()
		case "{":
			return p.dict()
		}
	}
	p.failed = true
	return nil
}

// list parses the items of a list after its bracket.
func (p *parser) list() Expr {
	var list List
	for !p.failed {
		if _, ok := p.accept("]"); ok {
			break
		}
		list.Items = append(list.Items, p.expression())
		if _, ok := p.accept(","); !ok {
			p.expect("]")
			break
		}
	}
	return list
}

// dict parses the fields of a mapping after its bracket.
func (p *parser) dict() Expr {
	var d Dict
	for !p.failed {
		if _, ok := p.accept("}"); ok {
			break
		}
		d.Keys = append(d.Keys, p.expression())
		p.expect(":")
		d.Values = append(d.Values, p.expression())
		if _, ok := p.accept(","); !ok {
			p.expect("}")
			break
		}
	}
	return d
}
