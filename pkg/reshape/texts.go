package reshape

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

const rbacDir = "config/rbac"

// roles finds the roles that people get for the project's kinds, whose names hold the group where there
// may be several: from old to new.
func (p *plan) roles() (map[string]string, error) {
	renamed := map[string]string{}
	for _, r := range p.config.Resources() {
		if !r.HasAPI() || r.Group == "" {
			continue
		}
		for _, role := range []string{"admin", "editor", "viewer"} {
			one := path.Join(rbacDir, r.FileStem()+"_"+role+"_role.yaml")
			many := path.Join(rbacDir, r.Group+"_"+r.FileStem()+"_"+role+"_role.yaml")
			if !p.multi {
				one, many = many, one
			}
			if p.tree.Exists(one) {
				renamed[one] = many
			}
		}
	}
	return renamed, nil
}

// moveRoles renames role files. The name of a role within follows where it is the scaffold's.
func (p *plan) moveRoles(roles map[string]string) error {
	kustomization := path.Join(rbacDir, "kustomization.yaml")
	list, err := p.tree.ReadFile(kustomization)
	if err != nil {
		list = nil
	}
	for _, r := range p.config.Resources() {
		for _, role := range []string{"admin", "editor", "viewer"} {
			short := r.FileStem() + "-" + role + "-role"
			long := r.Group + "-" + short
			from, to, was, is := r.FileStem()+"_"+role+"_role.yaml", r.Group+"_"+r.FileStem()+"_"+role+"_role.yaml", short, long
			if !p.multi {
				from, to, was, is = to, from, long, short
			}
			if roles[path.Join(rbacDir, from)] == "" {
				continue
			}
			data, err := p.tree.ReadFile(path.Join(rbacDir, from))
			if err != nil || !p.tree.Exists(path.Join(rbacDir, from)) {
				continue // an earlier version of the kind has moved it
			}
			name := regexp.MustCompile(`(?m)^(  name: )` + regexp.QuoteMeta(was) + `(\r?)$`)
			p.tree.Remove(path.Join(rbacDir, from))
			p.tree.WriteFile(path.Join(rbacDir, to), name.ReplaceAll(data, []byte("${1}"+is+"${2}")), 0o644)
			line := regexp.MustCompile(`(?m)^([#\s]*-\s+["']?(?:\./)?)` + regexp.QuoteMeta(from) + `(["']?\s*(?:#.*)?)$`)
			list = line.ReplaceAll(list, []byte("${1}"+to+"${2}"))
		}
	}
	if list != nil {
		p.tree.WriteFile(kustomization, list, 0o644)
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
		for _, from := range sorted(p.folders) {
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
	case base == "Makefile", strings.HasPrefix(base, "Dockerfile"), base == ".dockerignore", base == "Tiltfile":
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
func regroupDocs(tree *scaffold.Tree, config *project.Config, before bool, o Options) error {
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
	for _, name := range sorted(is.Files) {
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
