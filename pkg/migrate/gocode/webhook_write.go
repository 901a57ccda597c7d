package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// write adapts the current scaffold of a kind's webhooks to the old ones. It returns the reason if it cannot.
func (h *webhook) write(f *source) (why string) {
	alias := f.use(h.pkg.path, h.resource.ImportAlias())
	function := funcNamed(f, "", h.newSetup())
	if function == nil {
		return "the current scaffold sets up no webhooks"
	}
	if why := h.writeSetup(f, function, alias); why != "" {
		return why
	}
	h.writeMarkers(f, function)
	h.writeMethods(f, h.kind()+"CustomDefaulter", h.defaulter)
	h.writeMethods(f, h.kind()+"CustomValidator", h.validators...)
	if h.defaulting() || h.validation() {
		h.cutLog(f)
	}
	return ""
}

// writeMethods makes the methods of a type call the old ones. Without old ones, the type is removed from the file.
func (h *webhook) writeMethods(f *source, name string, old ...*hookMethod) {
	calls := map[string]*hookMethod{}
	for _, m := range old {
		if m != nil {
			calls[m.name] = m
		}
	}
	for _, decl := range f.AST.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch m := calls[decl.Name.Name]; {
			case gosource.Receiver(decl) != name:
			case m == nil:
				f.cutDecl(decl)
			default:
				f.replaceRange(decl.Body.Lbrace+1, decl.Body.Rbrace, m.call(objects(f, decl)))
			}
		case *ast.GenDecl:
			if decl.Tok == token.TYPE && decl.Specs[0].(*ast.TypeSpec).Name.Name == name && len(calls) == 0 {
				f.cutDecl(decl)
			}
		}
	}
}

// call returns the body of a method that calls an old one. The last object is the request's.
func (m *hookMethod) call(objects []string) string {
	call := objects[len(objects)-1] + "." + m.name + "(" + strings.Join(objects[:len(objects)-1], ", ") + ")"
	switch {
	case m.name == "Default":
		return "\n\t" + call + "\n\n\treturn nil\n"
	case m.warns:
		return "\n\treturn " + call + "\n"
	default:
		return "\n\treturn nil, " + call + "\n"
	}
}

// objects returns the names of a method's parameters after the context, and names those without one.
func objects(f *source, decl *ast.FuncDecl) []string {
	var names []string
	for _, param := range decl.Type.Params.List[1:] {
		for _, id := range param.Names {
			name := id.Name
			if name == "_" {
				name = "obj"
				f.replace(id, name)
			}
			names = append(names, name)
		}
	}
	return names
}

// writeMarkers replaces the current markers by the old ones. Those of webhooks that the set-up adds precede it.
func (h *webhook) writeMarkers(f *source, function *ast.FuncDecl) {
	text := map[bool]string{}
	remarked := map[*ast.CommentGroup]bool{}
	for _, m := range h.markers {
		if !remarked[m.group] {
			remarked[m.group] = true
			for _, line := range m.userComments() {
				text[m.mutating] += line + "\n"
			}
		}
		text[m.mutating] += m.text() + "\n"
	}
	kept := map[bool]bool{true: h.defaulter != nil, false: len(h.validators) > 0}
	for _, group := range f.AST.Comments {
		for _, c := range group.List {
			fields, ok := markerFields(c.Text)
			if !ok {
				continue
			}
			mutating := fields["mutating"] == "true"
			if !kept[mutating] || text[mutating] == "" {
				f.cutLines(group.Pos(), group.End())
				continue
			}
			from := c.Pos()
			if slices.ContainsFunc(h.markers, func(m *marker) bool { return m.mutating == mutating && m.deletes() }) {
				from = group.Pos() // includes the comment about validating deletions
			}
			f.replaceRange(from, c.End(), strings.TrimSuffix(text[mutating], "\n"))
			delete(text, mutating)
		}
	}
	above := text[true] + text[false]
	if above == "" {
		return
	}
	at := function.Pos()
	if function.Doc != nil {
		at = function.Doc.Pos()
	}
	f.insert(at, above+"\n")
}

// cutLog removes the current log, which the old methods do not use.
func (h *webhook) cutLog(f *source) {
	name := strings.ToLower(h.kind()) + "log"
	for _, decl := range f.AST.Decls {
		if v, ok := decl.(*ast.GenDecl); ok && v.Tok == token.VAR && v.Specs[0].(*ast.ValueSpec).Names[0].Name == name {
			f.cutDecl(v)
		}
	}
}

// cutDecl removes a declaration with its comment.
func (f *source) cutDecl(decl ast.Decl) { f.cutLines(startOf(decl), decl.End()) }

// funcNamed returns a function of a file; receiverName is "" for functions without receiver.
func funcNamed(f *source, receiverName, name string) *ast.FuncDecl {
	for _, decl := range f.AST.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Name.Name == name && gosource.Receiver(function) == receiverName {
			return function
		}
	}
	return nil
}
