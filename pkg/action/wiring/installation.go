package wiring

import (
	"cmp"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// An installation is the kustomization of the whole operator with those that it includes.
type installation struct {
	// all are the kustomizations, starting with the one of the whole operator.
	all []kustomization
	// mover is the one that moves the objects with the roles into a namespace, or empty. movesTwice reports whether there are several, or
	// the only one belongs to the roles, so nothing can move them back.
	mover      kustomization
	movesTwice bool
	// scaffolded is the namespace of the scaffold, which markers of namespaced projects contain.
	scaffolded string
}

// findInstallation returns the installation of a project, without its mover, or nil.
func findInstallation(p *action.Project, tree *worktree.Tree, all []kustomization) *installation {
	at := slices.IndexFunc(all, func(k kustomization) bool { return path.Dir(k.name) == project.DefaultDir })
	if at < 0 {
		return nil
	}
	i := &installation{all: below(all, all[at])}
	if config, err := p.LoadFrom(tree, action.AnyLayout); err == nil {
		i.scaffolded = project.ObjectNamespace(config.ProjectName())
	}
	return i
}

// findMover finds the kustomization that moves the roles in a directory.
func (i *installation) findMover(roles string) {
	for _, k := range i.all {
		if k.namespace == "" || !slices.ContainsFunc(below(i.all, k), func(b kustomization) bool { return path.Dir(b.name) == roles }) {
			continue
		}
		i.movesTwice = i.movesTwice || i.mover.name != "" || path.Dir(k.name) == roles
		if i.mover.name == "" {
			i.mover = k
		}
	}
}

// below returns a kustomization and those that it includes directly or indirectly.
func below(all []kustomization, k kustomization) []kustomization {
	found := []kustomization{k}
	for i := 0; i < len(found); i++ {
		for _, other := range all {
			isNew := !slices.ContainsFunc(found, func(f kustomization) bool { return f.name == other.name })
			if isNew && slices.Contains(found[i].included, path.Dir(other.name)) {
				found = append(found, other)
			}
		}
	}
	return found
}

// movers returns the kustomizations outside of the installation that include it and set a namespace.
func (i *installation) movers(all []kustomization) []kustomization {
	return slices.DeleteFunc(slices.Clone(all), func(k kustomization) bool {
		includes := slices.ContainsFunc(below(all, k), func(b kustomization) bool { return b.name == i.all[0].name })
		return k.name == i.all[0].name || k.namespace == "" || !includes
	})
}

// lists returns the kustomization in the directory of a file if the installation contains the file.
func (i *installation) lists(file string) (kustomization, bool) {
	at := slices.IndexFunc(i.all, func(k kustomization) bool {
		return path.Dir(k.name) == path.Dir(file) && slices.Contains(k.included, file)
	})
	if at < 0 {
		return kustomization{}, false
	}
	return i.all[at], true
}

// contains reports whether a kustomization of the installation includes a file.
func (i *installation) contains(file string) bool {
	return slices.ContainsFunc(i.all, func(k kustomization) bool { return slices.Contains(k.included, file) })
}

// isForeign reports whether the installation moves the objects of a namespace into another one.
func (i *installation) isForeign(namespace string) bool {
	return i.mover.name != "" && !i.isOwn(namespace)
}

// isOwn reports whether a namespace is the operator's, or a placeholder for it. The scaffold names it system in manifests.
func (i *installation) isOwn(namespace string) bool {
	return !rolebinding.IsNamespace(namespace) || slices.Contains([]string{"", "system", i.mover.namespace, i.scaffolded}, namespace)
}

// objectsIn returns the objects in the files of kustomizations, with their positions.
func objectsIn(tree *worktree.Tree, kustomizations []kustomization) []manifest.Object {
	var all []manifest.Object
	for _, k := range kustomizations {
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

// account returns the service account of the Deployment in config/manager. It returns false if this is not clear from the manifests, or if
// the kustomization that moves the roles does not include the account.
func (i *installation) account(tree *worktree.Tree) (rolebinding.Account, bool) {
	deployments := slices.DeleteFunc(objectsIn(tree, i.all), func(o manifest.Object) bool {
		return o.Kind() != "Deployment" || path.Dir(o.Position.File) != project.ManagerDir
	})
	if len(deployments) != 1 {
		return rolebinding.Account{}, false
	}
	account := rolebinding.Account{Name: manifest.TextAt(deployments[0].Fields, "spec", "template", "spec", "serviceAccountName")}
	if account.Name == "" {
		account.Name = "default"
	}
	above := i.mover
	if above.name == "" {
		above = i.all[0]
	}
	named := slices.DeleteFunc(objectsIn(tree, below(i.all, above)), func(o manifest.Object) bool {
		return o.Kind() != "ServiceAccount" || o.Group() != "" || o.Name() != account.Name
	})
	switch {
	case len(named) == 1:
		account.Namespace = named[0].Namespace() // kustomize finds the account by what is in its manifest, and completes the subject
	case len(named) == 0 && account.Name == "default":
		account.Namespace = cmp.Or(deployments[0].Namespace(), i.mover.namespace)
	default:
		return account, false
	}
	return account, account.Namespace != "" || i.mover.namespace != ""
}
