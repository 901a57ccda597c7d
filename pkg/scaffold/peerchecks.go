package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// checksFile contains the end-to-end tests of other tools, whose create webhook adds checks to it.
const checksFile = "test/e2e/e2e_test.go"

// removedNames returns the names of cluster objects that deleted webhooks had and that no other webhook needs.
func removedNames(d Deletion) []string {
	if len(d.RemovedWebhooks) == 0 {
		return nil
	}
	prefix := d.RemovedWebhooks[0].Project.Prefix()
	needed := func(uses func(Webhooks) bool) bool { return slices.ContainsFunc(d.KeptWebhooks, uses) }
	var removed []string
	if len(d.KeptWebhooks) == 0 {
		removed = append(removed, "webhook-server-cert")
	}
	if !needed(isAdmission) {
		removed = append(removed, prefix+"webhook-service")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Defaulting }) {
		removed = append(removed, prefix+"mutating-webhook-configuration")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Validation }) {
		removed = append(removed, prefix+"validating-webhook-configuration")
	}
	for _, w := range d.RemovedWebhooks {
		crd := crdName(w.Data)
		if w.Webhook.Conversion && !needed(func(other Webhooks) bool { return other.Webhook.Conversion && crdName(other.Data) == crd }) {
			removed = append(removed, crd)
		}
	}
	return removed
}

func isAdmission(w Webhooks) bool { return w.Webhook.Defaulting || w.Webhook.Validation }

// findLeftovers finds references to the deleted webhooks in the end-to-end tests of other tools.
func findLeftovers(tree *worktree.Tree, d Deletion) []string {
	content, err := tree.ReadFile(checksFile)
	removed := removedNames(d)
	if err != nil || len(removed) == 0 {
		return nil
	}
	var places []string
	for i, line := range strings.Split(string(content), "\n") {
		if slices.ContainsFunc(removed, func(text string) bool { return strings.Contains(line, text) }) {
			places = append(places, fmt.Sprintf("%s:%d", checksFile, i+1))
		}
	}
	return places
}

// removeChecks removes the checks of deleted webhooks from the end-to-end tests of another tool: statements before its markers, with
// names of cluster objects that do not exist any more, that the tool wrote.
func (x *deleter) removeChecks(d Deletion) error {
	content, ok, err := x.read(checksFile)
	if err != nil || !ok || !x.fromPeer {
		return err
	}
	content, crlf := textdiff.AllToLF(content)
	file, err := gosource.Parse(checksFile, content)
	if err != nil {
		return nil // findLeftovers reports what remains
	}
	names := removedNames(d)
	var edits []textdiff.Edit
	for _, group := range file.AST.Comments {
		for _, c := range group.List {
			if !strings.Contains(c.Text, "+kubebuilder:scaffold:e2e-") {
				continue
			}
			var block *ast.BlockStmt
			ast.Inspect(file.AST, func(n ast.Node) bool {
				if b, ok := n.(*ast.BlockStmt); ok && b.Pos() < c.Pos() && c.End() < b.End() {
					block = b // the innermost is last
				}
				return true
			})
			if block != nil {
				edits = append(edits, x.checksBefore(file, block, c, names, !slices.ContainsFunc(d.KeptWebhooks, isAdmission))...)
			}
		}
	}
	rest, err := file.Apply(edits)
	if err != nil {
		return err
	}
	if !bytes.Equal(rest, content) {
		x.rest[checksFile] = textdiff.FromLF(rest, crlf)
	}
	return nil
}

// checksBefore finds the removed checks before a marker in a block. A check consists of a call of By or It and of the statements up to
// the next one. If none of the webhooks for admission is kept, what follows a removed check is removed, too.
func (x *deleter) checksBefore(file *gosource.File, block *ast.BlockStmt, marker *ast.Comment, names []string, all bool) []textdiff.Edit {
	var edits []textdiff.Edit
	var starts []int
	for _, stmt := range block.List {
		if expr, ok := stmt.(*ast.ExprStmt); ok && stmt.Pos() < marker.Pos() {
			if call, ok := expr.X.(*ast.CallExpr); ok && slices.Contains([]string{"By", "It"}, gosource.CalledName(call)) {
				starts = append(starts, file.LineStart(stmt.Pos()))
			}
		}
	}
	starts = append(starts, file.LineStart(marker.Pos()))
	removed := false
	for i, from := range starts[:len(starts)-1] {
		text := string(file.Text[from:starts[i+1]])
		named := !strings.Contains(text, "+kubebuilder:scaffold:") && slices.ContainsFunc(names, func(name string) bool { return strings.Contains(text, name) })
		if removed = named || removed && all; removed && allWritten(file.Name, strings.Split(text, "\n"), x.written) {
			edits = append(edits, textdiff.Edit{From: from, To: starts[i+1]})
		}
	}
	return edits
}
