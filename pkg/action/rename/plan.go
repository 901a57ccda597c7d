package rename

import (
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Plan returns the changes between two versions of PROJECT, which have the same resources in the same order. dirs are
// the directories of CRDs.
func Plan(p *action.Project, tree *worktree.Tree, before, after *project.Config, header string, dirs []string) (refactor.Renaming, error) {
	pairs, err := scaffold.RenderPairs(tree, p.Recorded(before, header), p.Recorded(after, header))
	if err != nil {
		return refactor.Renaming{}, err
	}
	dashboard, err := action.DashboardPair(before, after)
	if err != nil {
		return refactor.Renaming{}, err
	}
	from, to := before.ProjectName(), after.ProjectName()
	plan := refactor.Renaming{
		Pairs: append(pairs, dashboard), Dirs: map[string]string{}, Packages: map[string]string{}, Aliases: map[string][2]string{},
		Project: [2]string{from, to},
	}
	if before.Repo() != after.Repo() {
		plan.Module = after.Repo()
	}
	if from != to {
		plan.Files = map[string]string{
			"bundle/manifests/" + from + ".clusterserviceversion.yaml": "bundle/manifests/" + to + ".clusterserviceversion.yaml",
			".operon/bases/" + from + ".yaml":                          ".operon/bases/" + to + ".yaml",
		}
	}
	for i, old := range before.Resources() {
		renamed := after.Resources()[i]
		planPackages(tree, &plan, before, after, old, renamed)
		for _, dir := range dirs {
			if old.HasAPI() && old.CRDFile() != renamed.CRDFile() {
				plan.Removed = append(plan.Removed, path.Join(dir, old.CRDFile()))
			}
		}
	}
	return plan, nil
}

// planPackages adds the packages of a resource to the plan.
func planPackages(tree *worktree.Tree, plan *refactor.Renaming, before, after *project.Config, old, renamed project.Resource) {
	move := func(from, to, pkg, newPkg string) {
		if from != to {
			plan.Dirs[from] = to
		}
		if pkg != newPkg {
			plan.Packages[from] = newPkg
		}
	}
	if from, ok := strings.CutPrefix(old.Path, before.Repo()+"/"); ok {
		to := strings.TrimPrefix(renamed.Path, after.Repo()+"/")
		move(from, to, old.Version, renamed.Version)
		plan.Aliases[from] = [2]string{old.ImportAlias(), renamed.ImportAlias()}
		if apply := (scaffold.Resource{Package: from}).ApplyPackage(); tree.Exists(apply) {
			move(apply, scaffold.Resource{Package: to}.ApplyPackage(), old.Version, renamed.Version)
			plan.Aliases[apply] = [2]string{old.ImportAlias() + "apply", renamed.ImportAlias() + "apply"}
		}
	}
	inGroup := before.MultiGroup() && old.Group != ""
	if old.HasController() && inGroup {
		from := old.ControllerDir(true)
		move(from, renamed.ControllerDir(true), old.PackageName(), renamed.PackageName())
		plan.Aliases[from] = [2]string{old.PackageName() + "controller", renamed.PackageName() + "controller"}
	}
	if old.Webhooks != nil {
		from := old.WebhookDir(inGroup)
		move(from, renamed.WebhookDir(inGroup), old.Version, renamed.Version)
		plan.Aliases[from] = [2]string{old.WebhookAlias(inGroup), renamed.WebhookAlias(inGroup)}
	}
	if old.GVK != renamed.GVK || old.Plural != renamed.Plural {
		plan.APIs = append(plan.APIs, [2]project.Resource{old, renamed})
	}
}
