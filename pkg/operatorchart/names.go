package operatorchart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxLabel is the length of a DNS label, to which the names of Services and of objects that make labels of their names are limited.
const maxLabel = 63

// names are the names of a kustomization that follow the release.
type names struct {
	// chart is the name of the chart, with which the names of its helpers begin.
	chart string
	// prefix is the prefix of the names of objects, with its hyphen, or "".
	prefix    string
	namespace string
	// serviceAccount is the name of the manager's service account.
	serviceAccount string
	// objects are names of objects with the prefix, the longest first.
	objects []string
}

func newNames(o Options) *names {
	n := &names{chart: o.Name, prefix: o.Prefix, namespace: o.Namespace}
	for _, obj := range slices.Concat(o.Objects, o.Offered) {
		if obj.Kind() != "CustomResourceDefinition" && obj.Kind() != "Namespace" && n.follows(obj.Name()) && !slices.Contains(n.objects, obj.Name()) {
			n.objects = append(n.objects, obj.Name())
		}
	}
	slices.SortFunc(n.objects, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return n
}

// follows reports whether a name follows the release.
func (n *names) follows(name string) bool {
	return n.prefix != "" && strings.HasPrefix(name, n.prefix) && len(name) > len(n.prefix)
}

// helper returns an action that includes a helper of the chart.
func (n *names) helper(name string) string {
	return fmt.Sprintf(`{{ include "%s.%s" . }}`, n.chart, name)
}

// action returns the action for the name of an object. Names of some kinds may be longer than 63 characters.
func (n *names) action(name string) string {
	return "{{ " + n.resourceName(name) + " }}"
}

// resourceName returns the expression for the name of an object.
func (n *names) resourceName(name string) string {
	helper := "resourceName"
	if len(name) > maxLabel {
		helper = "longName"
	}
	return fmt.Sprintf(`include "%s.%s" (dict "context" . "suffix" %q)`, n.chart, helper, strings.TrimPrefix(name, n.prefix))
}

// value returns a string below a key of an object whose names of objects and of the namespace follow the release. Texts that only look like
// names, such as paths, images, groups and labels, stay as they are.
func (n *names) value(s, key string) any {
	if isNamespaceKey(key) && s == n.namespace && s != "" {
		return expression("{{ .Release.Namespace }}")
	}
	if isNamespaceKey(key) || isLabelKey(key) {
		return s
	}
	return n.text(s)
}

// isNamespaceKey reports whether the value of a key is the name of a namespace.
func isNamespaceKey(key string) bool {
	return key == "namespace" || key == "kubernetes.io/metadata.name"
}

// isLabelKey reports whether a key belongs to a label. The values of labels are no references.
func isLabelKey(key string) bool {
	return key == "control-plane" || strings.HasPrefix(key, "app.kubernetes.io/") || key == "app"
}

// text returns a string whose references to objects and to the namespace follow the release.
func (n *names) text(s string) any {
	var plain strings.Builder
	var actions []string
	add := func(action string) {
		fmt.Fprintf(&plain, placeholder, len(actions))
		actions = append(actions, action)
	}
	for i := 0; i < len(s); {
		name, action := n.reference(s, i)
		if name == "" {
			plain.WriteByte(s[i])
			i++
			continue
		}
		add(action)
		if i += len(name); strings.HasPrefix(s[i:], "."+n.namespace+".") || s[i:] == "."+n.namespace { // a DNS name
			plain.WriteByte('.')
			add("{{ .Release.Namespace }}")
			i += 1 + len(n.namespace)
		}
	}
	if len(actions) == 0 {
		return s
	}
	text := escape(encode(plain.String()))
	for i, action := range actions {
		text = strings.ReplaceAll(text, fmt.Sprintf(placeholder, i), action)
	}
	return expression(text)
}

// placeholder stands for an action while a string is encoded.
const placeholder = "actionQ%dQ"

// reference returns the reference at an index of a string and the action for it, or "".
func (n *names) reference(s string, i int) (name, action string) {
	before, rest := s[:i], s[i:]
	if name, ok := n.objectAt(rest); ok && n.mayPrecede(before) {
		return name, n.action(name)
	}
	after, ok := strings.CutPrefix(rest, n.namespace)
	if n.namespace == "" || !ok {
		return "", ""
	}
	isFlag := strings.HasSuffix(before, "namespace=") && (after == "" || after[0] == ',')
	isAccount := strings.HasSuffix(before, "system:serviceaccount:") && strings.HasPrefix(after, ":") ||
		strings.HasSuffix(before, "system:serviceaccounts:") && after == ""
	isPath := before == "" && strings.HasPrefix(after, "/")
	if isPath {
		_, isPath = n.objectAt(after[1:])
	}
	if isFlag || isAccount || isPath {
		return n.namespace, "{{ .Release.Namespace }}"
	}
	return "", ""
}

// mayPrecede reports whether a reference can follow the beginning of a string: it is the whole string, the value of a flag, the host of a
// URL, or the object in a namespace.
func (n *names) mayPrecede(before string) bool {
	switch {
	case before == "", strings.HasSuffix(before, "="), strings.HasSuffix(before, ","), strings.HasSuffix(before, "//"):
		return true
	case n.namespace == "":
		return false
	}
	return before == n.namespace+"/" || strings.HasSuffix(before, "system:serviceaccount:"+n.namespace+":")
}

// objectAt returns the name of an object at the beginning of a string, which ends there or continues as the name of a Service does in DNS.
func (n *names) objectAt(s string) (string, bool) {
	for _, object := range n.objects {
		rest, ok := strings.CutPrefix(s, object)
		if ok && (rest == "" || rest[0] == ',' || strings.HasPrefix(rest, ".svc") || n.namespace != "" && strings.HasPrefix(rest, "."+n.namespace)) {
			return object, true
		}
	}
	return "", false
}

// accountName returns the name of the manager's service account, which a value can replace.
func (n *names) accountName() any { return expression(n.helper("serviceAccountName")) }
