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

// relocated makes the relative paths in a file lead, from the file's new folder, to the new places of what they led
// to: the parts of filepath.Join, texts that start with "../", and those of go:generate. Of texts only those count that
// lead to something in the project.
func (r *rewriter) relocated(f *gosource.File, to string) []edit {
	var edits []edit
	joined := map[ast.Expr]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			edits = append(edits, r.relocatedCall(f, to, n, joined)...)
		case *ast.BasicLit:
			name := text(n)
			if joined[n] || !strings.HasPrefix(name, "../") && !r.fromRoot(f, name) || strings.Trim(name, "./") == "" {
				return true // a name that only climbs is what a path is looked at for more often than a path
			}
			if now, ok := r.relocatedPath(f, to, name); ok && r.leads(f, name) {
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
				if now, ok := r.relocatedPath(f, to, match[at:]); ok {
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

// relocatedCall does so for calls: of functions that join the parts of a path, and of some that take a folder.
func (r *rewriter) relocatedCall(f *gosource.File, to string, call *ast.CallExpr, joined map[ast.Expr]bool) []edit {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	switch selector.Sel.Name {
	case "Chdir", "DirFS", "Abs", "ReadDir":
		if text(call.Args[0]) == ".." {
			if now, ok := r.relocatedPath(f, to, ".."); ok {
				return []edit{f.Replace(call.Args[0], strconv.Quote(now))}
			}
		}
		return nil
	case "Join":
	default:
		return nil
	}
	args := call.Args
	if text(args[0]) == "" {
		args = args[1:] // the folder of the file, if what follows leads somewhere from there
	}
	var parts []string
	for _, arg := range args {
		if text(arg) == "" {
			break
		}
		parts = append(parts, text(arg))
		joined[arg] = true
	}
	if len(parts) == 0 || parts[0] != ".." && !strings.HasPrefix(parts[0], "../") && !r.fromRoot(f, path.Join(parts...)) {
		return nil
	}
	now, ok := r.relocatedPath(f, to, path.Join(parts...))
	if !ok || !r.leads(f, path.Join(parts...)) {
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

// fromRoot tells that a text is a path in the eyes of a test beside main.go, which runs in that folder.
func (r *rewriter) fromRoot(f *gosource.File, name string) bool {
	return f.IsTest() && f.Dir() == "." && r.moves.files[f.Name] != nil && strings.Contains(name, "/") && !path.IsAbs(name) && r.moves.exists(path.Clean(name))
}

// leads tells whether a path leads from a file to something in the project, or to what may be there beside other
// things. bin is there once something was built.
func (r *rewriter) leads(f *gosource.File, name string) bool {
	target := path.Join(f.Dir(), name)
	first, _, below := strings.Cut(target, "/")
	return r.moves.exists(target) || below && (first == "bin" || r.moves.exists(path.Dir(target)))
}

// relocatedPath gives the relative path from a file's new folder to the new place of what a path leads to from its
// old one. It reports false where that is the same path, or leads out of the project.
func (r *rewriter) relocatedPath(f *gosource.File, to, name string) (string, bool) {
	target := path.Join(f.Dir(), name)
	if target == ".." || strings.HasPrefix(target, "../") {
		return "", false
	}
	rel, err := filepath.Rel(filepath.FromSlash(to), filepath.FromSlash(r.moves.where(target)))
	if err != nil || path.Join(to, name) == r.moves.where(target) {
		return "", false
	}
	now := filepath.ToSlash(rel)
	if strings.HasSuffix(name, "/") {
		now += "/"
	}
	return now, true
}
