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

// suiteTexts collects the texts at markers of all suites with a file name.
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

// shareSuites adapts a deletion to edit --multigroup, which gives each group a copy of the common suite: removed texts are
// removed from all copies unless something needs them.
func shareSuites(tree *worktree.Tree, removed, kept *rendering) error {
	removed.suites = map[string]map[string]map[string]bool{}
	for _, base := range []string{"suite_test.go", "webhook_suite_test.go"} {
		removed.suites[base] = suiteTexts(base, removed, kept)
		texts, needed := suiteTexts(base, removed), suiteTexts(base, kept)
		if len(texts) == 0 {
			continue
		}
		names, err := tree.Walk("internal", nil)
		if err != nil {
			return err
		}
		for _, name := range names {
			if path.Base(name) != base || removed.inserts[name] != nil {
				continue
			}
			removed.inserts[name] = map[string]map[string]bool{}
			for marker := range texts {
				removed.inserts[name][marker] = maps.Clone(texts[marker])
				maps.DeleteFunc(removed.inserts[name][marker], func(text string, _ bool) bool { return needed[marker][text] })
			}
		}
	}
	return nil
}
