package refactor

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// rename is a manifest whose name holds the group where there may be several.
type rename struct {
	// folder is that of the kustomization which lists the file; from and to are relative to it.
	folder, from, to string
	// was and is are the object's name in it, empty where that stays.
	was, is string
}

// renames finds the roles that people get for the project's kinds, and the patches of its CRDs.
func (p *plan) renames() []rename {
	var list []rename
	add := func(r rename) {
		if !p.multi {
			r.from, r.to, r.was, r.is = r.to, r.from, r.is, r.was
		}
		known := func(other rename) bool { return other.folder == r.folder && other.from == r.from }
		if p.tree.Exists(path.Join(r.folder, r.from)) && !slices.ContainsFunc(list, known) {
			list = append(list, r)
		}
	}
	for _, r := range p.config.Resources() {
		if !r.HasAPI() || r.Group == "" {
			continue
		}
		for _, role := range []string{"admin", "editor", "viewer"} {
			name, object := r.FileStem()+"_"+role+"_role.yaml", r.FileStem()+"-"+role+"-role"
			add(rename{"config/rbac", name, r.Group + "_" + name, object, r.Group + "-" + object})
		}
		for _, patch := range []string{"webhook_in_", "cainjection_in_"} {
			add(rename{folder: "config/crd", from: "patches/" + patch + r.Plural + ".yaml", to: "patches/" + patch + r.Group + "_" + r.Plural + ".yaml"})
		}
	}
	return list
}

// rename carries out renames: the files, the names of objects in them where they are the scaffold's, and
// the lines of kustomizations.
func (p *plan) rename(list []rename) error {
	for _, r := range list {
		from, kustomization := path.Join(r.folder, r.from), path.Join(r.folder, "kustomization.yaml")
		data, err := p.tree.ReadFile(from)
		if err != nil {
			return fmt.Errorf("reading %s: %w", from, err)
		}
		if r.was != "" {
			name := regexp.MustCompile(`(?m)^(  name: )` + regexp.QuoteMeta(r.was) + `(\r?)$`)
			data = name.ReplaceAll(data, []byte("${1}"+r.is+"${2}"))
		}
		p.tree.Remove(from)
		p.tree.WriteFile(path.Join(r.folder, r.to), data, 0o644)
		lines, err := p.tree.ReadFile(kustomization)
		if err != nil {
			continue // nothing lists the file
		}
		line := regexp.MustCompile(`(?m)^([#\s]*-\s+(?:path:\s+)?["']?(?:\./)?)` + regexp.QuoteMeta(r.from) + `(["']?\s*(?:#.*)?)$`)
		p.tree.WriteFile(kustomization, line.ReplaceAll(lines, []byte("${1}"+r.to+"${2}")), 0o644)
	}
	return nil
}

// texts rewrites the folders that moved in files other than Go: Makefile, Dockerfile, workflows, scripts
// and manifests.
func (p *plan) texts() error {
	if len(p.folders) == 0 {
		return nil
	}
	names, err := p.tree.Walk(".", func(dir string) bool {
		base := path.Base(dir)
		return base == ".git" || base == "vendor" || base == "node_modules" || dir == "bin" || p.tree.Exists(path.Join(dir, "go.mod"))
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if !namesPaths(name) {
			continue
		}
		data, err := p.tree.ReadFile(name)
		if err != nil {
			continue // a broken link, which nothing reads
		}
		changed := data
		for _, from := range slices.Sorted(maps.Keys(p.folders)) {
			if !bytes.Contains(changed, []byte(from)) {
				continue
			}
			whole := regexp.MustCompile(`(?m)(^|[\s"'=,:(\[{^]|\./)` + regexp.QuoteMeta(from) + `(/|[\s"',:;)\]}$]|$)`)
			if strings.HasPrefix(from, controllerDir) {
				// Of the folder of all controllers only what named its files follows.
				whole = regexp.MustCompile(`(?m)(^|[\s"'=,:(\[{^]|\./)` + regexp.QuoteMeta(from) + `(/\w+\.go)`)
			}
			// Two names side by side share the sign between them, which a match takes for itself.
			for range 2 {
				changed = whole.ReplaceAll(changed, []byte("${1}"+p.folders[from]+"${2}"))
			}
		}
		if !bytes.Equal(changed, data) {
			p.tree.WriteFile(name, changed, 0o644)
		}
	}
	return nil
}

// namesPaths tells which files may name folders of Go code.
func namesPaths(name string) bool {
	switch base := path.Base(name); {
	case base == "Makefile", strings.HasPrefix(base, "Dockerfile"), base == ".dockerignore", base == "Tiltfile", base == "CODEOWNERS":
		return true
	case strings.HasPrefix(name, "config/"):
		return base == "kustomization.yaml"
	}
	switch path.Ext(name) {
	case ".mk", ".sh", ".yaml", ".yml":
		return true
	}
	return false
}

// regroupDocs brings README.md and AGENTS.md to a layout where their scaffold says something about it, as
// far as a person has not rewritten that.
func regroupDocs(tree *worktree.Tree, config *project.Config, before bool, o Options) error {
	old, now := initData(config, o), initData(config, o)
	old.Project.MultiGroup = before
	was, err := scaffold.Render("init", old)
	if err != nil {
		return err
	}
	is, err := scaffold.Render("init", now)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(is.Files)) {
		if bytes.Equal(was.Files[name], is.Files[name]) {
			continue
		}
		have, err := tree.ReadFile(name)
		if err != nil {
			continue // a project without the file needs nothing
		}
		merged, _ := merge(string(was.Files[name]), string(have), string(is.Files[name]))
		tree.WriteFile(name, []byte(merged), 0o644)
	}
	return nil
}

// initData is what init's templates need to know about a project that exists.
func initData(config *project.Config, o Options) scaffold.Data {
	return scaffold.Data{
		Project: scaffold.Project{
			Name: config.ProjectName(), Domain: config.Domain(), Repo: config.Repo(), CLIName: o.Program,
			MultiGroup: config.MultiGroup(), Namespaced: config.Namespaced(), Boilerplate: o.Header,
		},
		Versions: scaffold.Pinned(),
	}
}

// describe names a place that is to be changed by hand.
func (c clash) describe(name string) string {
	if len(c.was) == 0 {
		return fmt.Sprintf("%s: add\n    %s", name, strings.Join(c.is, "\n    "))
	}
	if len(c.is) == 0 {
		return fmt.Sprintf("%s: remove\n    %s", name, strings.Join(c.was, "\n    "))
	}
	return fmt.Sprintf("%s: instead of\n    %s\n  write\n    %s", name, strings.Join(c.was, "\n    "), strings.Join(c.is, "\n    "))
}
