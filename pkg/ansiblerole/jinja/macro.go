package jinja

import (
	"slices"
	"strings"
)

type (
	// A Macro is a node: the definition of a macro. Lines is the number of line breaks in its statements and body. It is used by
	// reference, which identifies it.
	Macro struct {
		Name       string
		Parameters []Parameter
		Body       []Node
		Lines      int
	}
	// A Parameter is a parameter of a macro, or a variable of a with statement. Default is nil if there is none.
	Parameter struct {
		Name    string
		Default Expr
	}
	// A CallBlock is a node: the call of a macro that can call the body of the statement, as caller.
	CallBlock struct {
		Call   Expr
		Caller *Macro
	}
	// An Import is a node: the import of the macros and variables of another template. They become attributes of Module, or else variables
	// with the names of Names.
	Import struct {
		Template Expr
		Module   string
		Names    []ImportedName
	}
	// An ImportedName is a macro or variable of another template, and its name in this one.
	ImportedName struct{ Name, As string }
)

// macro parses a macro statement after its keyword.
func (t *templateParser) macro(tokens []token) Node {
	m := &Macro{}
	if len(tokens) > 0 {
		p := parser{tokens: tokens[1:]}
		m.Name, m.Parameters = tokens[0].text, p.parameters()
	}
	t.macroBody(m, "endmacro")
	return m
}

// macroBody parses the body of a macro, up to a statement.
func (t *templateParser) macroBody(m *Macro, end string) {
	text := t.text
	m.Body = t.nodes([]string{end})
	m.Lines = strings.Count(text[:len(text)-len(t.text)], "\n")
}

// callBlock parses a call statement after its keyword.
func (t *templateParser) callBlock(tokens []token) Node {
	p := parser{tokens: tokens}
	c := CallBlock{Caller: &Macro{Name: "caller", Parameters: p.parameters()}}
	c.Call = parseTokens(p.tokens)
	t.macroBody(c.Caller, "endcall")
	return c
}

// with parses a with statement after its keyword.
func (t *templateParser) with(tokens []token) Node {
	p := parser{tokens: tokens}
	var body []Node
	for _, variable := range p.parameterList(endToken) {
		body = append(body, Set{Names: []string{variable.Name}, Value: variable.Default})
	}
	return Block{Body: append(body, t.nodes([]string{"endwith"})...)}
}

// parameters parses parameters in parentheses, if there are any.
func (p *parser) parameters() []Parameter {
	if _, ok := p.accept("("); !ok {
		return nil
	}
	all := p.parameterList(operatorToken)
	p.accept(")")
	return all
}

// parameterList parses parameters up to an end of the text, or up to a parenthesis.
func (p *parser) parameterList(end tokenKind) []Parameter {
	var all []Parameter
	for !p.failed && p.peek().kind == nameToken && len(all) < maxDepth {
		parameter := Parameter{Name: p.next().text}
		if _, ok := p.accept("="); ok {
			parameter.Default = p.expression()
		}
		all = append(all, parameter)
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	p.failed = p.failed || end == endToken && p.peek().kind != endToken
	return all
}

// parseImport parses an import or from statement after its keyword.
func parseImport(keyword string, tokens []token) Node {
	split := func(word string) (before, after []token) {
		if i := slices.Index(tokens, token{nameToken, word}); i >= 0 {
			return tokens[:i], tokens[i+1:]
		}
		return tokens, nil
	}
	if keyword == "import" {
		template, rest := split("as")
		n := Import{Template: parseTokens(withoutOptions(template))}
		if len(rest) > 0 {
			n.Module = rest[0].text
		}
		return n
	}
	template, rest := split("import")
	n := Import{Template: parseTokens(template)}
	for p := (parser{tokens: rest}); p.peek().kind == nameToken; {
		name := ImportedName{Name: p.next().text}
		name.As = name.Name
		if _, ok := p.accept("as"); ok {
			name.As = p.next().text
		}
		n.Names = append(n.Names, name)
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	return n
}
