package refactor

import (
	"bytes"
	"go/ast"
	"regexp"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// webhookSetUp matches the functions that create webhook writes and calls in suites.
var webhookSetUp = regexp.MustCompile(`^Setup\w+WebhookWithManager$`)

// othersWebhooks takes the calls that set up the webhooks of other groups out of a suite that is copied to
// the folders of several.
func (r *rewriter) othersWebhooks(f *gosource.File, d destination) []edit {
	if len(r.moves.files[f.Name]) < 2 {
		return nil
	}
	var edits []edit
	ast.Inspect(f.AST, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, stmt := range block.List {
			if !r.setsUpElsewhere(f, stmt, d) {
				continue
			}
			last := stmt
			if i+1 < len(block.List) && looksAtError(block.List[i+1]) {
				last = block.List[i+1]
			}
			edits = append(edits, cutLines(f, stmt, last))
		}
		return true
	})
	return edits
}

// setsUpElsewhere tells whether a plain statement calls the set-up of webhooks that go to another folder.
func (r *rewriter) setsUpElsewhere(f *gosource.File, stmt ast.Stmt, d destination) bool {
	switch stmt.(type) {
	case *ast.AssignStmt, *ast.ExprStmt:
	default:
		return false
	}
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.IsUnresolved(id) && webhookSetUp.MatchString(id.Name) {
			target := r.symbols[f.Dir()][id.Name]
			found = found || target != "" && target != d.dir()
		}
		return !found
	})
	return found
}

// looksAtError recognises Expect(err).NotTo(HaveOccurred()), in whatever words.
func looksAtError(stmt ast.Stmt) bool {
	if _, ok := stmt.(*ast.ExprStmt); !ok {
		return false
	}
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
			arg, ok := call.Args[0].(*ast.Ident)
			found = found || ok && arg.Name == "err"
		}
		return !found
	})
	return found
}

// cutLines removes the lines of statements, and the empty line before them if one follows.
func cutLines(f *gosource.File, first, last ast.Stmt) edit {
	from, to := f.LineStart(first.Pos()), f.LineEnd(last.End())
	if bytes.HasPrefix(f.Text[to:], []byte("\n")) && bytes.HasSuffix(f.Text[:from], []byte("\n\n")) {
		from--
	}
	return edit{From: from, To: to}
}
