package migrate

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The names of objects in the scaffold that other objects refer to.
const (
	scaffoldAccount    = "controller-manager"
	scaffoldDeployment = "controller-manager"
	serviceAccountFile = project.RBACDir + "/service_account.yaml"
	endToEndTest       = "test/e2e/e2e_test.go"
	kindServiceAccount = "ServiceAccount"
)

// followNames makes the references in the current scaffold follow the names that the project has: of the manager's account, Deployment and
// pods, and of roles. Otherwise, files that the upgrade adds would refer to objects that don't exist.
func (u *upgrader) followNames() {
	manager := u.managerObject()
	if manager == nil {
		return
	}
	account := u.accountOf(manager)
	roles := u.renamedRoles()
	deployment := safeyaml.ChildText(safeyaml.Child(manager, "metadata"), "name")
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if !isManifest(name) || u.ours[name] != nil && u.baseOf(name) == nil {
			continue
		}
		edits := textEdits{}
		nodes, err := safeyaml.Documents[yaml.Node](u.theirs[name])
		if err != nil {
			continue
		}
		for _, node := range nodes {
			object := content(node)
			edits.account(object, account)
			if u.ours[name] == nil {
				edits.role(object, roles)
				edits.selector(object, manager)
				edits.target(object, deployment)
			}
		}
		u.theirs[name] = edits.apply(u.theirs[name])
	}
	if !account.inScaffold {
		u.withoutAccount(account)
	}
}

// An account is the service account of the manager.
type account struct {
	name, namespace string
	// inScaffold reports whether the scaffold's manifest defines it, and isDefined whether any manifest does.
	inScaffold, isDefined bool
}

// managerObject returns the manager's Deployment as it is after the upgrade, or nil if it isn't clear which it is.
func (u *upgrader) managerObject() *yaml.Node {
	var found []*yaml.Node
	files, err := readConfig(u.tree, func(name string) bool { return path.Dir(name) == project.ManagerDir && isManifest(name) })
	if err != nil {
		return nil
	}
	for _, f := range files {
		text := f.text
		if f.name == project.ManagerFile {
			text = u.mergedText(f.name)
		}
		nodes, _ := safeyaml.Documents[yaml.Node](text)
		for _, node := range nodes {
			object := content(node)
			if safeyaml.ChildText(object, "kind") == "Deployment" && (f.name == project.ManagerFile || u.isResource(f.name)) {
				found = append(found, object)
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// mergedText returns what the upgrade makes of a file that the project has.
func (u *upgrader) mergedText(name string) []byte {
	ours, theirs, b := u.ours[name], u.theirs[name], u.baseOf(name)
	if ours == nil || theirs == nil || b == nil {
		return ours
	}
	o := u.mergeOptions(name)
	o.Side = merge.Ours
	if m, err := mergeFile(name, ours, theirs, b, o); err == nil && m.reason == "" {
		return m.text
	}
	return ours
}

// accountOf returns the service account of a Deployment.
func (u *upgrader) accountOf(deployment *yaml.Node) account {
	spec := deployment
	for _, key := range []string{"spec", "template", "spec"} {
		spec = safeyaml.Child(spec, key)
	}
	a := account{name: cmp.Or(safeyaml.ChildText(spec, "serviceAccountName"), safeyaml.ChildText(spec, "serviceAccount"), "default")}
	for name, text := range u.accountFiles() {
		nodes, _ := safeyaml.Documents[yaml.Node](text)
		for _, node := range nodes {
			metadata := safeyaml.Child(content(node), "metadata")
			if safeyaml.ChildText(content(node), "kind") == kindServiceAccount && safeyaml.ChildText(metadata, "name") == a.name {
				a.isDefined, a.namespace = true, safeyaml.ChildText(metadata, "namespace")
				a.inScaffold = a.inScaffold || name == serviceAccountFile
			}
		}
	}
	return a
}

// accountFiles returns the manifests of the project, and the scaffold's manifest of the account as it is after the upgrade.
func (u *upgrader) accountFiles() map[string][]byte {
	texts := map[string][]byte{}
	files, err := readConfig(u.tree, isManifest)
	if err != nil {
		return texts
	}
	for _, f := range files {
		texts[f.name] = f.text
	}
	if text := u.mergedText(serviceAccountFile); text != nil {
		texts[serviceAccountFile] = text
	} else if u.theirs[serviceAccountFile] != nil && !u.wroteBefore(serviceAccountFile) {
		texts[serviceAccountFile] = u.theirs[serviceAccountFile]
	}
	return texts
}

// withoutAccount leaves the scaffold's account, which nothing would use, out of what the upgrade adds.
func (u *upgrader) withoutAccount(a account) {
	if u.ours[serviceAccountFile] == nil {
		delete(u.theirs, serviceAccountFile)
		kustomization := path.Join(project.RBACDir, project.KustomizationFile)
		for _, entry := range entries(kustomization, u.theirs[kustomization], "resources") {
			if entry.Key == path.Base(serviceAccountFile) {
				u.theirs[kustomization] = bytes.Replace(u.theirs[kustomization], []byte(strings.Join(entry.Head, "")), nil, 1)
			}
		}
	}
	if test := u.theirs[endToEndTest]; test != nil {
		constant := regexp.MustCompile(`(serviceAccountName += ")([^"]*)` + scaffoldAccount + `"`)
		prefix := "${1}"
		if a.isDefined {
			prefix += "${2}"
		}
		u.theirs[endToEndTest] = constant.ReplaceAll(test, []byte(prefix+strings.ReplaceAll(a.name, "$", "$$")+`"`))
	}
}

// A roleRef identifies a role.
type roleRef struct{ kind, name string }

// renamedRoles returns the roles of the project that are in the places of the scaffold's.
func (u *upgrader) renamedRoles() map[roleRef]roleRef {
	renamed := map[roleRef]roleRef{}
	for name, text := range u.theirs {
		current, err := u.tree.ReadFile(name)
		if err != nil || path.Dir(name) != project.RBACDir || !isManifest(name) {
			continue
		}
		theirs, ours := rolesIn(text), rolesIn(current)
		if len(theirs) == 1 && len(ours) == 1 && theirs[0] != ours[0] {
			renamed[theirs[0]] = ours[0]
		}
	}
	return renamed
}

func rolesIn(text []byte) []roleRef {
	var roles []roleRef
	nodes, _ := safeyaml.Documents[yaml.Node](text)
	for _, node := range nodes {
		object := content(node)
		kind, name := safeyaml.ChildText(object, "kind"), safeyaml.ChildText(safeyaml.Child(object, "metadata"), "name")
		if kind == "Role" || kind == "ClusterRole" {
			roles = append(roles, roleRef{kind, name})
		}
	}
	return roles
}

func content(document *yaml.Node) *yaml.Node {
	if document.Kind == yaml.DocumentNode && len(document.Content) > 0 {
		return document.Content[0]
	}
	return document
}
