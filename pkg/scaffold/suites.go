package scaffold

import (
	"go/ast"
	"maps"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// readSuite reads the test suite of a package. Without a suite it returns the zero Suite.
func readSuite(tree *worktree.Tree, name string) Suite {
	content, err := tree.ReadFile(name)
	if err != nil {
		return Suite{}
	}
	file, err := gosource.Parse(name, content)
	if err != nil {
		return Suite{} // the insertion reports it
	}
	suite := Suite{NoContext: true}
	for _, decl := range file.AST.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok && slices.ContainsFunc(values.Names, func(id *ast.Ident) bool { return id.Name == "ctx" }) {
				suite.NoContext = false
			}
		}
	}
	ast.Inspect(file.AST, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && gosource.CalledName(call) == "AddToScheme" {
			suite.Scheme = gosource.Print(call.Args[0])
		}
		return true
	})
	return suite
}

// suiteTexts collects the texts for markers of all suites of a name.
func suiteTexts(base string, all ...*rendering) map[string]map[string]bool {
	texts := map[string]map[string]bool{}
	for _, r := range all {
		for name, blocks := range r.inserts {
			if path.Base(name) != base {
				continue
			}
			for marker := range blocks {
				if texts[marker] == nil {
					texts[marker] = map[string]bool{}
				}
				maps.Copy(texts[marker], blocks[marker])
			}
		}
	}
	return texts
}

// shareSuites prepares a deletion for what edit --multigroup does to suites: each group has a copy of the one
// that there was. What goes is taken out of all of them, unless something needs it on.
func shareSuites(tree *worktree.Tree, going, staying *rendering) error {
	going.suites = map[string]map[string]map[string]bool{}
	for _, base := range []string{"suite_test.go", "webhook_suite_test.go"} {
		going.suites[base] = suiteTexts(base, going, staying)
		texts, needed := suiteTexts(base, going), suiteTexts(base, staying)
		if len(texts) == 0 {
			continue
		}
		names, err := tree.Walk("internal", nil)
		if err != nil {
			return err
		}
		for _, name := range names {
			if path.Base(name) != base || going.inserts[name] != nil {
				continue
			}
			going.inserts[name] = map[string]map[string]bool{}
			for marker := range texts {
				going.inserts[name][marker] = maps.Clone(texts[marker])
				maps.DeleteFunc(going.inserts[name][marker], func(text string, _ bool) bool { return needed[marker][text] })
			}
		}
	}
	return nil
}
