package action

import (
	"bytes"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A roleBinder writes the bindings of marker roles.
type roleBinder struct {
	*Project
	*installation
	// movers are the kustomizations that include the installation and set a namespace.
	movers []kustomization
	tree   *worktree.Tree
	// files are those of the installation that contain generated roles, and roles the marker roles in them.
	files []string
	roles []markerRole
	// bindings are those that the user wrote.
	bindings []foundBinding
	// isTurnedOff reports whether the user wants no bindings.
	isTurnedOff bool
}

// bind updates the bindings of the roles, and reports the roles without effect.
func (b *roleBinder) bind() error {
	if len(b.files) == 0 {
		return nil
	}
	beside, isListed := b.lists(b.files[0])
	dir := path.Dir(b.files[0])
	isElsewhere := func(file string) bool { return path.Dir(file) != dir }
	if !isListed || slices.ContainsFunc(b.files, isElsewhere) { // not the layout of the scaffold
		b.findings(nil)
		return nil
	}
	b.isTurnedOff = rolebinding.IsCommentedOut(beside.content)
	// What binds a role outside of the kustomization, such as a chart, can be the decision of the author or a copy of generated bindings.
	isWanted := rolebinding.IsListed(beside.content)
	var open []markerRole
	for _, role := range b.roles {
		user, isBound := b.boundBy(role)
		if !b.isTurnedOff && (!isBound || !user.isInstalled && isWanted) {
			open = append(open, role)
		}
	}
	written, files, err := b.render(open)
	if err != nil {
		return err
	}
	ok, err := b.write(beside, files)
	if err != nil {
		return err
	}
	if !ok {
		written = nil
	}
	b.findings(written)
	b.moveFindings(written)
	return nil
}

// isAmong reports whether a role is one of others.
func isAmong(roles []markerRole, role markerRole) bool {
	return slices.ContainsFunc(roles, func(other markerRole) bool { return other.Position == role.Position })
}

// render returns the roles for which bindings can be written, and the files with them.
func (b *roleBinder) render(open []markerRole) (written []markerRole, files rolebinding.Files, err error) {
	if len(open) == 0 {
		return nil, files, nil
	}
	account, ok := b.account(b.tree)
	if !ok {
		return nil, files, nil
	}
	var roles []rolebinding.Role
	for _, r := range open {
		role := rolebinding.Role{Kind: r.Kind(), Name: r.Name(), Namespace: r.Namespace(), Moved: b.isForeign(r.Namespace())}
		if rolebinding.CanBind(role) && !(role.Moved && b.movesTwice) {
			written, roles = append(written, r), append(roles, role)
		}
	}
	files, err = rolebinding.Render(roles, account, func(kind, name string) bool {
		return slices.ContainsFunc(b.bindings, func(binding foundBinding) bool {
			return binding.isInstalled && binding.kind == kind && binding.name == name
		}) || slices.ContainsFunc(b.roles, func(role markerRole) bool {
			return role.Kind() == kind && role.Name() == name && !isAmong(written, role)
		})
	})
	return written, files, err
}

// write writes and removes the generated files, and lists them in the kustomizations. It returns false without a change if a kustomization
// is written in a way that it cannot edit, or if a file of the user has the name of a generated one.
func (b *roleBinder) write(beside kustomization, files rolebinding.Files) (bool, error) {
	edited := map[string][]byte{beside.name: beside.content, b.whole.name: b.whole.content}
	generated := []struct {
		list    kustomization
		name    string
		content []byte
	}{
		{beside, rolebinding.BindingsFile, files.Bindings},
		{beside, rolebinding.NamesFile, files.Names},
		{b.whole, rolebinding.NamespacesFile, files.Namespaces},
	}
	current := map[string][]byte{}
	for _, g := range generated {
		content, err := b.tree.ReadOptional(path.Join(path.Dir(g.list.name), g.name))
		if err != nil {
			return false, err
		}
		if content != nil && !rolebinding.IsGenerated(g.name, content) {
			if g.content != nil {
				return false, nil
			}
			continue
		}
		current[g.name] = content
		if content == nil && g.content == nil {
			continue
		}
		text, ok := rolebinding.List(edited[g.list.name], g.name, path.Base(b.files[0]), g.content != nil)
		if !ok {
			return false, nil
		}
		edited[g.list.name] = text
	}
	for _, g := range generated {
		name := path.Join(path.Dir(g.list.name), g.name)
		text, _ := textdiff.AllToLF(current[g.name])
		switch {
		case g.content == nil && current[g.name] != nil:
			b.tree.Remove(name)
		case g.content != nil && !bytes.Equal(text, g.content):
			b.tree.WriteFile(name, g.content, worktree.FileMode)
		}
	}
	for _, k := range []kustomization{beside, b.whole} {
		if !bytes.Equal(edited[k.name], k.content) {
			b.tree.WriteFile(k.name, edited[k.name], worktree.FileMode)
		}
	}
	return true, nil
}
