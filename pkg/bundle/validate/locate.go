package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// known is what we know about a message of a validator: the field it is about and what to write.
type known struct {
	message *regexp.Regexp
	rule    string
	// path is the field's path in the CSV; $1 is the message's first group.
	path string
	// text replaces the message, where that speaks of Go or of nothing at all.
	text string
	fix  string
}

// messages are the messages that name no field, or one by its name in Go.
var messages = []known{
	{re(`^metadata\.name "`), "csv-name", "metadata.name", "", "write lower-case letters, digits, '-' and '.', at most 63 of them, such as memcached-operator.v0.0.1"},
	{re(`^spec\.replaces "`), "csv-replaces", "spec.replaces", "", "name the CSV that this one replaces, such as memcached-operator.v0.0.1"},
	{re(`^(example )?annotations not found`), "examples", "metadata.annotations", "there are no examples of the custom resources", "add samples below config/samples and generate the bundle again, or write the annotation alm-examples"},
	{re("^both `alm-examples` and"), "examples", `metadata.annotations["olm.examples"]`, "", "keep alm-examples only"},
	{re(`^invalid example`), "examples", "metadata.annotations.alm-examples", "", "write a JSON list of custom resources"},
	{re(`^error decoding example`), "examples", "metadata.annotations.alm-examples", "must be a JSON list of custom resources", "put the example into brackets: [ … ]"},
	{re(`^example must have a provided API`), "examples", "metadata.annotations.alm-examples", "", "take the example out, or list its CRD below spec.customresourcedefinitions.owned"},
	{re(`^provided API should have an example`), "examples", "metadata.annotations.alm-examples", "", "add a sample of the kind to config/samples and generate the bundle again"},
	{re(`^couldn't parse plural.group from crd name: (.*)`), "owned-crds", "spec.customresourcedefinitions.owned", "$1 is no name of a CRD", "write <plural>.<group>"},
	{re(`^install modes not found`), "install-modes", "spec.installModes", "there are no install modes", "list OwnNamespace, SingleNamespace, MultiNamespace and AllNamespaces, each with supported: true or false"},
	{re(`^none of InstallModeTypes`), "install-modes", "spec.installModes", "no install mode is supported, so that nobody can install the operator", "write supported: true at one of them at least"},
	{re(`^duplicate install modes`), "install-modes", "spec.installModes", "", "list each install mode once"},
	{re(`^only AllNamespaces InstallModeType`), "install-modes", "spec.installModes", "an operator with conversion webhooks can be installed for all namespaces only", "write supported: true at AllNamespaces and supported: false at all others"},
	{re(`minKubeVersion`), "min-kube-version", "spec.minKubeVersion", "", "write the oldest Kubernetes version that the operator runs on, such as minKubeVersion: 1.28.0"},
	{re(`MinKubeVersion has an invalid value: (.*)`), "min-kube-version", "spec.minKubeVersion", "$1 is no semantic version", "write MAJOR.MINOR.PATCH, such as 1.28.0"},
	{re(`MinKubeVersion`), "min-kube-version", "spec.minKubeVersion", "", "write MAJOR.MINOR.PATCH, such as 1.28.0"},
	{re(`^provided annotation (\S+) uses wrong case and should be (\S+) instead`), "annotation-case", `metadata.annotations["$1"]`, "the name is known in another case only", "write $2"},
	{re(`^found olm\.properties annotation`), "properties", `metadata.annotations["olm.properties"]`, "", "write the properties into metadata/properties.yaml"},
	{re(`^'(apiVersion|kind)' is missing`), "csv", "$1", "", "write apiVersion: operators.coreos.com/v1alpha1 and kind: ClusterServiceVersion"},
	{re(`^relatedImages\[(\d+)\]`), "related-images", "spec.relatedImages[$1].image", "", "write the image as registry/repository:tag or registry/repository@sha256:…"},
	{re(`^maximum bundle compressed size`), "size", "", "", "shorten descriptions and examples, take descriptions out of the CRDs, or use a smaller icon"},
	{re(`^nearing maximum bundle compressed size`), "size", "", "", "shorten descriptions and examples, take descriptions out of the CRDs, or use a smaller icon"},
	{re(`^csv\.Spec\.Provider\.Name not specified`), "provider", "spec.provider.name", "is missing", "write who makes the operator"},
	{re(`^csv\.Spec\.Maintainers elements`), "maintainers", "spec.maintainers", "each maintainer has a name and an email", "write both"},
	{re(`^csv\.Spec\.Maintainers email (.*) is invalid`), "maintainers", "spec.maintainers", "", "write an address such as team@example.com"},
	{re(`^csv\.Spec\.Links elements`), "links", "spec.links", "each link has a name and a url", "write both"},
	{re(`^csv\.Spec\.Links url (.*) is invalid`), "links", "spec.links", "", "write the whole address, such as https://example.com"},
	{re(`^csv\.Spec\.Version must be set`), "csv-version", "spec.version", "is missing", "write the version of the bundle, such as 1.2.0"},
	{re(`^csv\.Spec\.Icon not specified`), "icon", "spec.icon", "is missing", "add one icon with base64data and mediatype"},
	{re(`^csv\.Spec\.Icon should only have one`), "icon", "spec.icon", "there is more than one icon", "keep one"},
	{re(`^csv\.Spec\.Icon elements should`), "icon", "spec.icon[0]", "an icon has base64data and mediatype", "write both"},
	{re(`^csv\.Spec\.Icon (\S+) does not have`), "icon", "spec.icon[0].mediatype", "$1 is no media type of an icon", "write image/svg+xml, image/png, image/jpeg or image/gif"},
	{re(`^csv\.Metadata\.Annotations\.Capabilities (".*") is not`), "capabilities", "metadata.annotations.capabilities", "$1 is no capability level", "write Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot"},
	{re(`^csv\.Metadata\.Annotations\["categories"\] value (".*") is not in the set of (\w+)`), "categories", "metadata.annotations.categories", "$1 is none of the $2 categories", "choose from the categories, with commas between them"},
	{re(`custom categories`), "categories", "metadata.annotations.categories", "", "correct the file that OPERATOR_BUNDLE_CATEGORIES names"},
	{re(`^unable to find a deployment`), "deployments", "spec.install.spec.deployments", "there is no deployment to install", "add the operator's Deployment to what the bundle is made from"},
	{re(`^unable to find the resource requests for the container: \((.*?)\)`), "resource-requests", "spec.install.spec.deployments", "", "write resources.requests with cpu and memory at the container $1"},
	{re(`^owned CRD "(\S+)" has an empty description`), "crd-description", "spec.customresourcedefinitions.owned", "", "describe the kind in the comment above its Go type, and generate the bundle again"},
	{re(`^required CRD "(\S+)" has an empty description`), "crd-description", "spec.customresourcedefinitions.required", "", "say what the operator needs the kind for"},
	{re(`^csv\.metadata\.Name (\S+) is not`), "csv-name", "metadata.name", "", "name the CSV <package>.v<version>, such as memcached-operator.v0.0.1"},
	{re(`^CSV contains permissions to create CRD`), "rbac-crds", "spec.install.spec", "", "let OLM install CRDs, and take create and patch of customresourcedefinitions out of the rules"},
	{re(`^channel\(s\)`), "channel-name", "", "", "begin channels with candidate, fast or stable"},
	{re(`invalid value informed via the k8s key`), "k8s-version", "", "", "give --optional-values=k8s-version=1.30"},
	{re(`^invalid value \(\S+\) for \(crane|^invalid value \(container-tools`), "container-tools", "", "", "give --optional-values=container-tools=docker, podman or none"},
	{re(`operatorframework\.io/(arch|os)\.`), "multiarch", "metadata.labels", "", "label the CSV operatorframework.io/$1.<value>: supported for all that the images run on"},
	{re(`node affinity`), "multiarch", "spec.install.spec.deployments", "", "list the platforms of the image in the pod's node affinity"},
	{re(`^unable to inspect the image`), "multiarch", "spec.install.spec.deployments", "", "install the container tool, log in to the registry, and try again"},
	{re(`CSV labels|should not support`), "multiarch", "metadata.labels", "", "label the CSV with the platforms that all of its images run on"},
	{re(`^The "operatorhub" validator is deprecated`), "operatorhub", "", "the validator operatorhub is deprecated", "select operatorhubv2, capabilities and categories"},
	{re(`olm\.maxOpenShiftVersion`), "removed-api", "metadata.annotations", "", "move the objects to the APIs that replaced the removed ones"},
	{re(`index image|index-path|com\.redhat\.openshift\.versions`), "removed-api", "", "", "move the objects to the APIs that replaced the removed ones"},
}

func re(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// goFields are the fields that the validators name as in Go.
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

// locate finds the place that a message is about, and what to write there instead.
func (c *content) locate(f *Finding, err apierrors.Error) {
	f.Object, f.Position = describe(c.csv), c.csv.Position
	if c.locateObject(f, err) {
		return
	}
	if path, ok := goFields()[err.Field]; ok {
		f.Rule, f.Text, f.Fix = "required-field", "is missing", "write the field"
		c.at(f, path)
		return
	}
	if err.Field != "" {
		c.at(f, err.Field)
		return
	}
	for _, m := range messages {
		groups := m.message.FindStringSubmatchIndex(f.Text)
		if groups == nil {
			continue
		}
		expand := func(template string) string {
			return string(m.message.ExpandString(nil, template, f.Text, groups))
		}
		path, fix, text := expand(m.path), expand(m.fix), expand(m.text)
		f.Rule, f.Fix = m.rule, fix
		value := ""
		if len(groups) > 3 && groups[2] >= 0 {
			value = f.Text[groups[2]:groups[3]]
		}
		path = c.narrow(path, value)
		c.at(f, path)
		c.explainExample(f, err)
		if text != "" {
			f.Text = text
		}
		return
	}
}

// at sets the place of a finding in the CSV.
func (c *content) at(f *Finding, path string) {
	f.Field = path
	if path != "" {
		f.Position = c.csv.Locate(steps(path)...)
	}
}

// narrow finds the item of a list that holds a value: the owned CRD of a name, the link of a URL.
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
	parts := steps(path)
	parent, _ := mapAt(c.csv.Fields, parts[:len(parts)-1]...)
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

// locateObject finds the object that a message about the whole bundle means.
func (c *content) locateObject(f *Finding, err apierrors.Error) bool {
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
		f.Rule, f.Text = "owned-crds", fmt.Sprintf("there is no CRD of %s in the bundle", kindName(gvk))
		f.Fix = "correct name, version and kind of the entry, or add the CRD's manifest"
		c.at(f, path)
	case isGVK && (strings.HasPrefix(err.Detail, "CRD ") || strings.HasPrefix(err.Detail, "duplicate CRD")):
		f.Rule, f.Text, f.Fix = "owned-crds", fmt.Sprintf("%s is not listed in spec.customresourcedefinitions.owned", kindName(gvk)), "list it there, or take the CRD out of the bundle"
		if strings.HasPrefix(err.Detail, "duplicate") {
			f.Text, f.Fix = fmt.Sprintf("%s is defined twice", kindName(gvk)), "keep the CRD of apiextensions.k8s.io/v1"
		}
		for _, crd := range c.crds {
			group, _ := textAt(crd.Fields, "spec", "group")
			kind, _ := textAt(crd.Fields, "spec", "names", "kind")
			if group == gvk.Group && kind == gvk.Kind {
				f.Object, f.Position, f.Field = describe(crd), crd.Locate("spec", "names", "kind"), "spec.names.kind"
			}
		}
	case isGVK:
		f.Text += ": " + kindName(gvk)
		return false
	case strings.HasPrefix(err.Detail, "invalid service account"):
		name := fmt.Sprint(err.BadValue)
		f.Rule, f.Text = "service-account", "OLM makes the ServiceAccounts that the deployments of the ClusterServiceVersion use, and fails when the bundle holds one of them"
		f.Fix = "take the file out of the bundle"
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

// atObject sets the place of a finding in an object of a kind and name.
func (c *content) atObject(f *Finding, kind, name string, path ...string) bool {
	for _, obj := range c.objects {
		if (obj.Kind() == kind || kind == "CRD" && obj.Kind() == crdKind) && obj.Name() == name {
			f.Object, f.Position, f.Field = describe(obj), obj.Locate(path...), fieldPath(path)
			return true
		}
	}
	return false
}

var (
	removedIn   = re(`removed in (v[\d.]+)\.`)
	removedList = re(`(\w+): \(\["([^"]*)"`)
	removedCSV  = re(`^ClusterServiceVersion\.Spec\.(\w+)\.(\w+)\.?(\w*)\[(\d+)\]\.(\w+)\[(\d+)\]`)
)

// locateRemoved finds the first object of an API that a version of Kubernetes does not have any more.
func (c *content) locateRemoved(f *Finding) {
	f.Rule = "removed-api"
	f.Fix = "move to the API that replaced it: https://kubernetes.io/docs/reference/using-api/deprecation-guide/"
	version := "Kubernetes"
	if m := removedIn.FindStringSubmatch(f.Text); m != nil {
		version = "Kubernetes " + m[1]
	}
	_, list, _ := strings.Cut(f.Text, "Migrate the API(s) for ")
	f.Text = fmt.Sprintf("uses APIs that %s does not have any more: %s", version, list)
	m := removedList.FindStringSubmatch(list)
	if m == nil || c.atObject(f, m[1], m[2], "apiVersion") {
		return
	}
	if place := removedCSV.FindStringSubmatch(m[2]); place != nil {
		switch place[1] {
		case "CustomResourceDefinitions":
			c.at(f, fmt.Sprintf("spec.customresourcedefinitions.%s[%s].resources[%s]", strings.ToLower(place[2]), place[4], place[6]))
		case "InstallStrategy":
			c.at(f, fmt.Sprintf("spec.install.spec.%s[%s].rules[%s]", strings.ToLower(place[3][:1])+place[3][1:], place[4], place[6]))
		}
	}
}

// explainExample finds the line of a fault in the JSON of the examples.
func (c *content) explainExample(f *Finding, err apierrors.Error) {
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
	f.Text = "is no JSON in line " + strconv.Itoa(line) + " of the text: " + syntax.Error()
	if isBlock(c.csv, f.Position) {
		f.Position.Line += line
		f.Position.Column = 0
	}
}

// isBlock tells whether the value of a key is a block of lines, so that each of its lines is one of the file.
func isBlock(obj manifest.Object, at manifest.Position) bool {
	lines := strings.Split(string(obj.Data()), "\n")
	i := at.Line - obj.Line
	if i < 0 || i >= len(lines) {
		return false
	}
	_, value, _ := strings.Cut(lines[i], ":")
	return strings.HasPrefix(strings.TrimSpace(value), "|")
}
