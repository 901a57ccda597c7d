package refactor

import (
	"bytes"
	"go/ast"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// webhookSetup matches the set-up functions of create webhook, which suites call.
var webhookSetup = lazyregexp.New(`^Setup\w+WebhookWithManager$`)

// removeOtherSetups removes the set-up calls for webhooks of other groups from a suite that is copied for several groups.
func (r *rewriter) removeOtherSetups(f *gosource.File, d destination) []edit {
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
			if !r.setsUpOther(f, stmt, d) {
				continue
			}
			last := stmt
			if i+1 < len(block.List) && checksError(block.List[i+1]) {
				last = block.List[i+1]
			}
			edits = append(edits, cutLines(f, stmt, last))
		}
		return true
	})
	return edits
}

// setsUpOther reports whether a plain statement sets up webhooks that move to another directory.
func (r *rewriter) setsUpOther(f *gosource.File, stmt ast.Stmt, d destination) bool {
	switch stmt.(type) {
	case *ast.AssignStmt, *ast.ExprStmt:
	default:
		return false
	}
	for n := range ast.Preorder(stmt) {
		if id, ok := n.(*ast.Ident); ok && f.IsUnresolved(id) && webhookSetup.MatchString(id.Name) {
			if target := r.symbols[f.Dir()][id.Name]; target != "" && target != d.dir() {
				return true
			}
		}
	}
	return false
}

// checksError reports whether a statement is an assertion about err, such as Expect(err).NotTo(HaveOccurred()).
func checksError(stmt ast.Stmt) bool {
	if _, ok := stmt.(*ast.ExprStmt); !ok {
		return false
	}
	for n := range ast.Preorder(stmt) {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && gosource.IsIdent(call.Args[0], "err") {
			return true
		}
	}
	return false
}

// cutLines removes the lines of statements, and the empty line before them if one follows.
func cutLines(f *gosource.File, first, last ast.Stmt) edit {
	from, to := f.LineStart(first.Pos()), f.LineEnd(last.End())
	if bytes.HasPrefix(f.Text[to:], []byte("\n")) && bytes.HasSuffix(f.Text[:from], []byte("\n\n")) {
		from--
	}
	return edit{From: from, To: to}
}
