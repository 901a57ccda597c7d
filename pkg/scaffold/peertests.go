package scaffold

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// removeFromTests removes the parts of deleted webhooks from the tests of kinds that keep other webhooks. Other tools write a Context
// for each sort of webhook, with variables for the types.
func (x *deleter) removeFromTests(d Deletion) error {
	for _, w := range d.RemovedWebhooks {
		data := w.Data
		if err := adapt(x.tree, &data); err != nil {
			return err
		}
		name := strings.TrimSuffix(outputPath(webhookPath, data), ".go") + "_test.go"
		var kept Webhook
		for _, other := range d.KeptWebhooks {
			if other.Resource.Kind == data.Resource.Kind && other.Resource.Package == data.Resource.Package {
				kept = other.Webhook
			}
		}
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok || !x.fromPeer {
			continue
		}
		for _, sort := range []struct {
			removed     bool
			title, name string
		}{
			{w.Webhook.Conversion && !kept.Conversion, "under Conversion Webhook", ""},
			{w.Webhook.Defaulting && !kept.Defaulting, "under Defaulting Webhook", "defaulter"},
			{w.Webhook.Validation && !kept.Validation, "under Validating Webhook", "validator"},
		} {
			if !sort.removed {
				continue
			}
			if content, err = x.cutTests(name, content, sort.title, sort.name); err != nil {
				return err
			}
			x.rest[name] = content
		}
	}
	return nil
}

// cutTests removes the Context with a title from a test, if another tool wrote it, and the statements with a variable.
func (x *deleter) cutTests(name string, content []byte, title, variable string) ([]byte, error) {
	content, crlf := textdiff.AllToLF(content)
	file, err := gosource.Parse(name, content)
	if err != nil {
		return nil, syntaxError(err)
	}
	var edits []textdiff.Edit
	cut := func(n ast.Node, blankToo bool) bool {
		from, to := file.LineStart(n.Pos()), file.LineEnd(n.End())
		if !allWritten(name, strings.Split(string(content[from:to]), "\n"), x.written) {
			return false
		}
		if blankToo && strings.HasPrefix(string(content[to:]), "\n") {
			to++
		}
		edits = append(edits, textdiff.Edit{From: from, To: to})
		return true
	}
	found := false
	ast.Inspect(file.AST, func(n ast.Node) bool {
		if stmt, ok := n.(*ast.ExprStmt); ok {
			if call, ok := stmt.X.(*ast.CallExpr); ok && gosource.CalledName(call) == "Context" && len(call.Args) > 0 {
				if text, ok := call.Args[0].(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Contains(text.Value, title) {
					found = cut(stmt, true) || found
					return false
				}
			}
		}
		return true
	})
	if !found || variable == "" {
		rest, err := file.Apply(edits)
		return textdiff.FromLF(rest, crlf), err
	}
	ast.Inspect(file.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if len(n.Names) == 1 && n.Names[0].Name == variable {
				cut(n, false)
			}
		case *ast.AssignStmt, *ast.ExprStmt:
			if usesName(n, variable) && !hasBlock(n) {
				cut(n, false)
				return false
			}
		}
		return true
	})
	rest, err := file.Apply(edits)
	return textdiff.FromLF(rest, crlf), err
}

// usesName reports whether an identifier is in a node.
func usesName(n ast.Node, name string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// hasBlock reports whether a statement contains others.
func hasBlock(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		_, ok := n.(*ast.BlockStmt)
		found = found || ok
		return !found
	})
	return found
}

// disableConversion comments out what another tool enabled in config/crd for the first conversion.
func (x *deleter) disableConversion(d Deletion) error {
	converts := func(all []Webhooks) bool {
		for _, w := range all {
			if w.Webhook.Conversion {
				return true
			}
		}
		return false
	}
	content, ok, err := x.read(project.CRDKustomization)
	if err != nil || !ok || !x.fromPeer || !converts(d.RemovedWebhooks) || converts(d.KeptWebhooks) {
		return err
	}
	o := openOverlay(content)
	for i, line := range o.lines {
		if i > 1 && line == "configurations:" && strings.HasPrefix(o.lines[i-1], "#") && x.wrote(project.CRDKustomization, o.lines[i-1]) {
			o.comment("- kustomizeconfig.yaml")
			o.commentEmpty("configurations:")
			x.rest[project.CRDKustomization] = o.bytes()
			break
		}
	}
	return nil
}
