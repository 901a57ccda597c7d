// Package rolebinding binds the roles of +kubebuilder:rbac markers with namespace= or roleName= to the manager's service account, in
// files for kustomize.
//
// # Namespaces
//
// The kustomization of the whole operator sets one namespace for all objects, so that a Role of another namespace would move, and two
// with the same name would conflict. kustomize has no way to leave out objects. Therefore the kustomization of the roles gives those with
// the same name names of their own, and the whole operator's moves Roles and bindings back after it has set the namespace. Both
// do so with transformers in generated files, so that namespace: and the manifests stay as the user wrote them.
package rolebinding

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/templates"
)

// The names of the generated files. BindingsFile and NamesFile are beside the roles, and NamespacesFile in the kustomization of the
// whole operator.
const (
	BindingsFile   = "marker_role_bindings.yaml"
	NamesFile      = "marker_role_names.yaml"
	NamespacesFile = "marker_role_namespaces.yaml"
)

// A Role is a Role or ClusterRole without a binding.
type Role struct {
	Kind, Name string
	// Namespace is the Role's namespace, empty for a ClusterRole.
	Namespace string
	// Moved reports whether the kustomization of the whole operator would move the Role into another namespace.
	Moved bool
}

// An Account is the service account of the manager, with the name and namespace in its manifest. The namespace may be empty if a
// kustomization sets it. The account default has no manifest.
type Account struct{ Name, Namespace string }

// Files is the content of the generated files. Nil content means that a file is not needed.
type Files struct{ Bindings, Names, Namespaces []byte }

// Render returns the files that bind roles. isTaken reports whether another role or binding has a kind and name, in any namespace.
func Render(roles []Role, account Account, isTaken func(kind, name string) bool) (Files, error) {
	var files Files
	if len(roles) == 0 {
		return files, nil
	}
	data := templateData{Account: account}
	used := map[string]bool{}
	// unused returns a name for an object of a kind, which starts with a given one.
	unused := func(kind, name string) string {
		for used[kind+"/"+name] || isTaken(kind, name) {
			name += "-marker"
		}
		used[kind+"/"+name] = true
		return name
	}
	count := map[string]int{}
	for _, role := range roles {
		count[role.Kind+"/"+role.Name]++
	}
	for _, role := range roles {
		bound := boundRole{Role: role, UniqueName: role.Name, BindingKind: role.Kind + "Binding"}
		if role.Moved && (count[role.Kind+"/"+role.Name] > 1 || isTaken(role.Kind, role.Name)) {
			bound.UniqueName = unused(role.Kind, UniqueName(role.Name, role.Namespace))
			data.Renamed = append(data.Renamed, bound)
		}
		bound.BindingName = unused(bound.BindingKind, strings.TrimSuffix(bound.UniqueName, "-role")+"-rolebinding")
		data.Roles = append(data.Roles, bound)
		if role.Moved {
			data.Moved = append(data.Moved, bound)
		}
	}
	for _, file := range []struct {
		name    string
		needed  bool
		content *[]byte
	}{
		{BindingsFile, true, &files.Bindings},
		{NamesFile, len(data.Renamed) > 0, &files.Names},
		{NamespacesFile, len(data.Moved) > 0, &files.Namespaces},
	} {
		if !file.needed {
			continue
		}
		content, err := render(file.name, data)
		if err != nil {
			return files, err
		}
		*file.content = content
	}
	return files, nil
}

// UniqueName returns the name that a Role gets if several namespaces have one of its name.
func UniqueName(name, namespace string) string { return name + "-" + namespace }

// IsGenerated reports whether a file with one of the names is generated, and not written by the user.
func IsGenerated(name string, content []byte) bool {
	text, err := render(name, templateData{})
	if err != nil {
		return false
	}
	first, _, _ := bytes.Cut(text, []byte(":"))
	return bytes.HasPrefix(content, first)
}

func render(name string, data any) ([]byte, error) {
	content, err := templates.Execute("rolebinding/"+name+".tmpl", data)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", name, err)
	}
	return content, nil
}

// templateData is the data of the templates. Renamed and Moved are among Roles.
type templateData struct {
	Roles, Renamed, Moved []boundRole
	Account               Account
}

// SubjectsMove reports whether the subjects of moved bindings differ from their manifests. kustomize sets the namespace of the account
// default itself.
func (d templateData) SubjectsMove() bool { return d.Account.Name != "default" }

// SubjectFields returns the fields of a subject that the service account determines.
func (d templateData) SubjectFields() []string { return []string{"name", "namespace"} }

// A boundRole is a role with its binding.
type boundRole struct {
	Role
	// UniqueName is the name of the role when all roles are in one namespace.
	UniqueName, BindingKind, BindingName string
}

// NamePattern, BindingPattern and ObjectsPattern match the name of the role, the name of the binding, and both names.
func (r boundRole) NamePattern() string    { return regexp.QuoteMeta(r.Name) }
func (r boundRole) BindingPattern() string { return regexp.QuoteMeta(r.BindingName) }
func (r boundRole) ObjectsPattern() string { return r.NamePattern() + "|" + r.BindingPattern() }

// namespaceName matches the name of a namespace.
var namespaceName = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// IsNamespace reports whether a cluster accepts the name of a namespace. Empty is the namespace of the operator.
func IsNamespace(name string) bool { return name == "" || namespaceName.MatchString(name) }

// CanBind reports whether a cluster accepts the name and namespace of a role.
func CanBind(role Role) bool {
	return role.Name != "" && !strings.ContainsAny(role.Name, "/%\n\r") && !slices.Contains([]string{".", ".."}, role.Name) &&
		IsNamespace(role.Namespace)
}
