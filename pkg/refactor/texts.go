package refactor

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A rename is a manifest whose name contains the group in multigroup projects.
type rename struct {
	// dir is the directory of the kustomization that lists the file; from and to are relative to it.
	dir, from, to string
	// old and new are the names of the object in it, empty if it does not change.
	old, new string
}

// renames returns the renames of the roles of kinds and of the patches of their CRDs.
func (p *plan) renames() []rename {
	var list []rename
	add := func(r rename) {
		if !p.multi {
			r.from, r.to, r.old, r.new = r.to, r.from, r.new, r.old
		}
		known := func(other rename) bool { return other.dir == r.dir && other.from == r.from }
		if p.tree.Exists(path.Join(r.dir, r.from)) && !slices.ContainsFunc(list, known) {
			list = append(list, r)
		}
	}
	for _, r := range p.config.Resources() {
		if !r.HasAPI() || r.Group == "" {
			continue
		}
		for _, role := range project.KindRoles() {
			name, object := r.FileStem()+"_"+role+"_role.yaml", r.FileStem()+"-"+role+"-role"
			add(rename{project.RBACDir, name, r.Group + "_" + name, object, r.Group + "-" + object})
		}
		for _, patch := range []string{"webhook_in_", "cainjection_in_"} {
			add(rename{dir: project.CRDDir, from: "patches/" + patch + r.Plural + ".yaml", to: "patches/" + patch + r.Group + "_" + r.Plural + ".yaml"})
		}
	}
	return list
}

// rename applies renames: to files, to the names of objects if the scaffold wrote them, and to the lines of
// kustomizations.
func (p *plan) rename(list []rename) error {
	for _, r := range list {
		from, kustomization := path.Join(r.dir, r.from), path.Join(r.dir, project.KustomizationFile)
		data, err := p.tree.ReadFile(from)
		if err != nil {
			return fmt.Errorf("reading %s: %w", from, err)
		}
		if r.old != "" {
			name := regexp.MustCompile(`(?m)^(  name: )` + regexp.QuoteMeta(r.old) + `(\r?)$`)
			data = name.ReplaceAll(data, []byte("${1}"+r.new+"${2}"))
		}
		p.tree.Remove(from)
		p.tree.WriteFile(path.Join(r.dir, r.to), data, 0o644)
		lines, err := p.tree.ReadFile(kustomization)
		if err != nil {
			continue // not listed
		}
		line := regexp.MustCompile(`(?m)^([#\s]*-\s+(?:path:\s+)?["']?(?:\./)?)` + regexp.QuoteMeta(r.from) + `(["']?\s*(?:#.*)?)$`)
		p.tree.WriteFile(kustomization, line.ReplaceAll(lines, []byte("${1}"+r.to+"${2}")), 0o644)
	}
	return nil
}

// updateTexts updates moved directories in files other than Go: Makefile, Dockerfile, workflows, scripts and manifests.
func (p *plan) updateTexts() error {
	if len(p.dirs) == 0 {
		return nil
	}
	return replaceTexts(p.tree, func(_ string, text []byte) []byte {
		for _, from := range slices.Sorted(maps.Keys(p.dirs)) {
			if !bytes.Contains(text, []byte(from)) {
				continue
			}
			after := `(/|[\s"',:;)\]}$]|$)`
			if strings.HasPrefix(from, project.ControllerDir) {
				after = `(/\w+\.go)` // of the common directory of controllers, only references to files are updated
			}
			pattern := regexp.MustCompile(`(?m)(^|[\s"'=,:(\[{^]|\./)` + regexp.QuoteMeta(from) + after)
			text = replaceAdjacent(pattern, from, text, "${1}"+p.dirs[from]+"${2}")
		}
		return text
	})
}

// replaceTexts changes the files of a project that may contain paths of Go code.
func replaceTexts(tree *worktree.Tree, change func(name string, text []byte) []byte) error {
	names, err := tree.Walk(".", func(dir string) bool { return isForeign(tree, dir) })
	if err != nil {
		return err
	}
	for _, name := range names {
		if !mayContainPaths(name) {
			continue
		}
		text, err := tree.ReadFile(name)
		if err != nil {
			continue // a broken link
		}
		if changed := change(name, text); !bytes.Equal(changed, text) {
			tree.WriteFile(name, changed, 0o644)
		}
	}
	return nil
}

// replaceAdjacent replaces all matches of a pattern, even if one consumes the separator before the next. Each match contains the literal,
// which is found faster.
func replaceAdjacent(pattern *regexp.Regexp, literal string, text []byte, with string) []byte {
	if !bytes.Contains(text, []byte(literal)) {
		return text
	}
	return pattern.ReplaceAll(pattern.ReplaceAll(text, []byte(with)), []byte(with))
}

// isForeign reports whether a directory contains no files of the project.
func isForeign(tree *worktree.Tree, dir string) bool {
	base := path.Base(dir)
	return base == ".git" || base == "vendor" || base == "node_modules" || dir == "bin" || tree.Exists(path.Join(dir, "go.mod"))
}

// mayContainPaths reports whether a file may refer to directories of Go code.
func mayContainPaths(name string) bool {
	switch base := path.Base(name); {
	case base == "Makefile", strings.HasPrefix(base, "Dockerfile"), base == ".dockerignore", base == "Tiltfile", base == "CODEOWNERS":
		return true
	case strings.HasPrefix(name, project.ConfigDir+"/"):
		return base == project.KustomizationFile
	}
	switch path.Ext(name) {
	case ".mk", ".sh", ".yaml", ".yml":
		return true
	}
	return false
}

// updateDocs updates the scaffolded parts of README.md and AGENTS.md from the old layout to the current one, unless the user has
// edited them.
func updateDocs(tree *worktree.Tree, old, now scaffold.Data) error {
	before, err := scaffold.Render("init", old)
	if err != nil {
		return err
	}
	after, err := scaffold.Render("init", now)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(after.Files)) {
		if bytes.Equal(before.Files[name], after.Files[name]) {
			continue
		}
		current, err := tree.ReadFile(name)
		if err != nil {
			continue // the file does not exist
		}
		merged, _ := merge(string(before.Files[name]), string(current), string(after.Files[name]))
		tree.WriteFile(name, []byte(merged), 0o644)
	}
	return nil
}

// finding returns a place to change by hand.
func (c conflict) finding(name string) diag.Finding {
	f := diag.Finding{Position: diag.Position{File: name}, Problem: "was edited and cannot be changed for you"}
	switch {
	case len(c.old) == 0:
		f.Fix = "add" + block(c.new)
	case len(c.new) == 0:
		f.Fix = "remove" + block(c.old)
	default:
		f.Fix = "instead of" + block(c.old) + "\n  write" + block(c.new)
	}
	f.Listed = name + ": " + f.Fix
	return f
}

// block returns lines below a word, indented.
func block(lines []string) string { return "\n    " + strings.Join(lines, "\n    ") }
