package wiring

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A roleBinder writes the bindings of marker roles.
type roleBinder struct {
	*action.Project
	*installation
	// movers are the kustomizations that include the installation and set a namespace.
	movers []kustomization
	tree   *worktree.Tree
	// files are the installation's files that contain generated roles, and roles the marker roles in them.
	files []string
	roles []action.MarkerRole
	// bindings are the ones that the user wrote.
	bindings []foundBinding
	// isTurnedOff reports whether the user wants no bindings.
	isTurnedOff bool
}

// bind updates the bindings of the roles, and reports the roles without effect.
func (b *roleBinder) bind() error {
	beside, isListed := b.lists(b.files[0])
	dir := path.Dir(b.files[0])
	isElsewhere := func(file string) bool { return path.Dir(file) != dir }
	if !isListed || slices.ContainsFunc(b.files, isElsewhere) { // not the layout of the scaffold
		b.findings(nil)
		return nil
	}
	b.isTurnedOff = rolebinding.IsCommentedOut(beside.content)
	var open []action.MarkerRole
	if !b.isTurnedOff {
		open = b.open(rolebinding.IsListed(beside.content))
	}
	var account rolebinding.Account
	isClear := len(open) == 0
	if !isClear {
		account, isClear = b.account(b.tree)
	}
	if bindings := path.Join(dir, rolebinding.BindingsFile); !isClear && b.tree.Exists(bindings) {
		b.ReportFindings(diag.Warning, diag.Finding{Position: diag.Position{File: bindings, Line: 1}, Rule: unboundRole,
			Problem: "not updated: the service account of the manager is not clear",
			Fix:     fmt.Sprintf("correct its name in the only Deployment of %s, and list the manifest of the account in the kustomization of the roles", project.ManagerDir)})
		return nil
	}
	if !isClear {
		open = nil
	}
	written, files, err := b.render(open, account)
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

// open returns the roles that no binding of the installation binds, unless all of them are bound outside of it: by a chart, for example, which
// can be the decision of the author or a copy of generated bindings. isListed reports whether the installation lists generated bindings.
func (b *roleBinder) open(isListed bool) []action.MarkerRole {
	var open []action.MarkerRole
	for _, role := range b.roles {
		user, isBound := b.boundBy(role)
		if !isBound || !user.isInstalled {
			open = append(open, role)
		}
		isListed = isListed || !isBound
	}
	if !isListed {
		return nil
	}
	return open
}

// isAmong reports whether a role is one of others.
func isAmong(roles []action.MarkerRole, role action.MarkerRole) bool {
	return slices.ContainsFunc(roles, func(other action.MarkerRole) bool { return other.Position == role.Position })
}

// render returns the roles for which bindings can be written, and the files with them.
func (b *roleBinder) render(open []action.MarkerRole, account rolebinding.Account) (written []action.MarkerRole, files rolebinding.Files, err error) {
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
		}) || slices.ContainsFunc(b.roles, func(role action.MarkerRole) bool {
			return role.Kind() == kind && role.Name() == name && !isAmong(written, role)
		})
	})
	return written, files, err
}

// A roleFile is a file that is generated beside a kustomization, which lists it. Without content, it is removed.
type roleFile struct {
	kustomization
	base             string
	content, current []byte
}

// write writes and removes the generated files, and lists them in the kustomizations. It returns false without a change if a kustomization
// is written in a way that it cannot edit, or if a file of the user has the name of a generated one.
func (b *roleBinder) write(beside kustomization, files rolebinding.Files) (bool, error) {
	all := []*roleFile{
		{kustomization: beside, base: rolebinding.BindingsFile, content: files.Bindings},
		{kustomization: beside, base: rolebinding.NamesFile, content: files.Names},
	}
	for _, k := range b.installation.all {
		file := &roleFile{kustomization: k, base: rolebinding.NamespacesFile}
		if k.name == b.mover.name {
			file.content = files.Namespaces
		}
		all = append(all, file)
	}
	edited := map[string][]byte{}
	for _, f := range all {
		var err error
		if f.current, err = b.tree.ReadOptional(f.path()); err != nil {
			return false, err
		}
		isOfUser := f.current != nil && !rolebinding.IsGenerated(f.base, f.current)
		switch {
		case isOfUser && f.content != nil:
			return false, nil
		case isOfUser:
			f.current = nil
		}
		if f.current == nil && f.content == nil {
			continue
		}
		if edited[f.name] == nil {
			edited[f.name] = f.kustomization.content
		}
		text, ok := rolebinding.List(edited[f.name], f.base, path.Base(b.files[0]), f.content != nil)
		if !ok {
			return false, nil
		}
		edited[f.name] = text
	}
	for _, f := range all {
		current, _ := textdiff.AllToLF(f.current)
		switch {
		case f.content == nil && f.current != nil:
			b.tree.Remove(f.path())
		case f.content != nil && !bytes.Equal(current, f.content):
			b.tree.WriteFile(f.path(), f.content, worktree.FileMode)
		}
		if text := edited[f.name]; text != nil && !bytes.Equal(text, f.kustomization.content) {
			b.tree.WriteFile(f.name, text, worktree.FileMode)
		}
	}
	return true, nil
}

// path returns the path of the file.
func (f *roleFile) path() string { return path.Join(path.Dir(f.name), f.base) }
