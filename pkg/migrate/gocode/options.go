package gocode

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

const (
	cachePackage   = runtimeModule + "/pkg/cache"
	metricsPackage = runtimeModule + "/pkg/metrics/server"
	webhookPackage = runtimeModule + "/pkg/webhook"
)

// options moves settings of managers to their places since v0.15 and v0.16: Metrics, WebhookServer, Cache and Client.
func options(f *source) {
	for n := range ast.Preorder(f.AST) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if f.isRuntime(n.Type, "manager", "Options") {
				o := &optionsLiteral{source: f, literal: n, at: map[string]int{}}
				o.rewrite()
			}
		case *ast.AssignStmt:
			f.setOption(n)
		}
	}
}

// An optionsLiteral is manager.Options{…}; at maps field names to indexes.
type optionsLiteral struct {
	*source
	literal *ast.CompositeLit
	at      map[string]int
}

func (o *optionsLiteral) rewrite() {
	for i, element := range o.literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			o.at[o.source.Source(pair.Key)] = i
		}
	}
	o.move("Metrics", func(fields []field) string {
		return o.use(metricsPackage, "metricsserver") + ".Options{" + join(fields) + "}"
	}, rename{"MetricsBindAddress", "BindAddress"})
	o.move("WebhookServer", func(fields []field) string {
		webhook := o.use(webhookPackage, "webhook")
		return webhook + ".NewServer(" + webhook + ".Options{" + join(fields) + "})"
	}, rename{"Port", "Port"}, rename{"Host", "Host"}, rename{"CertDir", "CertDir"}, rename{"TLSOpts", "TLSOpts"})
	if o.has("Namespace") && o.has("NewCache") {
		if _, list := o.namespaces(o.value("NewCache")); list {
			o.cutElement(o.literal, o.at["Namespace"]) // ignored by the cache of several namespaces
			delete(o.at, "Namespace")
		}
	}
	o.move("Cache", func(fields []field) string {
		return o.use(cachePackage, "cache") + ".Options{" + join(fields) + "}"
	}, rename{"Namespace", "DefaultNamespaces"}, rename{"NewCache", "DefaultNamespaces"}, rename{"SyncPeriod", "SyncPeriod"})
	o.move("Client", func(fields []field) string {
		client := o.use(clientPackage, "client")
		return client + ".Options{Cache: &" + client + ".CacheOptions{" + join(fields) + "}}"
	}, rename{"ClientDisableCacheFor", "DisableFor"})
	if o.has("MapperProvider") {
		o.mapperProvider(o.value("MapperProvider"))
	}
}

// A rename is an old and a new field name, a field a name with its value.
type (
	rename struct{ from, to string }
	field  struct{ name, value string }
)

func join(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.name+": "+f.value)
	}
	return strings.Join(parts, ", ")
}

func (o *optionsLiteral) has(name string) bool { _, ok := o.at[name]; return ok }

func (o *optionsLiteral) value(name string) ast.Expr {
	return o.literal.Elts[o.at[name]].(*ast.KeyValueExpr).Value
}

// move merges fields into the target field: into its existing literal if possible, else in place of the first of them.
func (o *optionsLiteral) move(target string, text func([]field) string, renames ...rename) {
	var fields []field
	var places []int
	for _, r := range renames {
		if !o.has(r.from) {
			continue
		}
		value := o.source.Source(o.value(r.from))
		switch r.from {
		case "Namespace":
			value = "map[string]" + o.use(cachePackage, "cache") + ".Config{" + value + ": {}}"
		case "NewCache":
			list, ok := o.namespaces(o.value("NewCache"))
			if !ok {
				continue // rewritten by caches, or unknown
			}
			value = list
		}
		fields, places = append(fields, field{r.to, value}), append(places, o.at[r.from])
	}
	server := target == "WebhookServer" && o.has(target) && o.server() != nil
	if len(fields) == 0 && !server {
		return
	}
	if !o.has(target) {
		o.replace(o.literal.Elts[places[0]], target+": "+text(fields))
		places = places[1:]
	} else if !o.extend(target, text, fields, server) {
		return
	}
	for _, i := range places {
		o.cutElement(o.literal, i)
	}
}

// server returns the literal &webhook.Server{…} in WebhookServer, or nil.
func (o *optionsLiteral) server() *ast.CompositeLit {
	unary, ok := o.value("WebhookServer").(*ast.UnaryExpr)
	if !ok || o.fields(unary, webhookPackage, "Server") == nil {
		return nil
	}
	return unary.X.(*ast.CompositeLit)
}

// extend adds fields to an existing literal.
func (o *optionsLiteral) extend(target string, text func([]field) string, fields []field, server bool) bool {
	value := o.value(target)
	if server {
		literal := o.server()
		webhook := o.use(webhookPackage, "webhook")
		o.replaceRange(value.Pos(), literal.Lbrace, webhook+".NewServer("+webhook+".Options")
		o.addFields(literal, fields)
		o.insert(literal.End(), ")")
		return true
	}
	if call, ok := value.(*ast.CallExpr); ok && target == "WebhookServer" && len(call.Args) == 1 {
		value = call.Args[0]
	}
	literal, ok := value.(*ast.CompositeLit)
	if !ok || target == "Client" {
		return false
	}
	o.addFields(literal, fields)
	return true
}

func (f *source) addFields(literal *ast.CompositeLit, fields []field) {
	if len(fields) == 0 {
		return
	}
	if len(literal.Elts) == 0 {
		f.insert(literal.Rbrace, join(fields))
		return
	}
	last := literal.Elts[len(literal.Elts)-1]
	separator := ", "
	if f.Line(last.End()) < f.Line(literal.Rbrace) {
		separator = ",\n"
	}
	f.insert(last.End(), separator+join(fields))
}

// namespaces returns the value of DefaultNamespaces for cache.MultiNamespacedCacheBuilder of a literal list.
func (f *source) namespaces(e ast.Expr) (text string, ok bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || !f.refersTo(call.Fun, cachePackage, "MultiNamespacedCacheBuilder") || len(call.Args) != 1 {
		return "", false
	}
	list, ok := call.Args[0].(*ast.CompositeLit)
	if !ok || f.hasComments(list, nil) {
		return "", false
	}
	var parts []string
	for _, element := range list.Elts {
		parts = append(parts, f.Source(element)+": {}")
	}
	return "map[string]" + f.use(cachePackage, "cache") + ".Config{" + strings.Join(parts, ", ") + "}", true
}

// setOption rewrites assignments to options in a variable.
func (f *source) setOption(s *ast.AssignStmt) {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.ASSIGN {
		return
	}
	selector, ok := s.Lhs[0].(*ast.SelectorExpr)
	if !ok || !f.holdsOptions(selector.X) {
		return
	}
	switch selector.Sel.Name {
	case "MetricsBindAddress":
		f.replace(selector.Sel, "Metrics.BindAddress")
	case "SyncPeriod":
		f.replace(selector.Sel, "Cache.SyncPeriod")
	case "Namespace":
		f.replace(selector.Sel, "Cache.DefaultNamespaces")
		value := f.Source(s.Rhs[0])
		if value == `""` || value == "``" {
			f.replace(s.Rhs[0], "nil")
			return
		}
		f.replace(s.Rhs[0], "map[string]"+f.use(cachePackage, "cache")+".Config{"+value+": {}}")
	case "NewCache":
		if text, ok := f.namespaces(s.Rhs[0]); ok {
			f.replace(selector.Sel, "Cache.DefaultNamespaces")
			f.replace(s.Rhs[0], text)
		}
	}
}

// holdsOptions reports whether a variable is a manager.Options or a pointer to one.
func (f *source) holdsOptions(e ast.Expr) bool {
	return isDeclaredWith(e, func(t ast.Expr) bool {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.UnaryExpr:
			t = x.X
		}
		if literal, ok := t.(*ast.CompositeLit); ok {
			t = literal.Type
		}
		return f.isRuntime(t, "manager", "Options")
	})
}

// isDeclaredWith reports whether the declaration of a variable in the file has a wanted type or initial value.
func isDeclaredWith(variable ast.Expr, wanted func(typeOrValue ast.Expr) bool) bool {
	id, ok := variable.(*ast.Ident)
	if !ok || id.Obj == nil {
		return false
	}
	switch d := id.Obj.Decl.(type) {
	case *ast.Field:
		return wanted(d.Type)
	case *ast.ValueSpec:
		return wanted(d.Type) || len(d.Values) == 1 && wanted(d.Values[0])
	case *ast.AssignStmt:
		i := slices.IndexFunc(d.Lhs, func(e ast.Expr) bool { return gosource.IsIdent(e, id.Name) })
		return i >= 0 && len(d.Lhs) == len(d.Rhs) && wanted(d.Rhs[i])
	}
	return false
}

// mapperProvider adds the HTTP client to the parameters of a function that creates a REST mapper.
func (f *source) mapperProvider(e ast.Expr) {
	fn, ok := e.(*ast.FuncLit)
	if !ok || fn.Type.Params.NumFields() != 1 {
		return
	}
	f.insert(fn.Type.Params.List[0].End(), ", httpClient *"+f.use("net/http", "http")+".Client")
	for call := range nodes[*ast.CallExpr](fn.Body) {
		if len(call.Args) == 1 && f.refersTo(call.Fun, clientPackage+"/apiutil", "NewDynamicRESTMapper") {
			f.insert(call.Args[0].End(), ", httpClient")
		}
	}
}
