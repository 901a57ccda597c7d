package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// mergeDeclarations adds to a Go file what a scaffold of the same file declares beyond it, with the imports
// that this needs. What the file declares already stays as it is, unless replace says that it is to be
// written again. Everything else is the user's and stays byte for byte.
func mergeDeclarations(name string, have, scaffold []byte, replace func(declaration string) bool) ([]byte, error) {
	have, crlf := unixLines(have)
	mine, err := openDeclarations(name, have)
	if err != nil {
		return nil, &ContentError{fmt.Errorf("%w; correct it and run the command again", firstError(err))}
	}
	theirs, err := openDeclarations(name, scaffold)
	if err != nil {
		return nil, fmt.Errorf("reading the scaffold of %s: %w", name, err)
	}
	if mine.file.Name.Name != theirs.file.Name.Name {
		return nil, &ContentError{fmt.Errorf("%s: package %s, but the scaffold needs %s; move the file away or correct its package",
			name, mine.file.Name.Name, theirs.file.Name.Name)}
	}
	clean := isFormatted(have)
	var edits []edit
	needed := map[string]bool{}
	added := ""
	for _, d := range theirs.pieces {
		at := slices.IndexFunc(mine.pieces, func(m piece) bool { return m.key == d.key })
		switch {
		case at < 0:
			added += "\n" + d.text + "\n"
		case replace != nil && replace(d.key):
			edits = append(edits, edit{mine.pieces[at].from, mine.pieces[at].to, d.text})
		default:
			continue
		}
		for _, used := range d.uses {
			needed[used] = true
		}
	}
	if added != "" {
		edits = append(edits, edit{len(have), len(have), added})
	}
	imports, err := mine.missingImports(theirs, needed)
	if err != nil {
		return nil, &ContentError{err}
	}
	edits = append(edits, imports...)
	out := applyEdits(have, edits)
	if clean {
		if out, err = format.Source(out); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if crlf {
		out = []byte(strings.ReplaceAll(string(out), "\n", "\r\n"))
	}
	return out, nil
}

// unixLines takes the carriage returns out of a file whose lines all end in them.
func unixLines(content []byte) ([]byte, bool) {
	text := string(content)
	if n := strings.Count(text, "\n"); n > 0 && strings.Count(text, "\r\n") == n {
		return []byte(strings.ReplaceAll(text, "\r\n", "\n")), true
	}
	return content, false
}

func isFormatted(content []byte) bool {
	formatted, err := format.Source(content)
	return err == nil && string(formatted) == string(content)
}

// edit replaces the bytes from one offset to another.
type edit struct {
	from, to int
	text     string
}

func applyEdits(content []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return b.from - a.from })
	text := string(content)
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return []byte(text)
}

// declarations is a Go file taken apart into what it declares.
type declarations struct {
	name   string
	fset   *token.FileSet
	file   *ast.File
	pieces []piece
}

// piece is a declaration with the comments above it.
type piece struct {
	key      string
	text     string
	from, to int
	// uses are the packages that it refers to, by the names they are imported by.
	uses []string
}

func openDeclarations(name string, content []byte) (*declarations, error) {
	d := &declarations{name: name, fset: token.NewFileSet()}
	var err error
	d.file, err = parser.ParseFile(d.fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	end := d.offset(d.file.Name.End())
	for _, decl := range d.file.Decls {
		from, to := d.offset(decl.Pos()), d.offset(decl.End())
		if general, ok := decl.(*ast.GenDecl); !ok || general.Tok != token.IMPORT {
			// The comments between two declarations belong to the second one, markers among them.
			for _, group := range d.file.Comments {
				if at := d.offset(group.Pos()); at >= end && at < from && !d.trails(content, at) {
					from = at
				}
			}
			d.pieces = append(d.pieces, piece{
				key: declarationKey(decl), text: string(content[from:to]), from: from, to: to, uses: packagesOf(decl),
			})
		}
		end = to
	}
	return d, nil
}

// trails tells whether a comment stands behind code on its line.
func (d *declarations) trails(content []byte, at int) bool {
	line := strings.LastIndexByte(string(content[:at]), '\n') + 1
	return strings.TrimSpace(string(content[line:at])) != ""
}

func (d *declarations) offset(pos token.Pos) int { return d.fset.PositionFor(pos, false).Offset }

// declarationKey names a declaration: "func F", "func T.M", "type T", "var v", and for a test container of
// Ginkgo, which is assigned to the blank name, what it is called with.
func declarationKey(decl ast.Decl) string {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if decl.Recv != nil && len(decl.Recv.List) == 1 {
			receiver = strings.TrimPrefix(printed(decl.Recv.List[0].Type), "*") + "."
		}
		return "func " + receiver + decl.Name.Name
	case *ast.GenDecl:
		if len(decl.Specs) == 0 {
			return decl.Tok.String()
		}
		switch spec := decl.Specs[0].(type) {
		case *ast.TypeSpec:
			return "type " + spec.Name.Name
		case *ast.ValueSpec:
			if spec.Names[0].Name == "_" && len(spec.Values) == 1 {
				if call, ok := spec.Values[0].(*ast.CallExpr); ok && len(call.Args) > 0 {
					return "call " + printed(call.Fun) + " " + printed(call.Args[0])
				}
				return "blank " + printed(spec.Values[0])
			}
			return "var " + spec.Names[0].Name
		}
	}
	return ""
}

// packagesOf lists the names that a declaration may know packages by.
func packagesOf(decl ast.Decl) []string {
	var names []string
	ast.Inspect(decl, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
		return true
	})
	return names
}

// missingImports adds the imports of theirs whose names are needed, and those without a name of their own
// to refer to, if the file has declarations from theirs at all.
func (d *declarations) missingImports(theirs *declarations, needed map[string]bool) ([]edit, error) {
	if len(needed) == 0 {
		return nil, nil
	}
	var add, standard []string
	var conflicts []error
	for _, spec := range theirs.file.Imports {
		name := importName(spec)
		if name != "." && !needed[name] {
			continue
		}
		there := false
		for _, have := range d.file.Imports {
			if importName(have) != name {
				continue
			}
			if pathOf(have) == pathOf(spec) {
				there = true
			} else if name != "." {
				conflicts = append(conflicts, fmt.Errorf("%s: the name %s stands for %s here, but the scaffold needs it for %s; import yours by another name",
					d.fset.Position(have.Pos()), name, pathOf(have), pathOf(spec)))
			}
		}
		if there {
			continue
		}
		line := strconv.Quote(pathOf(spec))
		if spec.Name != nil {
			line = spec.Name.Name + " " + line
		}
		if !IsStandard(pathOf(spec)) {
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
	for _, decl := range d.file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.IMPORT || !block.Rparen.IsValid() || len(block.Specs) == 0 {
			continue
		}
		// The standard library's are the first group, the others join the last one.
		text := strings.Join(standard, "")
		if text != "" && !IsStandard(pathOf(d.file.Imports[0])) {
			text += "\n"
		}
		begin, end := d.offset(block.Lparen)+1, d.offset(block.Rparen)
		return []edit{{begin, begin, text}, {end, end, strings.Join(add, "")}}, nil
	}
	at := d.offset(d.file.Name.End())
	return []edit{{at, at, "\n\nimport (" + strings.Join(standard, "") + "\n" + strings.Join(add, "") + ")"}}, nil
}
