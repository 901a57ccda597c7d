package wiring

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rolebinding"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const groupRBAC = "rbac.authorization.k8s.io"

// A foundBinding is a binding in a file of the project, without its subjects.
type foundBinding struct {
	at                    diag.Position
	kind, name, namespace string
	// roleKind and roleName are the reference. isText reports whether it is part of a template, so that nothing else is known.
	roleKind, roleName string
	isText             bool
	// isInstalled reports whether the file is part of the installation of the operator.
	isInstalled bool
}

// roleRef matches the reference of a binding, also in a template.
var roleRef = lazyregexp.New(`(?m)^[ \t]*roleRef:[ \t]*\r?\n((?:[ \t]+.*\n?)+)`)

// findBindings returns the bindings in all YAML files of a project that the user wrote: without generated ones, also in bundles and in the
// installers and charts that are generated from the installation.
func (i *installation) findBindings(tree *worktree.Tree) ([]foundBinding, error) {
	names, err := tree.Walk(".", func(dir string) bool {
		return isWithoutManifests(dir) || dir == project.BundleDir || dir == installerDir
	})
	if err != nil {
		return nil, err
	}
	var found []foundBinding
	for _, name := range names {
		if extension := path.Ext(name); extension != ".yaml" && extension != ".yml" && extension != ".tpl" {
			continue
		}
		data, err := tree.ReadFile(name)
		if err != nil || !bytes.Contains(data, []byte("roleRef:")) { // a broken link
			continue
		}
		if path.Base(name) == rolebinding.BindingsFile && rolebinding.IsGenerated(rolebinding.BindingsFile, data) {
			continue
		}
		for _, b := range bindingsIn(name, data) {
			b.isInstalled = i.contains(name)
			found = append(found, b)
		}
	}
	return found, nil
}

// installerDir contains what make build-installer and kubebuilder's plugins for charts write.
const installerDir = "dist"

// bindingsIn returns the bindings in a file.
func bindingsIn(name string, data []byte) []foundBinding {
	var found []foundBinding
	objects, problems := manifest.Decode(name, data)
	if len(problems) == 0 {
		for _, o := range objects {
			if o.Group() == groupRBAC && (o.Kind() == "RoleBinding" || o.Kind() == "ClusterRoleBinding") {
				found = append(found, foundBinding{at: o.Position, kind: o.Kind(), name: o.Name(), namespace: o.Namespace(),
					roleKind: manifest.TextAt(o.Fields, "roleRef", "kind"), roleName: manifest.TextAt(o.Fields, "roleRef", "name")})
			}
		}
		return found
	}
	for _, match := range roleRef.FindAllSubmatch(data, -1) {
		b := foundBinding{at: diag.Position{File: name}, isText: true}
		for line := range strings.Lines(string(match[1])) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			switch key {
			case "kind":
				b.roleKind = value
			case "name":
				b.roleName = value
			}
		}
		found = append(found, b)
	}
	return found
}

// refersTo reports whether a binding refers to a role of a kind and name. prefixes are the ones that kustomizations add to names.
func (b foundBinding) refersTo(kind, name string, prefixes []string) bool {
	if b.isText {
		return (b.roleKind == kind || strings.Contains(b.roleKind, "{{")) && isNameIn(b.roleName, name)
	}
	return b.roleKind == kind && (b.roleName == name || slices.ContainsFunc(prefixes, func(prefix string) bool { return b.roleName == prefix+name }))
}

var (
	templateAction = lazyregexp.New(`\{\{.*?\}\}`)
	quotedText     = lazyregexp.New(`"([^"]*)"`)
)

// isNameIn reports whether a template for a name can be a name that the kustomization may give a prefix. One that consists of a single
// named template, such as {{ include "p.fullname" . }}, can be any.
func isNameIn(template, name string) bool {
	if outside := strings.Trim(templateAction.ReplaceAllString(template, ""), "- "); outside != "" {
		return outside == name || strings.HasSuffix(outside, "-"+name)
	}
	texts := quotedText.FindAllStringSubmatch(template, -1)
	return len(texts) < 2 || slices.ContainsFunc(texts, func(text []string) bool { return text[1] == name })
}
