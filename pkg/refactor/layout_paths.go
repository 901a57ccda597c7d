package refactor

import (
	"go/ast"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// updatePaths updates the relative paths in a moved file to the new places of their targets: arguments of
// filepath.Join, strings that start with "../", and paths of go:generate. Strings count only if the target exists in
// the project.
func (r *rewriter) updatePaths(f *gosource.File, to string) []edit {
	var edits []edit
	joined := map[ast.Expr]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			edits = append(edits, r.updateCall(f, to, n, joined)...)
		case *ast.BasicLit:
			name := gosource.StringValue(n)
			if joined[n] || !strings.HasPrefix(name, "../") && !r.isFromRoot(f, name) || strings.Trim(name, "./") == "" {
				return true // usually not a target but the start of a search
			}
			if now, ok := r.updatePath(f, to, name); ok && r.isTarget(f, name) {
				edits = append(edits, f.Replace(n, strconv.Quote(now)))
			}
		}
		return true
	})
	up := regexp.MustCompile(`(^|[\s="',:])(\.\./[\w./-]*)`)
	for _, group := range f.AST.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//go:generate ") {
				continue
			}
			now := up.ReplaceAllStringFunc(c.Text, func(match string) string {
				at := strings.Index(match, "../")
				if now, ok := r.updatePath(f, to, match[at:]); ok {
					return match[:at] + now
				}
				return match
			})
			if now != c.Text {
				from := f.Offset(c.Pos())
				edits = append(edits, edit{From: from, To: from + len(c.Text), Text: now})
			}
		}
	}
	return edits
}

// updateCall updates paths in calls: of functions that join path elements, and of some that accept a directory.
func (r *rewriter) updateCall(f *gosource.File, to string, call *ast.CallExpr, joined map[ast.Expr]bool) []edit {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	switch selector.Sel.Name {
	case "Chdir", "DirFS", "Abs", "ReadDir":
		if gosource.StringValue(call.Args[0]) == ".." {
			if now, ok := r.updatePath(f, to, ".."); ok {
				return []edit{f.Replace(call.Args[0], strconv.Quote(now))}
			}
		}
		return nil
	case "Join":
	default:
		return nil
	}
	args := call.Args
	if gosource.StringValue(args[0]) == "" {
		args = args[1:] // the directory of the file, if the rest is a path from there
	}
	var parts []string
	for _, arg := range args {
		if gosource.StringValue(arg) == "" {
			break
		}
		parts = append(parts, gosource.StringValue(arg))
		joined[arg] = true
	}
	if len(parts) == 0 || parts[0] != ".." && !strings.HasPrefix(parts[0], "../") && !r.isFromRoot(f, path.Join(parts...)) {
		return nil
	}
	now, ok := r.updatePath(f, to, path.Join(parts...))
	if !ok || !r.isTarget(f, path.Join(parts...)) {
		return nil
	}
	quoted := []string{strconv.Quote(now)}
	if len(parts) > 1 {
		quoted = nil
		for part := range strings.SplitSeq(now, "/") {
			quoted = append(quoted, strconv.Quote(part))
		}
	}
	return []edit{{From: f.Offset(args[0].Pos()), To: f.Offset(args[len(parts)-1].End()), Text: strings.Join(quoted, ", ")}}
}

// isFromRoot reports whether a string is a path in a test next to main.go, which runs in the root directory.
func (r *rewriter) isFromRoot(f *gosource.File, name string) bool {
	return f.IsTest() && f.Dir() == "." && r.moves.files[f.Name] != nil && strings.Contains(name, "/") && !path.IsAbs(name) && r.moves.exists(path.Clean(name))
}

// isTarget reports whether a path from a file exists in the project or is usually created later. bin exists after a build.
func (r *rewriter) isTarget(f *gosource.File, name string) bool {
	target := path.Join(f.Dir(), name)
	first, _, below := strings.Cut(target, "/")
	return r.moves.exists(target) || below && (first == "bin" || r.moves.exists(path.Dir(target)))
}

// updatePath returns the relative path from the new directory of a file to the new place of the target of a path. ok is
// false if the path does not change or its target is outside of the project.
func (r *rewriter) updatePath(f *gosource.File, to, name string) (string, bool) {
	target := path.Join(f.Dir(), name)
	if target == ".." || strings.HasPrefix(target, "../") {
		return "", false
	}
	rel, err := filepath.Rel(filepath.FromSlash(to), filepath.FromSlash(r.moves.newPath(target)))
	if err != nil || path.Join(to, name) == r.moves.newPath(target) {
		return "", false
	}
	now := filepath.ToSlash(rel)
	if strings.HasSuffix(name, "/") {
		now += "/"
	}
	return now, true
}
