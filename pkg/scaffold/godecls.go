package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// mergeDeclarations adds to a Go file the declarations of a scaffold that the file does not have, and the imports that
// they need. Existing declarations are kept, except those for which replace returns true; replace may be nil. The rest of
// the file is kept byte for byte.
func mergeDeclarations(name string, content, scaffold []byte, replace func(key string) bool) ([]byte, error) {
	content, crlf := textdiff.ToLF(content)
	ours, err := parseDeclarations(name, content)
	if err != nil {
		return nil, syntaxError(err)
	}
	theirs, err := parseDeclarations(name, scaffold)
	if err != nil {
		return nil, fmt.Errorf("reading the scaffold of %s: %w", name, err)
	}
	if ours.AST.Name.Name != theirs.AST.Name.Name {
		return nil, findingf(name, "package %s, but the scaffold needs %s; move the file away or correct its package",
			ours.AST.Name.Name, theirs.AST.Name.Name)
	}
	var edits []textdiff.Edit
	needed := map[string]bool{}
	added := ""
	for _, d := range theirs.list {
		at := slices.IndexFunc(ours.list, func(o declaration) bool { return o.key == d.key })
		switch {
		case at < 0:
			added += "\n" + d.text + "\n"
		case replace != nil && replace(d.key):
			edits = append(edits, textdiff.Edit{From: ours.list[at].from, To: ours.list[at].to, Text: d.text})
		default:
			continue
		}
		maps.Copy(needed, theirs.UsedQualifiers(d.decl))
	}
	if added != "" {
		edits = append(edits, textdiff.Edit{From: len(content), To: len(content), Text: added})
	}
	imports, err := ours.addImports(theirs, needed)
	if err != nil {
		return nil, err
	}
	out, err := ours.Apply(append(edits, imports...))
	if err != nil {
		return nil, err
	}
	return textdiff.FromLF(out, crlf), nil
}

// declarations is a Go file with the declarations in it.
type declarations struct {
	*gosource.File
	list []declaration
}

// A declaration is a declaration of a file, other than of imports, with the comments before it.
type declaration struct {
	key      string
	text     string
	from, to int
	decl     ast.Decl
}

func parseDeclarations(name string, content []byte) (*declarations, error) {
	file, err := gosource.Parse(name, content)
	if err != nil {
		return nil, err
	}
	d := &declarations{File: file}
	end := d.Offset(d.AST.Name.End())
	for _, decl := range d.AST.Decls {
		from, to := d.Offset(decl.Pos()), d.Offset(decl.End())
		if general, ok := decl.(*ast.GenDecl); !ok || general.Tok != token.IMPORT {
			// The comments between two declarations belong to the second one, markers among them.
			for _, group := range d.AST.Comments {
				if at := d.Offset(group.Pos()); at >= end && at < from && !d.followsCode(group) {
					from = at
				}
			}
			d.list = append(d.list, declaration{key: gosource.Key(decl), text: string(content[from:to]), from: from, to: to, decl: decl})
		}
		end = to
	}
	return d, nil
}

// followsCode reports whether a comment follows code on its line.
func (d *declarations) followsCode(group *ast.CommentGroup) bool {
	return strings.TrimSpace(string(d.Text[d.LineStart(group.Pos()):d.Offset(group.Pos())])) != ""
}

// addImports returns the edits that add the imports of theirs with a needed name, and its dot imports. It adds nothing if
// no name is needed.
func (d *declarations) addImports(theirs *declarations, needed map[string]bool) ([]textdiff.Edit, error) {
	if len(needed) == 0 {
		return nil, nil
	}
	var add, standard []string
	var conflicts []error
	for _, spec := range theirs.AST.Imports {
		name := theirs.ImportName(spec)
		if name != "." && !needed[name] {
			continue
		}
		has, err := hasImport(d.File, spec, name)
		if err != nil {
			conflicts = append(conflicts, err)
		}
		if has {
			continue
		}
		line := strconv.Quote(gosource.ImportPath(spec))
		if spec.Name != nil {
			line = spec.Name.Name + " " + line
		}
		if !gosource.IsStandard(gosource.ImportPath(spec)) {
			add = append(add, "\t"+line+"\n")
		} else {
			standard = append(standard, "\n\t"+line)
		}
	}
	if len(conflicts) > 0 {
		return nil, errors.Join(conflicts...)
	}
	if len(add)+len(standard) == 0 {
		return nil, nil
	}
	for _, decl := range d.AST.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.IMPORT || !block.Rparen.IsValid() || len(block.Specs) == 0 {
			continue
		}
		// Packages of the standard library belong to the first group, others to the last one.
		text := strings.Join(standard, "")
		if text != "" && !gosource.IsStandard(gosource.ImportPath(d.AST.Imports[0])) {
			text += "\n"
		}
		begin, end := d.Offset(block.Lparen)+1, d.Offset(block.Rparen)
		return []textdiff.Edit{{From: begin, To: begin, Text: text}, {From: end, To: end, Text: strings.Join(add, "")}}, nil
	}
	at := d.Offset(d.AST.Name.End())
	return []textdiff.Edit{{From: at, To: at, Text: "\n\nimport (" + strings.Join(standard, "") + "\n" + strings.Join(add, "") + ")"}}, nil
}
