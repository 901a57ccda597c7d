package gosource

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// KeepTargets returns the edits of relative paths in a file that moves between directories, so that they keep their targets:
// strings that start with "../", and ".." at the start of the arguments of filepath.Join. Paths below the directory of the
// file move with it.
func (f *File) KeepTargets(from, to string) []textdiff.Edit {
	if depth(from) == depth(to) && path.Dir(from) == path.Dir(to) {
		return nil
	}
	var edits []textdiff.Edit
	joined := map[ast.Expr]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			selector, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || selector.Sel.Name != "Join" || len(n.Args) == 0 {
				return true
			}
			up := 0
			for up < len(n.Args) && StringValue(n.Args[up]) == ".." {
				joined[n.Args[up]] = true
				up++
			}
			for _, arg := range n.Args[up:] {
				joined[arg] = joined[arg] || up > 0 || arg != n.Args[0]
			}
			if up == 0 {
				return true
			}
			climb, ok := climb(from, to, up)
			if !ok {
				return true
			}
			var args []string
			for _, part := range climb {
				args = append(args, strconv.Quote(part))
			}
			end := f.Offset(n.Args[up-1].End())
			if len(args) == 0 && up < len(n.Args) {
				end = f.Offset(n.Args[up].Pos())
			} else if len(args) == 0 {
				args = []string{`"."`}
			}
			edits = append(edits, textdiff.Edit{From: f.Offset(n.Args[0].Pos()), To: end, Text: strings.Join(args, ", ")})
		case *ast.BasicLit:
			if joined[n] {
				return true
			}
			value, ok := strings.CutPrefix(StringValue(n), "../")
			if !ok {
				return true
			}
			up := 1
			for {
				rest, more := strings.CutPrefix(value, "../")
				if !more {
					break
				}
				up, value = up+1, rest
			}
			if climb, ok := climb(from, to, up); ok {
				edits = append(edits, f.Replace(n, strconv.Quote(path.Join(append(climb, value)...))))
			}
		}
		return true
	})
	return edits
}

// climb returns the elements from a directory to an ancestor of another one, given by the number of levels.
func climb(from, to string, up int) ([]string, bool) {
	if up > depth(from) {
		return nil, false // outside of the project
	}
	target := from
	for range up {
		target = path.Dir(target)
	}
	rel, err := filepath.Rel(filepath.FromSlash(to), filepath.FromSlash(target))
	if err != nil {
		return nil, false
	}
	if rel == "." {
		return nil, true
	}
	return strings.Split(filepath.ToSlash(rel), "/"), true
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

// StringValue returns the value of a string literal, or "" for any other expression.
func StringValue(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
