package gocode

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// writeSetup makes the current set-up function do the same as the old one. If the user extended that one, its body is
// moved, or the added part is called in its place. It returns the reason if neither is possible.
func (h *webhook) writeSetup(f *source, function *ast.FuncDecl, alias string) (why string) {
	s := h.setup
	if s.isUnedited() {
		return ""
	}
	edits, added := len(f.edits), len(f.added)
	body, why := h.movedSetup(f, alias)
	if why == "" {
		f.replaceRange(function.Type.Params.Pos(), function.End(), body)
		if doc := s.userDoc(); doc != "" {
			f.insert(function.Pos(), doc)
		}
		return ""
	}
	f.edits, f.added = f.edits[:edits], f.added[:added]
	result := s.result()
	switch {
	case result == nil, s.decl.Type.Params.NumFields() != 1:
		return why
	case h.defaulter == nil && len(h.validators) == 0 && (h.options["WithDefaulter"] || h.options["WithValidator"]):
		// Arguments of the builder cannot and need not be moved.
		s.stays = true
		h.markers = nil
		f.replaceRange(function.Body.Lbrace+1, function.Body.Rbrace, "\n\treturn "+h.oldSetup(alias)+"\n")
		return ""
	case len(s.extra()) > 0:
		return why
	}
	s.split = result
	last := function.Body.List[len(function.Body.List)-1]
	f.insert(last.Pos(), "if err := "+h.oldSetup(alias)+"; err != nil {\n\t\treturn err\n\t}\n\n\t")
	return ""
}

// oldSetup returns the call of the old set-up from another package.
func (h *webhook) oldSetup(alias string) string {
	name := h.setup.decl.Name.Name
	if gosource.Receiver(h.setup.decl) == "" {
		return alias + "." + name + "(mgr)"
	}
	return "(&" + alias + "." + h.kind() + "{})." + name + "(mgr)"
}

// isUnedited reports whether the function is as scaffolded.
func (s *setup) isUnedited() bool {
	return len(s.decl.Body.List) == 1 && s.result() != nil && len(s.extra()) == 0 && s.userDoc() == "" &&
		s.decl.Type.Params.NumFields() == 1 && len(s.decl.Type.Params.List[0].Names) == 1 && !s.file.hasComments(s.decl.Body, nil)
}

// extra returns the calls of the chain that no scaffold without webhooks of other types has.
func (s *setup) extra() []*ast.CallExpr {
	var extra []*ast.CallExpr
	for i, call := range s.chain {
		if i != 0 && i != s.at && (method(call) != "Complete" || i != len(s.chain)-1) {
			extra = append(extra, call)
		}
	}
	return extra
}

// result returns the final result expression of the function if it is the completion of the call chain.
func (s *setup) result() ast.Expr {
	list := s.decl.Body.List
	if len(list) == 0 || method(s.chain[len(s.chain)-1]) != "Complete" {
		return nil
	}
	last := s.chain[len(s.chain)-1]
	if r, ok := list[len(list)-1].(*ast.ReturnStmt); ok && len(r.Results) == 1 && r.Results[0] == ast.Expr(last) {
		return last
	}
	return nil
}

// userDoc returns the documentation of the function if the user wrote it.
func (s *setup) userDoc() string {
	if s.decl.Doc == nil {
		return ""
	}
	text, own := "", false
	for _, c := range s.decl.Doc.List {
		if _, ok := markerFields(c.Text); !ok {
			text += c.Text + "\n"
			own = own || !isScaffoldRemark(c.Text)
		}
	}
	if !own {
		return ""
	}
	return text
}

// movedSetup returns the old function, from its parameters on, for another package.
func (h *webhook) movedSetup(f *source, alias string) (text, why string) {
	s := h.setup
	old := s.file
	var edits []textdiff.Edit
	edit := func(from, to int, text string) { edits = append(edits, textdiff.Edit{From: from, To: to, Text: text}) }

	start, object := s.chain[0], s.chain[s.at].Args[0]
	edit(old.Offset(start.Args[0].End()), old.Offset(start.Args[0].End()), ", &"+alias+"."+h.kind()+"{}")
	// Calls stay on one line or on separate lines.
	before := old.Offset(s.chain[s.at-1].End())
	next := string(old.Text[before:old.Offset(s.chain[s.at].Fun.(*ast.SelectorExpr).Sel.Pos())])
	hooks := ""
	if h.defaulter != nil {
		hooks += next + "WithDefaulter(&" + h.kind() + "CustomDefaulter{})"
	}
	if len(h.validators) > 0 {
		hooks += next + "WithValidator(&" + h.kind() + "CustomValidator{})"
	}
	edit(before, old.Offset(s.chain[s.at].End()), hooks)
	for i, call := range s.chain {
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || i == 0 {
			continue
		}
		switch name := selector.Sel.Name; {
		case name == "WithDefaulter", name == "WithValidator":
			edit(old.Offset(selector.Sel.Pos()), old.Offset(selector.Sel.End()), strings.Replace(name, "With", "WithCustom", 1))
		case name == "RecoverPanic" && len(call.Args) == 0:
			edit(old.Offset(call.Rparen), old.Offset(call.Rparen), "true")
		}
	}
	self, why := h.requalify(f, alias, object, edit)
	if why != "" {
		return "", why
	}
	if self != "" {
		at := old.Offset(s.decl.Body.Lbrace) + 1
		edit(at, at, "\n\t"+self+" := &"+alias+"."+h.kind()+"{}")
	}
	from, to := old.Offset(s.decl.Type.Params.Pos()), old.Offset(s.decl.End())
	for i := range edits {
		edits[i].From -= from
		edits[i].To -= from
	}
	return string(textdiff.Apply(old.Text[from:to], edits)), ""
}

// requalify creates edits for the names in the old function that have another meaning in another package. It returns
// the name of the receiver if it is used for more than the object of the builder.
func (h *webhook) requalify(
	f *source, alias string, object ast.Expr, edit func(from, to int, text string),
) (self, why string) {
	s := h.setup
	receiverAt := -1
	if s.decl.Recv != nil && len(s.decl.Recv.List[0].Names) == 1 {
		receiverAt = s.file.Offset(s.decl.Recv.List[0].Names[0].Pos())
	}
	visit := func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || n == ast.Node(object) || id.Pos() >= object.Pos() && id.End() <= object.End() {
			return n != ast.Node(object)
		}
		refers := h.pkg.of(s.file, id)
		switch {
		case s.file.IsUnresolved(id) && s.file.imports[id.Name] != "" && refers.file == "":
			if now := f.use(s.file.imports[id.Name], id.Name); now != id.Name {
				edit(s.file.Offset(id.Pos()), s.file.Offset(id.End()), now)
			}
		case (refers.global || refers.member) && !ast.IsExported(id.Name):
			why = fmt.Sprintf("%s uses %s of this package", s.file.at(id.Pos()), id.Name)
		case refers.global:
			edit(s.file.Offset(id.Pos()), s.file.Offset(id.Pos()), alias+".")
		case refers.file == s.file.Name && refers.offset == receiverAt:
			self = id.Name
		}
		return true
	}
	ast.Inspect(s.decl.Type.Params, visit)
	if s.decl.Type.Results != nil {
		ast.Inspect(s.decl.Type.Results, visit)
	}
	ast.Inspect(s.decl.Body, visit)
	return self, why
}
