package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// ConvertedFields says how the fields of a kind get from one version to another. Names are paths from the
// object: Spec.Size.
type ConvertedFields struct {
	// Roots are the fields of the object beside its metadata that both versions have: Spec and Status.
	Roots []string
	// Same have a type that both versions share and can be assigned; Reshaped one that both declare alike.
	Same, Reshaped []string
	// OnlySpoke and OnlyHub are what the other version lacks, or has in another form.
	OnlySpoke, OnlyHub []string
}

// compareFields finds out by the declarations in two folders how the fields of a kind can be converted.
func compareFields(tree *worktree.Tree, spokeDir, hubDir, kind string) (ConvertedFields, error) {
	spoke, err := parseTypes(tree, spokeDir)
	if err != nil {
		return ConvertedFields{}, err
	}
	hub, err := parseTypes(tree, hubDir)
	if err != nil {
		return ConvertedFields{}, err
	}
	for dir, types := range map[string]typeSet{spokeDir: spoke, hubDir: hub} {
		if types.structOf(ast.NewIdent(kind)) == nil {
			return ConvertedFields{}, &ContentError{fmt.Errorf("%s: there is no type %s struct; conversion needs the types of all versions", dir, kind)}
		}
	}
	c := comparison{spoke: spoke, hub: hub}
	c.structs("", spoke.structOf(ast.NewIdent(kind)), hub.structOf(ast.NewIdent(kind)))
	return c.result, nil
}

// typeSet holds the type declarations of a package by name.
type typeSet map[string]*ast.TypeSpec

// parseTypes reads the declarations of a folder's Go files, tests left out.
func parseTypes(tree *worktree.Tree, dir string) (typeSet, error) {
	names, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	types := typeSet{}
	for _, name := range names {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, worktree.Cause(err))
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
		if err != nil {
			return nil, &ContentError{fmt.Errorf("%w; correct it and run the command again", firstError(err))}
		}
		for _, decl := range file.Decls {
			if general, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range general.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						types[t.Name.Name] = t
					}
				}
			}
		}
	}
	return types, nil
}

// structOf is the struct that an expression names in the package, or nil.
func (t typeSet) structOf(expr ast.Expr) *ast.StructType {
	name, ok := expr.(*ast.Ident)
	if !ok || t[name.Name] == nil {
		return nil
	}
	s, _ := t[name.Name].Type.(*ast.StructType)
	return s
}

// comparison walks two versions of a kind side by side.
type comparison struct {
	spoke, hub typeSet
	result     ConvertedFields
}

// structs compares the fields of two structs that the object holds at prefix.
func (c *comparison) structs(prefix string, spoke, hub *ast.StructType) {
	hubFields := fieldsOf(hub)
	var seen []string
	for _, field := range fieldsOf(spoke) {
		seen = append(seen, field.name)
		if prefix == "" && isMetadata(field) {
			continue
		}
		at := slices.IndexFunc(hubFields, func(f structField) bool { return f.name == field.name })
		if at < 0 {
			c.result.OnlySpoke = append(c.result.OnlySpoke, prefix+field.name)
			continue
		}
		c.field(prefix, field, hubFields[at])
	}
	for _, field := range hubFields {
		if !slices.Contains(seen, field.name) && !(prefix == "" && isMetadata(field)) {
			c.result.OnlyHub = append(c.result.OnlyHub, prefix+field.name)
		}
	}
}

// field compares two fields of the same name.
func (c *comparison) field(prefix string, spoke, hub structField) {
	name := prefix + spoke.name
	if prefix == "" {
		c.result.Roots = append(c.result.Roots, name)
	}
	text := printed(spoke.typ)
	inSpoke, inHub := c.spoke.structOf(spoke.typ), c.hub.structOf(hub.typ)
	switch {
	case inSpoke != nil && inHub != nil && strings.Count(name, ".") < 8:
		c.structs(name+".", inSpoke, inHub)
	case text == printed(hub.typ) && !c.local(spoke.typ) && !c.local(hub.typ):
		c.result.Same = append(c.result.Same, name)
	case spoke.json == hub.json && c.alike(spoke.typ, hub.typ, map[string]bool{}):
		c.result.Reshaped = append(c.result.Reshaped, name)
	default:
		c.result.OnlySpoke = append(c.result.OnlySpoke, name)
		c.result.OnlyHub = append(c.result.OnlyHub, name)
	}
}

// local tells whether a type refers to one that a version declares itself.
func (c *comparison) local(expr ast.Expr) bool {
	found := false
	ast.Inspect(expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Field: // of a struct or function: their names are no types
			if n.Type != nil {
				found = found || c.local(n.Type)
			}
			return false
		case *ast.Ident:
			found = found || c.spoke[n.Name] != nil || c.hub[n.Name] != nil
		}
		return true
	})
	return found
}

// alike tells whether two types are declared alike in both versions, down to the types that they refer to.
func (c *comparison) alike(spoke, hub ast.Expr, seen map[string]bool) bool {
	if printed(spoke) != printed(hub) {
		return false
	}
	same := true
	ast.Inspect(spoke, func(n ast.Node) bool {
		if _, qualified := n.(*ast.SelectorExpr); qualified {
			return false
		}
		name, ok := n.(*ast.Ident)
		if !ok || seen[name.Name] || c.spoke[name.Name] == nil && c.hub[name.Name] == nil {
			return true
		}
		seen[name.Name] = true
		a, b := c.spoke[name.Name], c.hub[name.Name]
		same = same && a != nil && b != nil && c.alike(a.Type, b.Type, seen)
		return true
	})
	return same
}

// structField is one name of a struct's field.
type structField struct {
	name, json string
	typ        ast.Expr
}

func fieldsOf(s *ast.StructType) []structField {
	var fields []structField
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = f.Tag.Value
		}
		for _, name := range f.Names {
			if name.IsExported() {
				fields = append(fields, structField{name.Name, tag, f.Type})
			}
		}
		if len(f.Names) == 0 {
			base := strings.TrimPrefix(printed(f.Type), "*")
			fields = append(fields, structField{base[strings.LastIndex(base, ".")+1:], tag, f.Type})
		}
	}
	return fields
}

// isMetadata tells whether a field of an object is Kubernetes' own.
func isMetadata(f structField) bool { return f.name == "TypeMeta" || f.name == "ObjectMeta" }

// printed is a type as source, comments left out.
func printed(expr ast.Expr) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), expr); err != nil {
		return fmt.Sprintf("%#v", expr) // equal to nothing
	}
	return b.String()
}
