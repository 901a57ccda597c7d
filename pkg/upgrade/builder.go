package upgrade

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

const runtimeModule = "sigs.k8s.io/controller-runtime"

// Builders makes code that sets up webhooks fit a controller-runtime whose builder is given the object at its
// start and knows its type (v0.23 and later): NewWebhookManagedBy(mgr).For(&T{}) becomes
// NewWebhookManagedBy(mgr, &T{}), and webhooks of any object are set with the methods for such. The webhooks
// themselves stay as they are. It returns the files that it changed.
func Builders(tree *scaffold.Tree) ([]string, error) {
	names, err := tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base[0] == '.' || base[0] == '_' || base == "testdata" || base == "vendor"
	})
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, name := range names {
		if path.Ext(name) != ".go" {
			continue
		}
		src, err := tree.ReadFile(name)
		if err != nil || !bytes.Contains(src, []byte("NewWebhookManagedBy")) {
			continue // a link that leads nowhere is no file of the project
		}
		if out := builders(name, src); !bytes.Equal(out, src) {
			tree.WriteFile(name, out, 0o644)
			changed = append(changed, name)
		}
	}
	return changed, nil
}

// splice replaces a part of a source.
type splice struct {
	from, to int
	text     string
}

func builders(name string, src []byte) []byte {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return src // the compiler tells about it
	}
	imports := importNames(file)
	offset := func(pos token.Pos) int { return fset.PositionFor(pos, false).Offset }
	var splices []splice
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		chain := chainOf(call)
		if len(chain) < 2 || !isBuilder(chain[0], imports) || len(chain[0].Args) != 1 {
			return true
		}
		at := slices.IndexFunc(chain, func(c *ast.CallExpr) bool { return method(c) == "For" && len(c.Args) == 1 })
		if at < 0 {
			return true
		}
		object := string(src[offset(chain[at].Args[0].Pos()):offset(chain[at].Args[0].End())])
		splices = append(splices,
			splice{offset(chain[0].Args[0].End()), offset(chain[0].Args[0].End()), ", " + object},
			// From the end of the call before to the end of For(…), line break included.
			splice{offset(chain[at-1].End()), offset(chain[at].End()), ""})
		for _, c := range chain {
			if renamed := map[string]string{"WithDefaulter": "WithCustomDefaulter", "WithValidator": "WithCustomValidator"}[method(c)]; renamed != "" {
				selector := c.Fun.(*ast.SelectorExpr).Sel
				splices = append(splices, splice{offset(selector.Pos()), offset(selector.End()), renamed})
			}
		}
		return false // the calls within are parts of the chain
	})
	return spliced(src, splices)
}

func spliced(src []byte, splices []splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range splices {
		if s.from < at {
			continue // of a chain within another
		}
		out = append(append(out, src[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, src[at:]...)
}

// chainOf lists the calls of a().b().c() from a on.
func chainOf(call *ast.CallExpr) []*ast.CallExpr {
	var chain []*ast.CallExpr
	for {
		chain = append(chain, call)
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			break
		}
		inner, ok := selector.X.(*ast.CallExpr)
		if !ok {
			break
		}
		call = inner
	}
	slices.Reverse(chain)
	return chain
}

func method(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	return ""
}

// isBuilder tells whether a call starts a webhook's builder of controller-runtime.
func isBuilder(call *ast.CallExpr, imports map[string]string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	from := imports[pkg.Name]
	return from == runtimeModule && selector.Sel.Name == "NewWebhookManagedBy" ||
		from == runtimeModule+"/pkg/builder" && selector.Sel.Name == "WebhookManagedBy"
}

// importNames are the packages that a file imports by the names that it uses.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(imported)
		if imported == runtimeModule {
			name = "controllerruntime"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}
