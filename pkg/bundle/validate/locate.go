package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// goFields maps the Go names of fields in messages of the validators to their paths.
func goFields() map[string]string {
	return map[string]string{
		"Spec.InstallStrategy":                              "spec.install",
		"Spec.InstallStrategy.StrategyName":                 "spec.install.strategy",
		"Spec.InstallStrategy.StrategySpec":                 "spec.install.spec",
		"Spec.InstallStrategy.StrategySpec.DeploymentSpecs": "spec.install.spec.deployments",
		"Spec.DisplayName":                                  "spec.displayName",
		"Spec":                                              "spec",
		"Spec.Version":                                      "spec.version",
		"ObjectMeta":                                        "metadata",
		"TypeMeta":                                          "apiVersion",
	}
}

// locate sets the position, the rule and the fix for a message.
func (c *content) locate(f *diag.Finding, err apierrors.Error) {
	f.Object, f.Position = describe(c.csv), c.csv.Position
	if c.locateObject(f, err) {
		return
	}
	if path, ok := goFields()[err.Field]; ok {
		f.Rule, f.Problem, f.Fix = "required-field", "is missing", "add the field"
		c.at(f, path)
		return
	}
	if err.Field != "" {
		c.at(f, err.Field)
		return
	}
	for _, m := range c.phrases().known {
		groups := m.message.FindStringSubmatchIndex(f.Problem)
		if groups == nil {
			continue
		}
		expand := func(template string) string {
			return string(m.message.ExpandString(nil, template, f.Problem, groups))
		}
		path, fix, text := expand(m.path), expand(m.fix), expand(m.text)
		f.Rule, f.Fix = m.rule, fix
		value := ""
		if len(groups) > 3 && groups[2] >= 0 {
			value = f.Problem[groups[2]:groups[3]]
		}
		path = c.narrow(path, value)
		c.at(f, path)
		c.explainExample(f, err)
		if text != "" {
			f.Problem = text
		}
		return
	}
}

// at sets the position of a finding in the CSV.
func (c *content) at(f *diag.Finding, path string) {
	f.Field = path
	if path != "" {
		f.Position = c.csv.Locate(manifest.Steps(path)...)
	}
}

// narrow returns the path of the list item with a value: the owned CRD of a name, the link of a URL.
func (c *content) narrow(path, value string) string {
	key := map[string]string{
		"spec.customresourcedefinitions.owned": "name", "spec.customresourcedefinitions.required": "name",
		"spec.maintainers": "email", "spec.links": "url",
	}[path]
	if path == "spec.install.spec.deployments" && value != "" {
		for i, deployment := range c.api.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
			for j, container := range deployment.Spec.Template.Spec.Containers {
				if container.Name == value {
					return fmt.Sprintf("%s[%d].spec.template.spec.containers[%d]", path, i, j)
				}
			}
		}
	}
	if key == "" {
		return path
	}
	parts := manifest.Steps(path)
	parent := manifest.MapAt(c.csv.Fields, parts[:len(parts)-1]...)
	items, _ := parent[parts[len(parts)-1]].([]any)
	for i, item := range items {
		fields, _ := item.(map[string]any)
		text, _ := fields[key].(string)
		name, _ := fields["name"].(string)
		if value != "" && text == value {
			return fmt.Sprintf("%s[%d].%s", path, i, key)
		}
		if value == "" && (text == "" || name == "") {
			return fmt.Sprintf("%s[%d]", path, i)
		}
	}
	return path
}

// locateObject sets the position of a message that concerns the bundle, and reports whether it did.
func (c *content) locateObject(f *diag.Finding, err apierrors.Error) bool {
	gvk, isGVK := err.BadValue.(schema.GroupVersionKind)
	switch {
	case isGVK && strings.HasPrefix(err.Detail, "owned CRD"):
		path := "spec.customresourcedefinitions.owned"
		for i, owned := range c.api.CSV.Spec.CustomResourceDefinitions.Owned {
			if owned.Kind == gvk.Kind && owned.Version == gvk.Version && (owned.Name == gvk.Group || strings.HasSuffix(owned.Name, "."+gvk.Group)) {
				path = fmt.Sprintf("%s[%d]", path, i)
				break
			}
		}
		f.Rule, f.Problem = "owned-crds", fmt.Sprintf("there is no CRD of %s in the bundle", kindName(gvk))
		f.Fix = "correct name, version and kind of the entry, or add the CRD's manifest"
		c.at(f, path)
	case isGVK && (strings.HasPrefix(err.Detail, "CRD ") || strings.HasPrefix(err.Detail, "duplicate CRD")):
		f.Rule, f.Problem, f.Fix = "owned-crds", fmt.Sprintf("%s is not listed in spec.customresourcedefinitions.owned", kindName(gvk)), "list it there, or remove the CRD from the bundle"
		if strings.HasPrefix(err.Detail, "duplicate") {
			f.Problem, f.Fix = fmt.Sprintf("%s is defined twice", kindName(gvk)), "keep the CRD of apiextensions.k8s.io/v1"
		}
		for _, crd := range c.crds {
			group := manifest.TextAt(crd.Fields, "spec", "group")
			kind := manifest.TextAt(crd.Fields, "spec", "names", "kind")
			if group == gvk.Group && kind == gvk.Kind {
				f.Object, f.Position, f.Field = describe(crd), crd.Locate("spec", "names", "kind"), "spec.names.kind"
			}
		}
	case isGVK:
		f.Problem += ": " + kindName(gvk)
		return false
	case strings.HasPrefix(err.Detail, "invalid service account"):
		name := fmt.Sprint(err.BadValue)
		f.Rule, f.Problem = "service-account", "OLM creates the ServiceAccounts of the deployments in the ClusterServiceVersion, and fails if the bundle contains one of them"
		f.Fix = "remove the file from the bundle"
		c.atObject(f, "ServiceAccount", name, "metadata", "name")
	case strings.Contains(err.Detail, "were deprecated and removed in") && strings.HasPrefix(err.Detail, "this bundle is using APIs"):
		c.locateRemoved(f)
	default:
		return false
	}
	return true
}

func kindName(gvk schema.GroupVersionKind) string {
	return fmt.Sprintf("%s %s", gvk.Kind, gvk.GroupVersion())
}

// atObject sets the position of a finding in an object of a kind and name, and reports whether there is one.
func (c *content) atObject(f *diag.Finding, kind, name string, path ...string) bool {
	for _, obj := range c.objects {
		if (obj.Kind() == kind || kind == "CRD" && obj.Kind() == crdKind) && obj.Name() == name {
			f.Object, f.Position, f.Field = describe(obj), obj.Locate(path...), manifest.FieldPath(path)
			return true
		}
	}
	return false
}

// locateRemoved sets the position to the first object of an API that a version of Kubernetes removed.
func (c *content) locateRemoved(f *diag.Finding) {
	f.Rule = "removed-api"
	f.Fix = "move to the API that replaced it: https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
	version := "Kubernetes"
	if m := c.phrases().removedIn.FindStringSubmatch(f.Problem); m != nil {
		version = "Kubernetes " + m[1]
	}
	_, list, _ := strings.Cut(f.Problem, "Migrate the API(s) for ")
	f.Problem = fmt.Sprintf("uses APIs that were removed in %s: %s", version, list)
	m := c.phrases().removedList.FindStringSubmatch(list)
	if m == nil || c.atObject(f, m[1], m[2], "apiVersion") {
		return
	}
	if position := c.phrases().removedCSV.FindStringSubmatch(m[2]); position != nil {
		switch position[1] {
		case "CustomResourceDefinitions":
			c.at(f, fmt.Sprintf("spec.customresourcedefinitions.%s[%s].resources[%s]", strings.ToLower(position[2]), position[4], position[6]))
		case "InstallStrategy":
			c.at(f, fmt.Sprintf("spec.install.spec.%s[%s].rules[%s]", strings.ToLower(position[3][:1])+position[3][1:], position[4], position[6]))
		}
	}
}

// explainExample sets the line of a syntax error in the JSON of the examples.
func (c *content) explainExample(f *diag.Finding, err apierrors.Error) {
	if f.Rule != "examples" || !strings.HasPrefix(err.Detail, "invalid example") {
		return
	}
	examples := c.api.CSV.Annotations["alm-examples"]
	if examples == "" {
		examples = c.api.CSV.Annotations["olm.examples"]
	}
	var content any
	syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(examples), &content))
	if !ok {
		return
	}
	before := examples[:min(int(syntax.Offset), len(examples))]
	line := 1 + strings.Count(before, "\n")
	f.Problem = "is not valid JSON in line " + strconv.Itoa(line) + " of the text: " + syntax.Error()
	if isBlock(c.csv, f.Position) {
		f.Position.Line += line
		f.Position.Column = 0
	}
}

// isBlock reports whether a value is a literal block, so that each of its lines is one of the file.
func isBlock(obj manifest.Object, at diag.Position) bool {
	lines := strings.Split(string(obj.Data()), "\n")
	i := at.Line - obj.Line
	if i < 0 || i >= len(lines) {
		return false
	}
	_, value, _ := strings.Cut(lines[i], ":")
	return strings.HasPrefix(strings.TrimSpace(value), "|")
}
