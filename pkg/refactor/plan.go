package refactor

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A plan is a prepared move.
type plan struct {
	tree   *worktree.Tree
	m      *gosource.Module
	config *project.Config
	multi  bool
	moves  *moves
	// dirs maps moved directories to their new paths.
	dirs  map[string]string
	paths map[project.GVK]string
}

// prepare determines the moves.
func (p *plan) prepare() error {
	p.paths = map[project.GVK]string{}
	controllers := map[string]map[string]owner{} // directory → file stem → owner
	webhooks := map[string]map[string]owner{}
	for _, r := range p.config.Resources() {
		if isLocal(r, p.config) {
			from := strings.TrimPrefix(r.Path, p.config.Repo()+"/")
			to := r.APIDir(p.multi)
			if (from == project.APIDir || strings.HasPrefix(from, project.APIDir+"/")) && from != to {
				p.dirs[from] = to
				p.paths[r.GVK] = path.Join(p.config.Repo(), to)
			}
		}
		for _, name := range r.Controllers {
			for _, from := range []string{project.ControllerDir, r.ControllerDir(true)} {
				claim(controllers, from, strings.ReplaceAll(name, "-", "_")+"_controller", p.controllerOwner(r))
			}
		}
		if r.Webhooks != nil {
			for _, from := range []string{r.WebhookDir(false), r.WebhookDir(true)} {
				claim(webhooks, from, r.FileStem()+"_webhook", owner{r.WebhookDir(p.multi), r.Version, r.Group})
			}
		}
		p.addAliases(r)
	}
	for _, from := range slices.Sorted(maps.Keys(p.dirs)) {
		if err := p.moveDir(from, p.dirs[from]); err != nil {
			return err
		}
	}
	for _, from := range slices.Sorted(maps.Keys(controllers)) {
		if err := p.split(from, controllers[from]); err != nil {
			return err
		}
	}
	for _, from := range slices.Sorted(maps.Keys(webhooks)) {
		if err := p.split(from, webhooks[from]); err != nil {
			return err
		}
	}
	return nil
}

// An owner is the group that a file belongs to, with its target directory and package.
type owner struct{ dir, pkg, group string }

func claim(all map[string]map[string]owner, from, stem string, o owner) {
	if all[from] == nil {
		all[from] = map[string]owner{}
	}
	all[from][stem] = o
}

func (p *plan) controllerOwner(r project.Resource) owner {
	if p.multi && r.Group != "" {
		return owner{r.ControllerDir(true), r.PackageName(), r.Group}
	}
	return owner{project.ControllerDir, path.Base(project.ControllerDir), r.Group}
}

// addAliases records the import names that create api and create webhook use in both layouts.
func (p *plan) addAliases(r project.Resource) {
	p.moves.alias[r.WebhookDir(false)] = r.WebhookAlias(false)
	if r.Group != "" {
		p.moves.alias[r.ControllerDir(true)] = r.PackageName() + "controller"
		p.moves.alias[r.WebhookDir(true)] = r.WebhookAlias(true)
	}
}

// moveDir moves a directory with its contents.
func (p *plan) moveDir(from, to string) error {
	names, err := p.tree.Walk(from, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		d := destination{name: path.Join(to, strings.TrimPrefix(name, from+"/"))}
		if f := p.m.Files[name]; f != nil {
			d.pkg = strings.TrimSuffix(f.AST.Name.Name, "_test")
		}
		p.moves.files[name] = []destination{d}
	}
	return nil
}

// split moves the files of a directory to the directories of their groups.
func (p *plan) split(from string, stems map[string]owner) error {
	names, err := p.tree.Walk(from, func(dir string) bool { return path.Base(dir) != "testdata" })
	if err != nil || len(names) == 0 {
		return err
	}
	owners := map[string]owner{} // file → owner
	groups := map[string]owner{}
	for _, name := range names {
		base := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
		if o, ok := stems[base]; ok && path.Dir(name) == from {
			owners[name] = o
			groups[o.dir] = o
		}
	}
	if len(owners) == 0 {
		return nil // PROJECT lists resources without files, or their files are in other directories
	}
	if len(groups) > 1 {
		p.addOwners(from, names, owners)
	}
	var findings diag.Findings
	for _, name := range names {
		f := p.m.Files[name]
		targets := groups
		if o, ok := owners[name]; ok {
			targets = map[string]owner{o.dir: o}
		}
		if len(targets) > 1 && f != nil && !f.IsTest() {
			var list []string
			for _, dir := range slices.Sorted(maps.Keys(targets)) {
				list = append(list, targets[dir].group)
			}
			findings = append(findings, diag.Finding{Position: diag.Position{File: name, Line: 1},
				Problem: fmt.Sprintf("belongs to none of the groups %s alone; move it to another package first", strings.Join(list, ", "))})
			continue
		}
		for _, dir := range slices.Sorted(maps.Keys(targets)) {
			if dir == from && len(targets) == 1 && (f == nil || f.IsExternalTest() || f.AST.Name.Name == targets[dir].pkg) {
				continue
			}
			d := destination{name: path.Join(dir, strings.TrimPrefix(name, from+"/"))}
			if f != nil {
				d.pkg = targets[dir].pkg
			}
			p.moves.files[name] = append(p.moves.files[name], d)
		}
	}
	if len(findings) > 0 {
		return findings
	}
	if len(groups) == 1 {
		for dir := range groups {
			if dir != from {
				p.dirs[from] = dir
			}
		}
	}
	return nil
}

// addOwners finds the owners of files by their contents: files whose declarations a file uses, or that use its declarations.
func (p *plan) addOwners(from string, names []string, owners map[string]owner) {
	declared := map[string]string{} // name → file
	for _, name := range names {
		if f := p.m.Files[name]; f != nil && f.Dir() == from {
			for _, id := range gosource.TopLevel(f.AST) {
				declared[id.Name] = name
			}
		}
	}
	linked := map[string]map[string]bool{}
	link := func(a, b string) {
		if linked[a] == nil {
			linked[a] = map[string]bool{}
		}
		linked[a][b] = true
	}
	for _, name := range names {
		f := p.m.Files[name]
		if f == nil {
			continue
		}
		for _, id := range f.AST.Unresolved {
			if other := declared[id.Name]; other != "" && other != name {
				link(name, other)
				link(other, name)
			}
		}
	}
	for repeat := true; repeat; {
		repeat = false
		for _, name := range names {
			if _, known := owners[name]; known || path.Base(name) == "suite_test.go" {
				continue
			}
			found := map[string]owner{}
			for other := range linked[name] {
				if o, ok := owners[other]; ok {
					found[o.dir] = o
				}
			}
			if len(found) == 1 {
				for _, o := range found {
					owners[name], repeat = o, true
				}
			}
		}
	}
}
