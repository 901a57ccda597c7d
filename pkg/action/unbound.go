package action

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// roleRef matches the reference of a binding, also in a template.
var roleRef = regexp.MustCompile(`(?m)^[ \t]*roleRef:[ \t]*\r?\n((?:[ \t]+.*\n?)+)`)

// checkRoles reports generated roles of markers with a name or namespace of their own that have no effect in the kustomization of the whole
// operator: because nothing binds them, or because it moves them into its namespace.
func (p *Project) checkRoles(tree *worktree.Tree, found *calls.Found, all []kustomization, generated map[string][]byte) error {
	whole := slices.IndexFunc(all, func(k kustomization) bool { return path.Dir(k.name) == project.DefaultDir })
	if whole < 0 {
		return nil
	}
	defaults, err := codegen.RoleNames(found.Calls)
	if err != nil {
		return err
	}
	var namespace struct{ Namespace string }
	_ = safeyaml.UnmarshalJSON(all[whole].content, &namespace) // it has been parsed
	var bound []string
	for _, file := range slices.Sorted(maps.Keys(generated)) {
		included := func(k kustomization) bool {
			return slices.Contains(k.included, file) && (k.name == all[whole].name || slices.Contains(all[whole].included, path.Dir(k.name)))
		}
		hasRoles := bytes.Contains(generated[file], []byte("kind: Role")) || bytes.Contains(generated[file], []byte("kind: ClusterRole"))
		if path.Ext(file) != ".yaml" || !hasRoles || !slices.ContainsFunc(all, included) {
			continue
		}
		objects, problems := manifest.Decode(file, generated[file])
		if problems != nil {
			return problems
		}
		names := map[string]int{}
		for _, role := range objects {
			isRole := role.Group() == "rbac.authorization.k8s.io" && (role.Kind() == "Role" || role.Kind() == "ClusterRole")
			if !isRole || role.Kind() == "ClusterRole" && slices.Contains(defaults, role.Name()) {
				continue
			}
			if bound == nil {
				if bound, err = roleReferences(tree); err != nil {
					return err
				}
			}
			finding := diag.Finding{Position: role.Position}
			reference := role.Kind() + " " + role.Name()
			isBound := slices.ContainsFunc(bound, func(text string) bool { return refersTo(text, role.Kind(), role.Name()) })
			names[reference]++
			switch moved := role.Namespace() != "" && namespace.Namespace != "" && !slices.Contains([]string{namespace.Namespace, "system"}, role.Namespace()); {
			case moved && names[reference] > 1:
				finding.Rule = "role-conflict"
				finding.Problem = fmt.Sprintf("kustomize fails to build config/default: it moves the Role %s of namespace %s, like another one, into namespace %s",
					role.Name(), role.Namespace(), namespace.Namespace)
				finding.Fix = "give each Role a name of its own with roleName= in its markers"
			case moved:
				finding.Rule = "moved-role"
				finding.Problem = fmt.Sprintf("the Role %s is for namespace %s, but config/default/kustomization.yaml moves it into namespace %s, where it grants nothing in the other one",
					role.Name(), role.Namespace(), namespace.Namespace)
				finding.Fix = "install it with its binding by a kustomization that sets no namespace"
			case !isBound:
				finding.Rule = "unbound-role"
				finding.Problem = fmt.Sprintf("no binding in the project binds the %s %s, so that nobody has its permissions", role.Kind(), role.Name())
				finding.Fix = "add a binding to config/rbac, and list it in its kustomization.yaml"
			default:
				continue
			}
			p.report(Warning, finding)
		}
	}
	return nil
}

// roleReferences returns the references to roles in all YAML files of a project.
func roleReferences(tree *worktree.Tree) ([]string, error) {
	names, err := tree.Walk(".", isWithoutManifests)
	if err != nil {
		return nil, err
	}
	references := []string{}
	for _, name := range names {
		if extension := path.Ext(name); extension != ".yaml" && extension != ".yml" && extension != ".tpl" {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte("roleRef:")) {
			continue // a broken link
		}
		for _, match := range roleRef.FindAllSubmatch(data, -1) {
			references = append(references, string(match[1]))
		}
	}
	return references, nil
}

// refersTo reports whether the fields of a reference are those of a role, whose name can have a prefix or be part of a template.
func refersTo(reference, kind, name string) bool {
	isKind, isName := false, false
	for line := range strings.Lines(reference) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch key {
		case "kind":
			isKind = value == kind || strings.Contains(value, "{{")
		case "name":
			isName = value == name || strings.HasSuffix(value, "-"+name) || strings.Contains(value, "{{")
		}
	}
	return isKind && isName
}
