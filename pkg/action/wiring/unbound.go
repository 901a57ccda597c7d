package wiring

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// The rules of findings about marker roles.
const (
	unboundRole  = "unbound-role"
	movedRole    = "moved-role"
	missingRole  = "missing-role"
	roleConflict = "role-conflict"
)

// markerRoles returns the roles of markers with a name or namespace of their own in generated files, the files that contain roles, and the
// names of the ClusterRoles for the other markers that were not generated, because there are none.
func markerRoles(found *calls.Found, result *codegen.Result) (roles []action.MarkerRole, files, missing []string, err error) {
	defaults, err := codegen.RoleNames(found.Calls)
	if err != nil {
		return nil, nil, nil, err
	}
	missing = slices.Clone(defaults)
	var markers []codegen.RoleMarker
	for _, file := range slices.Sorted(maps.Keys(result.Files)) {
		content := result.Files[file]
		if path.Ext(file) != ".yaml" || !bytes.Contains(content, []byte("kind: Role")) && !bytes.Contains(content, []byte("kind: ClusterRole")) {
			continue
		}
		objects, problems := manifest.Decode(file, content)
		if problems != nil {
			return nil, nil, nil, problems
		}
		isFile := false
		for _, o := range objects {
			if o.Group() != groupRBAC || o.Kind() != "Role" && o.Kind() != "ClusterRole" {
				continue
			}
			isFile = true
			if o.Kind() == "ClusterRole" && slices.Contains(defaults, o.Name()) {
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == o.Name() })
				continue
			}
			if markers == nil {
				markers = result.RoleMarkers()
			}
			role := action.MarkerRole{Object: o, File: file, Marker: o.Position}
			at := slices.IndexFunc(markers, func(m codegen.RoleMarker) bool {
				return m.Namespace == o.Namespace() && (m.Name == o.Name() || m.Name == "" && slices.Contains(defaults, o.Name()))
			})
			if at >= 0 {
				role.Marker = markers[at].Position
			}
			roles = append(roles, role)
		}
		if isFile {
			files = append(files, file)
		}
	}
	return roles, files, missing, nil
}

// checkRoles writes bindings of marker roles that nothing binds, and reports marker roles that have no effect in the installation of the
// operator because it moves them, or because their bindings cannot be written.
func checkRoles(p *action.Project, tree *worktree.Tree, found *calls.Found, all []kustomization, result *codegen.Result) error {
	roles, files, missing, err := markerRoles(found, result)
	if err != nil {
		return err
	}
	p.Roles = action.GeneratedRoles{All: roles}
	for _, k := range all {
		if k.prefix != "" {
			p.Roles.Prefixes = append(p.Roles.Prefixes, k.prefix)
		}
	}
	installed := findInstallation(p, tree, all)
	if installed == nil {
		return nil
	}
	files = slices.DeleteFunc(files, func(file string) bool { return !installed.contains(file) })
	if len(files) == 0 {
		return nil
	}
	installed.findMover(path.Dir(files[0]))
	b := &roleBinder{Project: p, installation: installed, movers: installed.movers(all), tree: tree, files: files}
	b.roles = slices.DeleteFunc(slices.Clone(roles), func(role action.MarkerRole) bool { return !slices.Contains(files, role.File) })
	if len(b.roles) > 0 {
		if b.bindings, err = installed.findBindings(tree); err != nil {
			return err
		}
	}
	if len(b.roles) > 0 && len(missing) > 0 {
		b.missingFindings(missing)
	}
	return b.bind()
}

// findings reports the roles that have no effect although they are bound, and those for which no binding can be written.
func (b *roleBinder) findings(written []action.MarkerRole) {
	names := map[string]int{}
	for _, role := range b.roles {
		// A Role whose binding is written gets a name of its own.
		if role.Kind() == "Role" && (!isAmong(written, role) || !b.isForeign(role.Namespace())) {
			names[role.Name()]++
		}
	}
	for _, role := range b.roles {
		if isAmong(written, role) {
			continue
		}
		user, isBound := b.boundBy(role)
		finding := diag.Finding{Position: role.Marker}
		switch moved := b.isForeign(role.Namespace()); {
		case moved && names[role.Name()] > 1:
			finding.Rule = roleConflict
			finding.Problem = fmt.Sprintf("kustomize fails to build %s: it moves the Role %s of namespace %s, like another one, into namespace %s",
				project.DefaultDir, role.Name(), role.Namespace(), b.mover.namespace)
			finding.Fix = "give each Role a name of its own with roleName= in its markers"
		case moved:
			finding.Rule = movedRole
			finding.Problem = fmt.Sprintf("the Role %s is for namespace %s, but %s moves it into namespace %s, where it grants nothing in the other one",
				role.Name(), role.Namespace(), b.mover.name, b.mover.namespace)
			finding.Fix = "install it with its binding by a kustomization that sets no namespace"
			switch {
			case isBound && !user.isInstalled:
				finding.Fix = fmt.Sprintf("list %s beside the role: %s generate writes it, and keeps the namespace", rolebinding.BindingsFile, b.Program)
			case isBound:
				finding.Fix = fmt.Sprintf("write namespace=system if you mean the operator's namespace; otherwise, delete the binding in %s: %s generate writes it, and keeps the namespace",
					user.at.File, b.Program)
			}
		case !isBound:
			finding.Rule = unboundRole
			finding.Problem = fmt.Sprintf("no binding in the project binds the %s %s, so that nobody has its permissions", role.Kind(), role.Name())
			finding.Fix = "add a binding to config/rbac, and list it in its kustomization.yaml"
		default:
			continue
		}
		if b.isTurnedOff && finding.Rule != roleConflict {
			continue
		}
		if finding.Position != role.Position {
			finding.Problem += " (" + role.Position.String() + ")"
		}
		b.ReportFindings(diag.Warning, finding)
		// A bundle has the same problem.
		b.Project.Roles.Reported = append(b.Project.Roles.Reported, finding)
	}
}

// missingFindings reports bindings of ClusterRoles that are not generated any more because all markers have a name or namespace.
func (b *roleBinder) missingFindings(missing []string) {
	objects := objectsIn(b.tree, b.all)
	for _, name := range missing {
		if slices.ContainsFunc(objects, func(o manifest.Object) bool { return o.Kind() == "ClusterRole" && o.Name() == name }) {
			continue
		}
		for _, binding := range b.bindings {
			if !binding.isInstalled || !binding.refersTo("ClusterRole", name, nil) {
				continue
			}
			b.ReportFindings(diag.Warning, diag.Finding{Position: binding.at, Rule: missingRole,
				Problem: fmt.Sprintf("binds the ClusterRole %s, which does not exist: all RBAC markers have namespace= or roleName=", name),
				Fix:     fmt.Sprintf("delete the binding, and remove it from the kustomization; %s generate binds the roles of the markers", b.Program),
			})
		}
	}
}

// moveFindings reports the kustomizations that move the written Roles again.
func (b *roleBinder) moveFindings(written []action.MarkerRole) {
	at := slices.IndexFunc(written, func(role action.MarkerRole) bool { return b.isForeign(role.Namespace()) })
	for _, k := range b.movers {
		if at < 0 {
			break
		}
		b.ReportFindings(diag.Warning, diag.Finding{Position: diag.Position{File: k.name, Line: k.namespaceLine}, Rule: movedRole,
			Problem: fmt.Sprintf("moves the Role %s of namespace %s into namespace %s, where it grants nothing in the other one", written[at].Name(), written[at].Namespace(), k.namespace),
			Fix:     fmt.Sprintf("set the namespace in %s instead, or copy %s to the transformers of this one", b.mover.name, rolebinding.NamespacesFile),
		})
	}
}

// boundBy returns the binding of the user that binds a role, if possible one of the installation.
func (b *roleBinder) boundBy(role action.MarkerRole) (foundBinding, bool) {
	sameName := 0
	for _, other := range b.roles {
		if other.Kind() == role.Kind() && other.Name() == role.Name() {
			sameName++
		}
	}
	var outside foundBinding
	isBound := false
	for _, binding := range b.bindings {
		if !binding.refersTo(role.Kind(), role.Name(), b.Project.Roles.Prefixes) {
			continue
		}
		// All may be moved into one namespace, so namespaces matter only if several roles have the same name.
		isSame := binding.namespace == role.Namespace() || b.isOwn(binding.namespace) && b.isOwn(role.Namespace())
		if sameName > 1 && role.Kind() == "Role" && !binding.isText && !isSame {
			continue
		}
		if binding.isInstalled {
			return binding, true
		}
		outside, isBound = binding, true
	}
	return outside, isBound
}
