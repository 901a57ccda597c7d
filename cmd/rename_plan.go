package cmd

import (
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// planRename works out what the names of now mean for a project that has those of old. The resources of both
// are the same, in the same order. dirs are the directories of its CRDs.
func (a *app) planRename(tree *worktree.Tree, old, now *project.Config, header string, dirs []string) (refactor.Renaming, error) {
	pairs, err := scaffold.RenderPairs(tree, a.recorded(old, header), a.recorded(now, header))
	if err != nil {
		return refactor.Renaming{}, err
	}
	p := refactor.Renaming{
		Pairs: pairs, Dirs: map[string]string{}, Packages: map[string]string{}, Aliases: map[string][2]string{},
		Project: [2]string{old.ProjectName(), now.ProjectName()},
	}
	if old.Repo() != now.Repo() {
		p.Module = now.Repo()
	}
	if was, is := old.ProjectName(), now.ProjectName(); was != is {
		p.Files = map[string]string{
			"bundle/manifests/" + was + ".clusterserviceversion.yaml": "bundle/manifests/" + is + ".clusterserviceversion.yaml",
			".operon/bases/" + was + ".yaml":                          ".operon/bases/" + is + ".yaml",
		}
	}
	for i, was := range old.Resources() {
		is := now.Resources()[i]
		renamePackages(tree, &p, old, now, was, is)
		for _, dir := range dirs {
			if from := definition(dir, nameOf(was)); was.HasAPI() && from != definition(dir, nameOf(is)) {
				p.Removed = append(p.Removed, from)
			}
		}
	}
	return p, nil
}

// recorded gives the data of the commands that made a project.
func (a *app) recorded(config *project.Config, header string) scaffold.Commands {
	n := scaffold.Commands{Init: a.projectData(config, header)}
	for _, r := range config.Resources() {
		n.APIs = append(n.APIs, a.recordedData(config, r, header)...)
		n.Webhooks = append(n.Webhooks, a.recordedWebhooks(config, r, header)...)
	}
	return n
}

// renamePackages adds what becomes of a resource's packages and generated files.
func renamePackages(tree *worktree.Tree, p *refactor.Renaming, old, now *project.Config, was, is project.Resource) {
	move := func(from, to, pkg, newPkg string) {
		if from != to {
			p.Dirs[from] = to
		}
		if pkg != newPkg {
			p.Packages[from] = newPkg
		}
	}
	if from, own := strings.CutPrefix(was.Path, old.Repo()+"/"); own {
		to := strings.TrimPrefix(is.Path, now.Repo()+"/")
		move(from, to, was.Version, is.Version)
		p.Aliases[from] = [2]string{was.ImportAlias(), is.ImportAlias()}
		if apply := (scaffold.Resource{Package: from}).ApplyPackage(); tree.Exists(apply) {
			move(apply, scaffold.Resource{Package: to}.ApplyPackage(), was.Version, is.Version)
			p.Aliases[apply] = [2]string{was.ImportAlias() + "apply", is.ImportAlias() + "apply"}
		}
	}
	folder := func(base string, r project.Resource, more ...string) string {
		if old.MultiGroup() && r.Group != "" {
			base = path.Join(base, r.Group)
		}
		return path.Join(append([]string{base}, more...)...)
	}
	if was.HasController() && old.MultiGroup() && was.Group != "" {
		from := folder("internal/controller", was)
		move(from, folder("internal/controller", is), was.PackageName(), is.PackageName())
		p.Aliases[from] = [2]string{was.PackageName() + "controller", is.PackageName() + "controller"}
	}
	if was.Webhooks != nil {
		from := folder("internal/webhook", was, was.Version)
		move(from, folder("internal/webhook", is, is.Version), was.Version, is.Version)
		alias := func(r project.Resource) string {
			if old.MultiGroup() && r.Group != "" {
				return "webhook" + r.PackageName() + r.Version
			}
			return "webhook" + r.Version
		}
		p.Aliases[from] = [2]string{alias(was), alias(is)}
	}
	if was.GVK == is.GVK && was.Plural == is.Plural {
		return
	}
	p.APIs = append(p.APIs, [2]refactor.APIName{nameOf(was), nameOf(is)})
}

// definition is the file of a kind's CRD in a directory.
func definition(dir string, n refactor.APIName) string {
	return path.Join(dir, n.Group+"_"+n.Plural+".yaml")
}

func nameOf(r project.Resource) refactor.APIName {
	return refactor.APIName{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind, Plural: r.Plural}
}
