package gocode

import (
	"go/ast"
	"strconv"

	"github.com/operon-sdk/operon/pkg/gosource"
)

const (
	admissionPackage = runtimeModule + "/pkg/webhook/admission"
	corePackage      = "k8s.io/api/core/v1"
	zapPackage       = runtimeModule + "/pkg/log/zap"
)

// A name is a name in a package; usual is the usual local name of the package.
type name struct{ path, name, usual string }

// renamedNames returns the names that were only renamed.
func renamedNames() map[name]name {
	client := func(n string) name { return name{clientPackage, n, "client"} }
	return map[name]name{
		{clientPackage, "CreateDryRunAll", ""}:                           client("DryRunAll"),
		{clientPackage, "UpdateDryRunAll", ""}:                           client("DryRunAll"),
		{clientPackage, "PatchDryRunAll", ""}:                            client("DryRunAll"),
		{clientPackage, "ConstantPatch", ""}:                             client("RawPatch"),
		{runtimeModule + "/pkg/controller/controllerutil", "Object", ""}: client("Object"),
		{corePackage, "ServiceExternalTrafficPolicyType", ""}:            {corePackage, "ServiceExternalTrafficPolicy", "corev1"},
	}
}

// movedPackages maps packages to their new paths with at least the same contents.
func movedPackages() map[string]string {
	return map[string]string{
		runtimeModule + "/pkg/runtime/log":     runtimeModule + "/pkg/log",
		runtimeModule + "/pkg/runtime/scheme":  runtimeModule + "/pkg/scheme",
		runtimeModule + "/pkg/runtime/signals": runtimeModule + "/pkg/manager/signals",
		"k8s.io/apimachinery/pkg/util/clock":   "k8s.io/utils/clock",
		"k8s.io/api/autoscaling/v2beta2":       "k8s.io/api/autoscaling/v2",
	}
}

// renames updates renamed names and moved packages.
func renames(f *source) {
	moved := movedPackages()
	if f.importsPath(admissionPackage) || f.importsPath(webhookPackage) {
		// Requests and responses of webhooks are of v1 since v0.7.
		moved["k8s.io/api/admission/v1beta1"] = "k8s.io/api/admission/v1"
	}
	for _, spec := range f.AST.Imports {
		from := gosource.ImportPath(spec)
		to := moved[from]
		if to == "" || f.importsPath(to) {
			continue
		}
		text := strconv.Quote(to)
		if usual := gosource.PackageName(from); spec.Name == nil && gosource.PackageName(to) != usual {
			text = usual + " " + text
		}
		f.replace(spec.Path, text)
	}
	names := renamedNames()
	for selector := range nodes[*ast.SelectorExpr](f.AST) {
		from, old := f.named(selector)
		if to, ok := names[name{from, old, ""}]; ok {
			f.replace(selector, f.use(to.path, to.usual)+"."+to.name)
		}
	}
}

// calls rewrites calls and literals of removed functions and types.
func calls(f *source) {
	ast.PreorderStack(f.AST, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f.call(n)
		case *ast.CompositeLit:
			f.literal(n, stack)
		}
		return true
	})
}

func (f *source) call(call *ast.CallExpr) {
	args := call.Args
	switch {
	case f.refersTo(call.Fun, zapPackage, "Logger") && len(args) == 1:
		zap := f.use(zapPackage, "zap")
		f.replaceRange(call.Pos(), args[0].Pos(), zap+".New("+zap+".UseDevMode(")
		f.insert(args[0].End(), ")")
	case f.refersTo(call.Fun, zapPackage, "LoggerTo") && len(args) == 2:
		zap := f.use(zapPackage, "zap")
		f.replaceRange(call.Pos(), args[0].Pos(), zap+".New("+zap+".WriteTo(")
		f.insert(args[0].End(), ")")
		f.insert(args[1].Pos(), zap+".UseDevMode(")
		f.insert(args[1].End(), ")")
	case f.refersTo(call.Fun, clientPackage, "MatchingField") && len(args) == 2:
		f.replaceRange(call.Pos(), args[0].Pos(), f.use(clientPackage, "client")+".MatchingFields{")
		f.replaceRange(args[0].End(), args[1].Pos(), ": ")
		f.replaceRange(args[1].End(), call.End(), "}")
	case f.refersTo(call.Fun, clientPackage+"/fake", "NewFakeClientWithScheme") && len(args) > 0:
		f.replaceRange(call.Pos(), args[0].Pos(), f.use(clientPackage+"/fake", "fake")+".NewClientBuilder().WithScheme(")
		if len(args) == 1 {
			f.replaceRange(args[0].End(), call.End(), ").Build()")
			return
		}
		f.replaceRange(args[0].End(), args[1].Pos(), ").WithRuntimeObjects(")
		f.insert(call.End(), ".Build()")
	case method(call) == "AddMetricsExtraHandler" && len(args) == 2 && f.importsPath(runtimeModule):
		f.replace(call.Fun.(*ast.SelectorExpr).Sel, "AddMetricsServerExtraHandler")
	case method(call) == "IndexField" && len(args) == 4 && f.importsPath(runtimeModule):
		f.indexer(args[3])
	}
}

// indexer changes the parameter of an index function to client.Object, as since v0.7.
func (f *source) indexer(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncLit:
		f.indexed(e.Type)
	case *ast.Ident, *ast.SelectorExpr:
		if fn := f.program.functions[f.ownKey(e)]; fn.decl != nil {
			fn.source.indexed(fn.decl.Type)
		}
	}
}

func (f *source) indexed(t *ast.FuncType) {
	if t.Params.NumFields() != 1 || t.Results.NumFields() != 1 {
		return
	}
	if param := t.Params.List[0].Type; f.refersTo(param, "k8s.io/apimachinery/pkg/runtime", "Object") {
		f.replace(param, f.use(clientPackage, "client")+".Object")
	}
}

func (f *source) literal(literal *ast.CompositeLit, stack []ast.Node) {
	switch {
	case f.refersTo(literal.Type, runtimeModule+"/pkg/log", "NullLogger") && len(literal.Elts) == 0:
		f.replace(literal, f.use("github.com/go-logr/logr", "logr")+".Discard()")
	case f.refersTo(literal.Type, zapPackage, "Options"):
		f.renameKey(literal, "DestWritter", "DestWriter")
	case f.refersTo(literal.Type, runtimeModule+"/pkg/envtest", "WebhookInstallOptions"):
		f.renameKey(literal, "DirectoryPaths", "Paths")
	case f.refersTo(literal.Type, runtimeModule+"/pkg/webhook/conversion", "Webhook"):
		unary, ok := stack[len(stack)-1].(*ast.UnaryExpr)
		if manager := f.managerIn(stack); ok && manager != "" {
			conversion := f.use(runtimeModule+"/pkg/webhook/conversion", "conversion")
			f.replace(unary, conversion+".NewWebhookHandler("+manager+".GetScheme(), "+manager+".GetConverterRegistry())")
		}
	}
}

func (f *source) renameKey(literal *ast.CompositeLit, from, to string) {
	for key, pair := range f.pairs(literal) {
		if key == from {
			f.replace(pair.Key, to)
		}
	}
}
