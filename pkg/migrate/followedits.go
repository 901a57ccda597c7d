package migrate

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// textEdits are new lines of a text, by their numbers. Nil removes one.
type textEdits map[int][]string

func (e textEdits) apply(text []byte) []byte {
	if len(e) == 0 {
		return text
	}
	var out strings.Builder
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		lines, ok := e[number]
		if !ok {
			lines = []string{line}
		}
		for _, l := range lines {
			out.WriteString(l)
		}
	}
	return []byte(out.String())
}

// set replaces the value of a key, which the scaffold writes in a line of its own, and not as the first one of an item.
func (e textEdits) set(mapping *yaml.Node, key, value string) {
	at := safeyaml.ChildIndex(mapping, key)
	if at < 0 || mapping.Content[at+1].Value == value {
		return
	}
	k := mapping.Content[at]
	e[k.Line] = []string{strings.Repeat(" ", k.Column-1) + key + ": " + quoted(value) + "\n"}
}

func quoted(value string) string {
	data, err := yaml.Marshal(value)
	if err != nil {
		return value // texts can be encoded
	}
	return strings.TrimSpace(string(data))
}

// account makes the subjects of a binding the manager's account.
func (e textEdits) account(object *yaml.Node, a account) {
	subjects := safeyaml.Child(object, "subjects")
	if subjects == nil || a.name == scaffoldAccount {
		return
	}
	for _, subject := range subjects.Content {
		if safeyaml.ChildText(subject, "kind") != kindServiceAccount || safeyaml.ChildText(subject, "name") != scaffoldAccount {
			continue
		}
		e.set(subject, "name", a.name)
		if a.namespace != "" {
			e.set(subject, "namespace", a.namespace)
		}
	}
}

// role makes a new binding refer to the project's role in place of the scaffold's.
func (e textEdits) role(object *yaml.Node, roles map[roleRef]roleRef) {
	ref := safeyaml.Child(object, "roleRef")
	if ref == nil {
		return
	}
	to, ok := roles[roleRef{safeyaml.ChildText(ref, "kind"), safeyaml.ChildText(ref, "name")}]
	if !ok {
		return
	}
	e.set(ref, "name", to.name)
	e.set(ref, "kind", to.kind)
	if to.kind == "Role" && safeyaml.ChildText(object, "kind") == "ClusterRoleBinding" {
		e.set(object, "kind", "RoleBinding")
		if metadata := safeyaml.Child(object, "metadata"); safeyaml.Child(metadata, "namespace") == nil {
			name := metadata.Content[safeyaml.ChildIndex(metadata, "name")]
			e[name.Line] = []string{"  name: " + quoted(safeyaml.ChildText(metadata, "name")) + "\n", "  namespace: system\n"}
		}
	}
}

// selector makes a new Service or NetworkPolicy select the pods of the manager.
func (e textEdits) selector(object, manager *yaml.Node) {
	var selector *yaml.Node
	switch safeyaml.ChildText(object, "kind") {
	case "Service":
		selector = safeyaml.Child(safeyaml.Child(object, "spec"), "selector")
	case "NetworkPolicy":
		selector = safeyaml.Child(safeyaml.Child(safeyaml.Child(object, "spec"), "podSelector"), "matchLabels")
	}
	spec := safeyaml.Child(manager, "spec")
	labels := safeyaml.Child(safeyaml.Child(safeyaml.Child(spec, "template"), "metadata"), "labels")
	matched := safeyaml.Child(safeyaml.Child(spec, "selector"), "matchLabels")
	if selector == nil || labels == nil || matched == nil || len(matched.Content) == 0 || selector.Content == nil {
		return
	}
	var lacks bool
	var first, last int
	for key, value := range safeyaml.Fields(selector) {
		lacks = lacks || safeyaml.ChildText(labels, key.Value) != value.Value
		if first == 0 {
			first = key.Line
		}
		last = key.Line
	}
	if !lacks {
		return
	}
	indent := strings.Repeat(" ", selector.Column-1)
	var lines []string
	for key, value := range safeyaml.Fields(matched) {
		lines = append(lines, indent+quoted(key.Value)+": "+quoted(value.Value)+"\n")
	}
	for line := first; line <= last; line++ {
		e[line] = nil
	}
	e[first] = slices.Clone(lines)
}

// target makes a new patch change the Deployment of the manager.
func (e textEdits) target(object *yaml.Node, deployment string) {
	metadata := safeyaml.Child(object, "metadata")
	if safeyaml.ChildText(object, "kind") == "Deployment" && safeyaml.ChildText(metadata, "name") == scaffoldDeployment && deployment != "" {
		e.set(metadata, "name", deployment)
	}
}
