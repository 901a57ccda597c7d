package upgrade

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// scheme takes over what a person has added to init, behind the types that are there.
func (p *programs) scheme() {
	body := p.theirs.function("init").Body
	if len(body.List) == 0 {
		p.ok = false
		return
	}
	at := p.theirs.lineEnd(p.theirs.offset(body.List[len(body.List)-1].End()))
	for _, stmt := range p.mine.function("init").Body.List {
		text := squeezed(p.mine.span(stmt))
		there := slices.ContainsFunc(body.List, func(other ast.Stmt) bool { return squeezed(p.theirs.span(other)) == text })
		if !there && !p.scaffoldedNode(stmt) {
			p.insert(at, stmt)
		}
	}
}

// declarations takes over functions, types, variables and constants of a person's.
func (p *programs) declarations() {
	for _, decl := range p.mine.file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && (d == p.mine.function("init") || d == p.mine.function("main")) {
				continue
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			if d.Tok == token.VAR && d.Lparen.IsValid() && p.variables(d) {
				continue
			}
		}
		if p.scaffoldedNode(decl) {
			continue
		}
		from, to := p.mine.with(decl)
		p.take(decl, from, to, len(p.theirs.text), len(p.theirs.text), "\n")
	}
}

// variables adds a person's to the block of the scheme and the logger.
func (p *programs) variables(d *ast.GenDecl) bool {
	block := func(s *source) *ast.GenDecl {
		for _, decl := range s.file.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Tok == token.VAR && g.Lparen.IsValid() && strings.Contains(s.span(g), "runtime.NewScheme()") {
				return g
			}
		}
		return nil
	}
	theirs := block(p.theirs)
	if theirs == nil || block(p.mine) != d {
		return false
	}
	at := p.theirs.lineStart(p.theirs.offset(theirs.Rparen))
	has := squeezed(p.theirs.span(theirs))
	for _, spec := range d.Specs {
		if strings.Contains(has, squeezed(p.mine.span(spec))) {
			p.settle(spec)
		} else {
			p.insert(at, spec)
		}
	}
	return true
}

// imports adds those of mine that what was taken over uses.
func (p *programs) imports() {
	has := map[string]bool{}
	for _, spec := range p.theirs.file.Imports {
		has[p.theirs.span(spec)] = true
	}
	used := map[string]bool{}
	for _, part := range p.taken {
		ast.Inspect(part.node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Obj == nil {
				used[id.Name] = true
			}
			return true
		})
	}
	at := -1
	for _, decl := range p.theirs.file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Lparen.IsValid() {
			at = p.theirs.lineEnd(p.theirs.offset(d.Specs[len(d.Specs)-1].End()))
		}
	}
	for _, spec := range p.mine.file.Imports {
		text := p.mine.span(spec)
		if has[text] {
			continue
		}
		name := path.Base(strings.Trim(spec.Path.Value, "`\""))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		// Those of a scaffold's are there for its own code, unless what was taken over uses them too.
		if !p.scaffoldedNode(spec) || used[name] {
			if at < 0 {
				p.ok = false
				return
			}
			from, to := p.mine.with(spec)
			group := at
			if first, _, _ := strings.Cut(spec.Path.Value, "/"); !strings.Contains(first, ".") {
				group = p.theirs.lineEnd(p.theirs.offset(p.theirs.file.Imports[0].End())) // the standard library's are the first
			}
			p.edits = append(p.edits, textdiff.Edit{From: group, To: group, Text: string(p.mine.text[from:to])})
		} else {
			p.settle(spec)
		}
	}
}
