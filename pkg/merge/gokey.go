package merge

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// statementKey returns the identifier of a statement in the programs of all releases: what it declares, assigns or calls.
func (s *goSource) statementKey(stmt ast.Stmt) string {
	switch stmt := stmt.(type) {
	case *ast.DeclStmt:
		if d, ok := stmt.Decl.(*ast.GenDecl); ok && len(d.Specs) > 0 {
			return s.specKey(d.Tok, d.Specs[0])
		}
	case *ast.AssignStmt:
		return s.assignKey(stmt)
	case *ast.ExprStmt:
		if call, ok := stmt.X.(*ast.CallExpr); ok {
			return s.callKey(call)
		}
	case *ast.GoStmt:
		return "go " + s.callKey(stmt.Call)
	case *ast.DeferStmt:
		return "defer " + s.callKey(stmt.Call)
	case *ast.IfStmt:
		return s.ifKey(stmt)
	}
	key, _, _ := strings.Cut(s.key(stmt), "{")
	return strings.TrimSpace(key)
}

func (s *goSource) assignKey(stmt *ast.AssignStmt) string {
	var names []string
	for _, e := range stmt.Lhs {
		if !gosource.IsIdent(e, "err") && !gosource.IsIdent(e, "_") {
			names = append(names, s.key(e))
		}
	}
	if len(names) == 0 {
		if call, ok := stmt.Rhs[0].(*ast.CallExpr); ok {
			return s.callKey(call)
		}
		return s.key(stmt)
	}
	verb := "set "
	if stmt.Tok == token.DEFINE {
		verb = "var "
	}
	return verb + strings.Join(names, ",")
}

func (s *goSource) ifKey(stmt *ast.IfStmt) string {
	if assign, ok := stmt.Init.(*ast.AssignStmt); ok && assignsError(assign) && len(assign.Lhs) == 1 {
		return s.assignKey(assign)
	}
	if stmt.Init == nil && stmt.Else == nil && len(stmt.Body.List) > 0 {
		// A condition for set-up: "if os.Getenv("ENABLE_WEBHOOKS") != "false" {".
		if units := s.statements(stmt.Body.List); len(units) == 1 && isSetup(units[0].key) {
			return units[0].key
		}
	}
	if stmt.Init != nil {
		return "if " + s.key(stmt.Init) + "; " + s.key(stmt.Cond)
	}
	return "if " + s.key(stmt.Cond)
}

const (
	controllerKey = "controller "
	webhookKey    = "webhook "
	startKey      = "log the start of the manager"
)

// isSetup reports whether a key belongs to a statement that registers a controller or webhook.
func isSetup(key string) bool {
	return strings.HasPrefix(key, controllerKey) || strings.HasPrefix(key, webhookKey)
}

var webhookSetup = lazyregexp.New(`^Setup(\w+)WebhookWithManager$`)

func (s *goSource) callKey(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		if _, ok := call.Fun.(*ast.FuncLit); ok {
			return "func"
		}
		return s.key(call.Fun) + s.firstText(call)
	}
	name := sel.Sel.Name
	switch {
	case name == "Must" && len(call.Args) == 1:
		if inner, ok := call.Args[0].(*ast.CallExpr); ok {
			return s.callKey(inner)
		}
	case name == "SetupWithManager":
		return controllerKey + s.typeKey(sel.X, "controller", "controllers")
	case name == "SetupWebhookWithManager":
		return webhookKey + s.typeKey(sel.X, "api", "apis")
	case webhookSetup.MatchString(name):
		return webhookKey + join(s.directory(sel.X, "webhook", "webhooks", "api", "apis"), webhookSetup.FindStringSubmatch(name)[1])
	case name == "AddToScheme":
		return "scheme " + s.directory(sel.X, "api", "apis")
	case strings.HasSuffix(name, "Var") && len(call.Args) > 1:
		if ref, ok := call.Args[0].(*ast.UnaryExpr); ok && ref.Op == token.AND {
			return "flag " + s.key(ref.X)
		}
	case name == "Info" && len(call.Args) == 1:
		text := strings.ToLower(s.firstText(call))
		if strings.Contains(text, "starting") && strings.Contains(text, "manager") {
			return startKey // with another message in each release
		}
	}
	return s.key(call.Fun) + s.firstText(call)
}

// firstText returns the first argument of a call after a space, if it is a string.
func (s *goSource) firstText(call *ast.CallExpr) string {
	if len(call.Args) > 0 {
		if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return " " + lit.Value
		}
	}
	return ""
}

// typeKey returns the directory below one of the roots, and the type of a literal such as (&controller.Reconciler{…}).
func (s *goSource) typeKey(e ast.Expr, roots ...string) string {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.UnaryExpr:
			e = x.X
			continue
		case *ast.CompositeLit:
			if sel, ok := x.Type.(*ast.SelectorExpr); ok {
				return join(s.directory(sel.X, roots...), sel.Sel.Name)
			}
			return s.key(x.Type)
		}
		return s.key(e)
	}
}

func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "." + name
}

// directory returns the import path of a qualifier, or the part of it below the last of the roots, because the
// directories above differ between releases and layouts: apis/crew/v1 and api/crew/v1.
func (s *goSource) directory(qualifier ast.Expr, roots ...string) string {
	path := s.key(qualifier)
	elements := strings.Split(path, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if slices.Contains(roots, elements[i]) {
			return strings.Join(elements[i+1:], "/")
		}
	}
	return path
}
