package gocode

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

const (
	ginkgo        = "github.com/onsi/ginkgo"
	ginkgoTable   = ginkgo + "/extensions/table"
	ginkgoPrinter = runtimeModule + "/pkg/envtest/printer"
)

// specs updates tests from Ginkgo v1 to v2: imports, reporters of controller-runtime, and the done channel of specs with its
// timeout. A channel with another use is kept.
func specs(f *source) {
	if !f.importsPath(ginkgo) {
		return
	}
	for _, spec := range f.AST.Imports {
		p := gosource.ImportPath(spec)
		rest, ok := strings.CutPrefix(p, ginkgo)
		switch {
		case !ok || rest != "" && rest[0] != '/' || strings.HasPrefix(rest, "/v2"):
		case p == ginkgoTable && f.ImportName(spec) == "." && slices.Contains(f.dots, ginkgo):
			f.cutLines(startOf(spec), spec.End()) // tables are part of Ginkgo v2
		default:
			f.replace(spec.Path, strconv.Quote(ginkgo+"/v2"+rest))
		}
	}
	for call := range nodes[*ast.CallExpr](f.AST) {
		f.runSpecs(call)
		f.node(call)
	}
}

// runSpecs replaces calls with reporters by RunSpecs.
func (f *source) runSpecs(call *ast.CallExpr) {
	if len(call.Args) != 3 ||
		!f.refersTo(call.Fun, ginkgo, "RunSpecsWithDefaultAndCustomReporters", "RunSpecsWithCustomReporters") {
		return
	}
	f.rename(call.Fun, "RunSpecs")
	f.cut(call.Args[1].End(), call.Args[2].End())
	foreign := func(reporter ast.Expr) bool { return !f.isPrinter(reporter) }
	if list, ok := call.Args[2].(*ast.CompositeLit); ok && !slices.ContainsFunc(list.Elts, foreign) {
		return
	}
	f.noteRemoved("removed " + f.Source(call.Args[2]) + ": Ginkgo v2 has no custom reporters; " +
		"use a flag of go test such as -ginkgo.junit-report, or ReportAfterSuite")
}

// isPrinter reports whether an expression is the reporter of controller-runtime that ended the output with a line break.
func (f *source) isPrinter(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		return f.refersTo(e.Type, ginkgoPrinter, "NewlineReporter")
	case *ast.UnaryExpr:
		return f.isPrinter(e.X)
	case *ast.CallExpr:
		return f.refersTo(e.Fun, ginkgoPrinter, "NewProwReporter")
	}
	return false
}

// specNodes returns the functions of Ginkgo whose bodies could have a channel and a timeout.
func specNodes() []string {
	return strings.Fields(`BeforeEach JustBeforeEach AfterEach JustAfterEach BeforeSuite AfterSuite
		SynchronizedBeforeSuite SynchronizedAfterSuite It FIt PIt XIt Specify FSpecify PSpecify XSpecify`)
}

// node removes the channel and the timeout of a spec or container.
func (f *source) node(call *ast.CallExpr) {
	if !f.refersTo(call.Fun, ginkgo, specNodes()...) {
		return
	}
	body := -1
	for i, arg := range call.Args {
		if fn, ok := arg.(*ast.FuncLit); ok {
			body = i
			f.synchronous(fn)
		}
	}
	if last := len(call.Args) - 1; body >= 0 && body < last {
		f.cut(call.Args[body].End(), call.Args[last].End())
	}
}

// synchronous removes the channel if the function only closes it at the end.
func (f *source) synchronous(fn *ast.FuncLit) {
	list := fn.Type.Params.List
	if len(list) == 0 {
		return
	}
	last := list[len(list)-1]
	if !f.refersTo(last.Type, ginkgo, "Done") || len(last.Names) > 1 {
		return
	}
	var closed []ast.Stmt
	if len(last.Names) == 1 {
		for _, stmt := range fn.Body.List {
			if closes(stmt, last.Names[0].Obj) {
				closed = append(closed, stmt)
			} else {
				for range uses(stmt, last.Names[0].Obj) {
					return // another use
				}
			}
		}
	}
	for _, stmt := range closed {
		f.cutStatement(stmt)
	}
	if len(list) == 1 {
		f.cut(last.Pos(), last.End())
	} else {
		f.cut(list[len(list)-2].End(), last.End())
	}
}

// closes reports whether a statement is close(done) or defer close(done).
func closes(stmt ast.Stmt, done *ast.Object) bool {
	var call *ast.CallExpr
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call = s.Call
	}
	if call == nil || len(call.Args) != 1 {
		return false
	}
	fn, ok := call.Fun.(*ast.Ident)
	arg, isName := call.Args[0].(*ast.Ident)
	return ok && isName && fn.Name == "close" && arg.Obj != nil && arg.Obj == done
}
