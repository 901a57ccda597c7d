package behavior

import (
	"cmp"
	"go/ast"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A clientCall is a call in the code of an operator that makes requests.
type clientCall struct {
	at    diag.Position
	verbs []string
	// ofStatus reports whether the request is for the subresource status.
	ofStatus bool
	object   goType
}

// A goType is a Go type of objects.
type goType struct{ path, kind string }

// SourceOf returns a function that finds where the Go code of a project makes a request. It compares names, without types: it finds calls
// whose object is written or declared in the same function, also if they call a function of the project that makes the request, and nothing
// else.
func SourceOf(tree *worktree.Tree) func(stage.Denial) diag.Position {
	m, err := gosource.ReadModule(tree)
	if err != nil { // it was built a moment ago
		return func(stage.Denial) diag.Position { return diag.Position{} }
	}
	var scopes []*scope
	groups := map[string]string{}
	for _, name := range m.Names() {
		if f := m.Files[name]; !f.IsTest() && f.IsBuilt() {
			scopes = append(scopes, scopesOf(f)...)
			if group := groupIn(f); group != "" {
				groups[m.ImportPath(f.Dir())] = group
			}
		}
	}
	var calls []clientCall
	methods := methodsOf(scopes)
	for _, s := range scopes {
		calls = append(calls, s.calls(methods)...)
	}
	return func(d stage.Denial) (at diag.Position) {
		first := ""
		for _, c := range calls {
			group, known := groups[c.object.path]
			if !c.requests(d) || known && group != d.Group || !known && !c.object.isOf(d.Group) {
				continue
			}
			origin := cmp.Or(group, path.Dir(c.object.path)) // without the version
			if at.File == "" {
				at, first = c.at, origin
			}
			if origin != first { // several groups may have a kind of this name
				return diag.Position{}
			}
		}
		return at
	}
}

// requests reports whether a call makes a request that was denied.
func (c clientCall) requests(d stage.Denial) bool {
	resource, subresource, _ := strings.Cut(d.Resource, "/")
	if !slices.Contains(c.verbs, d.Verb) || c.ofStatus != (subresource == "status") || !c.ofStatus && subresource != "" {
		return false
	}
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: strings.TrimSuffix(c.object.kind, "List")})
	return plural.Resource == resource
}

// groupIn returns the API group of the types in the package of a file: it sets a GroupVersion. It is "" if the file doesn't.
func groupIn(f *gosource.File) (group string) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if selector, ok := literal.Type.(*ast.SelectorExpr); !ok || selector.Sel.Name != "GroupVersion" {
			return true
		}
		for _, element := range literal.Elts {
			if field, ok := element.(*ast.KeyValueExpr); ok && gosource.IsIdent(field.Key, "Group") {
				group = stringValue(field.Value)
			}
		}
		return true
	})
	return group
}

// kubernetesTypes begins the paths of the packages with the types of Kubernetes.
const kubernetesTypes = "k8s.io/api/"

// isOf reports whether the package of a type can be that of an API group. A path of another module contains the first part of the group.
func (t goType) isOf(group string) bool {
	first, _, _ := strings.Cut(group, ".")
	if rest, found := strings.CutPrefix(t.path, kubernetesTypes); found {
		return path.Dir(rest) == cmp.Or(first, "core")
	}
	return first != group && strings.Contains(t.path, first)
}
