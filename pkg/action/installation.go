package action

import (
	"cmp"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// An installation is the kustomization of the whole operator with those that it includes.
type installation struct {
	whole kustomization
	// included are the kustomizations that it includes directly or indirectly, without itself.
	included []kustomization
	// namespace is the namespace that it sets, or empty. movesTwice reports whether an included one also sets one.
	namespace  string
	movesTwice bool
	// scaffolded is the namespace of the scaffold, which markers of namespaced projects contain.
	scaffolded string
}

// findInstallation returns the installation of a project, or nil.
func findInstallation(tree *worktree.Tree, all []kustomization) *installation {
	at := slices.IndexFunc(all, func(k kustomization) bool { return path.Dir(k.name) == project.DefaultDir })
	if at < 0 {
		return nil
	}
	i := &installation{whole: all[at]}
	if config, err := readProject(tree); err == nil {
		i.scaffolded = config.ProjectName() + "-system"
	}
	for open := []kustomization{i.whole}; len(open) > 0; open = open[1:] {
		for _, k := range all {
			isNew := k.name != i.whole.name && !slices.ContainsFunc(i.included, func(other kustomization) bool { return other.name == k.name })
			if isNew && slices.Contains(open[0].included, path.Dir(k.name)) {
				i.included = append(i.included, k)
				open = append(open, k)
			}
		}
	}
	i.namespace = i.whole.namespace
	i.movesTwice = slices.ContainsFunc(i.included, func(k kustomization) bool { return k.namespace != "" })
	return i
}

// lists returns the kustomization in the directory of a file if the installation contains the file.
func (i *installation) lists(file string) (kustomization, bool) {
	for _, k := range append(slices.Clone(i.included), i.whole) {
		if path.Dir(k.name) == path.Dir(file) && slices.Contains(k.included, file) {
			return k, true
		}
	}
	return kustomization{}, false
}

// contains reports whether a kustomization of the installation includes a file.
func (i *installation) contains(file string) bool {
	return slices.ContainsFunc(append(slices.Clone(i.included), i.whole), func(k kustomization) bool { return slices.Contains(k.included, file) })
}

// movers returns the other kustomizations that include the installation and set a namespace, too.
func (i *installation) movers(all []kustomization) []kustomization {
	above := map[string]bool{path.Dir(i.whole.name): true}
	var movers []kustomization
	for more := true; more; {
		more = false
		for _, k := range all {
			dir := path.Dir(k.name)
			if above[dir] || !slices.ContainsFunc(k.included, func(included string) bool { return above[included] }) {
				continue
			}
			above[dir], more = true, true
			if k.namespace != "" {
				movers = append(movers, k)
			}
		}
	}
	return movers
}

// isForeign reports whether the installation moves the objects of a namespace into another one.
func (i *installation) isForeign(namespace string) bool {
	return i.namespace != "" && !i.isOwn(namespace)
}

// isOwn reports whether a namespace is that of the operator, or a placeholder for one. The scaffold names it system in manifests.
func (i *installation) isOwn(namespace string) bool {
	return !rolebinding.IsNamespace(namespace) || slices.Contains([]string{"", "system", i.namespace, i.scaffolded}, namespace)
}

// objects returns the objects in the files of the installation, with their positions.
func (i *installation) objects(tree *worktree.Tree) []manifest.Object {
	var all []manifest.Object
	for _, k := range append(slices.Clone(i.included), i.whole) {
		for _, file := range k.included {
			if path.Ext(file) != ".yaml" && path.Ext(file) != ".yml" {
				continue
			}
			if data, err := tree.ReadFile(file); err == nil { // otherwise, kustomize reports it
				objects, _ := manifest.Decode(file, data)
				all = append(all, objects...)
			}
		}
	}
	return all
}

// account returns the service account of the Deployment in config/manager. It returns false if this is not clear from the manifests.
func (i *installation) account(tree *worktree.Tree) (rolebinding.Account, bool) {
	var deployments, accounts []manifest.Object
	for _, o := range i.objects(tree) {
		switch {
		case o.Kind() == "Deployment" && path.Dir(o.Position.File) == project.ManagerDir:
			deployments = append(deployments, o)
		case o.Kind() == "ServiceAccount" && o.Group() == "":
			accounts = append(accounts, o)
		}
	}
	if len(deployments) != 1 {
		return rolebinding.Account{}, false
	}
	account := rolebinding.Account{Name: manifest.TextAt(deployments[0].Fields, "spec", "template", "spec", "serviceAccountName")}
	if account.Name == "" {
		account.Name = "default"
	}
	named := slices.DeleteFunc(accounts, func(o manifest.Object) bool { return o.Name() != account.Name })
	switch {
	case len(named) == 1:
		account.Namespace = named[0].Namespace() // kustomize finds the account by what is in its manifest, and completes the subject
	case len(named) == 0 && account.Name == "default":
		account.Namespace = cmp.Or(deployments[0].Namespace(), i.namespace)
	default:
		return account, false
	}
	return account, account.Namespace != "" || i.namespace != ""
}
