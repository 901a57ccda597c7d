package gocode

import (
	"go/ast"
	"strings"
)

// loggers sets the logger field of reconcilers as old scaffolds did in main.go. The upgrade removes that part of
// main.go, and without it nothing would be logged.
func loggers(f *source) {
	if f.AST.Name.Name != "main" {
		return
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || method(call) != "SetupWithManager" {
			return true
		}
		receiver, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.ParenExpr)
		if !ok {
			return true
		}
		unary, ok := receiver.X.(*ast.UnaryExpr)
		if !ok {
			return true
		}
		literal, ok := unary.X.(*ast.CompositeLit)
		if !ok || literal.Type == nil || !f.hasLog(literal.Type) {
			return true
		}
		from, typeName := f.named(literal.Type)
		fields := f.fields(unary, from, typeName)
		if fields["Client"] == nil || fields["Log"] != nil {
			return true
		}
		f.insert(fields["Client"].End(), ",\nLog: "+f.use(runtimeModule, "ctrl")+`.Log.WithName("controllers").WithName("`+strings.TrimSuffix(typeName, "Reconciler")+`")`)
		return true
	})
}

// hasLog reports whether a type of the project has a field Log for a logger.
func (f *source) hasLog(e ast.Expr) bool {
	from, typeName := f.named(e)
	dir, inModule := f.program.dirOf(from)
	if !inModule {
		return false
	}
	for _, other := range f.program.files {
		if other.Dir() != dir {
			continue
		}
		for _, decl := range other.AST.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok || t.Name.Name != typeName {
					continue
				}
				structure, ok := t.Type.(*ast.StructType)
				return ok && other.hasLogger(structure)
			}
		}
	}
	return false
}

func (f *source) hasLogger(structure *ast.StructType) bool {
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			if name.Name == "Log" && f.refersTo(field.Type, "github.com/go-logr/logr", "Logger") {
				return true
			}
		}
	}
	return false
}
