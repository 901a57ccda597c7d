package scaffold

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// ConvertedFields describes how the fields of a kind are converted from one version to another. Names are paths from the
// object, such as Spec.Size.
type ConvertedFields struct {
	// Roots are the fields of the object that both versions have, without its metadata: Spec and Status.
	Roots []string
	// Same are fields of a common type, which can be assigned. Reshaped are fields whose types both versions declare in
	// the same way.
	Same, Reshaped []string
	// OnlySpoke and OnlyHub are fields that the other version does not have, or has with another type.
	OnlySpoke, OnlyHub []string
}

// compareFields compares the fields of a kind in two directories.
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
			return ConvertedFields{}, fmt.Errorf("%s: type %s struct not found; conversion needs the types of all versions", dir, kind)
		}
	}
	c := comparison{spoke: spoke, hub: hub}
	c.compareStructs("", spoke.structOf(ast.NewIdent(kind)), hub.structOf(ast.NewIdent(kind)))
	return c.result, nil
}

// typeSet maps names to the type declarations of a package.
type typeSet map[string]*ast.TypeSpec

// parseTypes reads the type declarations of a package.
func parseTypes(tree *worktree.Tree, dir string) (typeSet, error) {
	pkg, err := readPackage(tree, dir)
	if err != nil {
		return nil, err
	}
	types := typeSet{}
	for _, file := range pkg.files {
		types.add(file.AST)
	}
	return types, nil
}

// add adds the type declarations of a file.
func (t typeSet) add(file *ast.File) {
	for _, decl := range file.Decls {
		if general, ok := decl.(*ast.GenDecl); ok {
			for _, spec := range general.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					t[s.Name.Name] = s
				}
			}
		}
	}
}

// structOf returns the struct type that an expression names in the package, or nil.
func (t typeSet) structOf(expr ast.Expr) *ast.StructType {
	name, ok := expr.(*ast.Ident)
	if !ok || t[name.Name] == nil {
		return nil
	}
	s, _ := t[name.Name].Type.(*ast.StructType)
	return s
}

// A comparison compares two versions of a kind.
type comparison struct {
	spoke, hub typeSet
	result     ConvertedFields
}

// compareStructs compares the fields of two structs at a path.
func (c *comparison) compareStructs(prefix string, spoke, hub *ast.StructType) {
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
		c.compareField(prefix, field, hubFields[at])
	}
	for _, field := range hubFields {
		if !slices.Contains(seen, field.name) && !(prefix == "" && isMetadata(field)) {
			c.result.OnlyHub = append(c.result.OnlyHub, prefix+field.name)
		}
	}
}

// compareField compares two fields of the same name.
func (c *comparison) compareField(prefix string, spoke, hub structField) {
	name := prefix + spoke.name
	if prefix == "" {
		c.result.Roots = append(c.result.Roots, name)
	}
	text := gosource.Print(spoke.typ)
	inSpoke, inHub := c.spoke.structOf(spoke.typ), c.hub.structOf(hub.typ)
	switch {
	case inSpoke != nil && inHub != nil && strings.Count(name, ".") < 8:
		c.compareStructs(name+".", inSpoke, inHub)
	case text == gosource.Print(hub.typ) && !c.isLocal(spoke.typ) && !c.isLocal(hub.typ):
		c.result.Same = append(c.result.Same, name)
	case spoke.json == hub.json && c.equal(spoke.typ, hub.typ, map[string]bool{}):
		c.result.Reshaped = append(c.result.Reshaped, name)
	default:
		c.result.OnlySpoke = append(c.result.OnlySpoke, name)
		c.result.OnlyHub = append(c.result.OnlyHub, name)
	}
}

// isLocal reports whether a type refers to one that a version declares.
func (c *comparison) isLocal(expr ast.Expr) bool {
	found := false
	ast.Inspect(expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Field: // of a struct or function: their names are not types
			if n.Type != nil {
				found = found || c.isLocal(n.Type)
			}
			return false
		case *ast.Ident:
			found = found || c.spoke[n.Name] != nil || c.hub[n.Name] != nil
		}
		return true
	})
	return found
}

// equal reports whether both versions declare a type, and the types that it refers to, in the same way.
func (c *comparison) equal(spoke, hub ast.Expr, seen map[string]bool) bool {
	if gosource.Print(spoke) != gosource.Print(hub) {
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
		same = same && a != nil && b != nil && c.equal(a.Type, b.Type, seen)
		return true
	})
	return same
}

// A structField is a name in a struct.
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
			base := strings.TrimPrefix(gosource.Print(f.Type), "*")
			fields = append(fields, structField{base[strings.LastIndex(base, ".")+1:], tag, f.Type})
		}
	}
	return fields
}

func isMetadata(f structField) bool { return f.name == "TypeMeta" || f.name == "ObjectMeta" }
