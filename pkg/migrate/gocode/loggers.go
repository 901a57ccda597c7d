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
	for call := range nodes[*ast.CallExpr](f.AST) {
		if method(call) != "SetupWithManager" {
			continue
		}
		receiver, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.ParenExpr)
		if !ok {
			continue
		}
		from, typeName := f.named(objectOf(receiver))
		fields := f.fields(receiver.X, from, typeName)
		if fields["Client"] == nil || fields["Log"] != nil || !f.program.hasLog(from, typeName) {
			continue
		}
		name := strings.TrimSuffix(typeName, "Reconciler")
		log := f.use(runtimeModule, "ctrl") + `.Log.WithName("controllers").WithName("` + name + `")`
		f.insert(fields["Client"].End(), ",\nLog: "+log)
	}
}

// hasLog reports whether a type of the project has a field Log for a logger.
func (p *program) hasLog(importPath, typeName string) bool {
	dir, inModule := p.dirOf(importPath)
	if !inModule {
		return false
	}
	for _, f := range p.files {
		if f.Dir() != dir {
			continue
		}
		for spec := range nodes[*ast.TypeSpec](f.AST) {
			if structure, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == typeName {
				return f.hasLogger(structure)
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
