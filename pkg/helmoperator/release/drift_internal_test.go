package release

import (
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parseYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestIgnoreRules(t *testing.T) {
	t.Parallel()
	const wanted = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a, labels: {app: web}}, spec: {replicas: 1,
  paused: true, template: {spec: {containers: [{name: a, image: one}, {name: b, image: two}]}}}, list: [1, 2], "a/b~c": x}`
	const live = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: a}, spec: {replicas: 5,
  template: {spec: {containers: [{name: injected, image: zero}, {name: b, image: changed}]}}}, list: [3], "a/b~c": z}`
	for name, test := range map[string]struct {
		rule IgnoreRule
		want string
	}{
		"field":           {IgnoreRule{Paths: []string{"/spec/replicas"}}, `{replicas: 5, paused: true}`},
		"removed":         {IgnoreRule{Paths: []string{"/spec/paused"}}, `{replicas: 1}`},
		"not in manifest": {IgnoreRule{Paths: []string{"/spec/other", "/status/a", "/spec/template/spec/containers/7/image"}}, `{replicas: 1, paused: true}`},
		"all patterns": {IgnoreRule{
			Paths: []string{"/spec/replicas"}, Group: "apps", Version: "v1", Kind: "Deploy.*", Name: "web|api", Namespace: "a", LabelSelector: "app=web",
		}, `{replicas: 5, paused: true}`},
		"another kind":    {IgnoreRule{Paths: []string{"/spec/replicas"}, Kind: "Deploy"}, `{replicas: 1, paused: true}`},
		"another label":   {IgnoreRule{Paths: []string{"/spec/replicas"}, LabelSelector: "app!=web"}, `{replicas: 1, paused: true}`},
		"another version": {IgnoreRule{Paths: []string{"/spec/replicas"}, Version: "v2"}, `{replicas: 1, paused: true}`},
	} {
		rules, err := ParseIgnoreRules([]IgnoreRule{test.rule})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := parseYAML(t, wanted)
		rules.apply(got, parseYAML(t, live))
		spec := got.Object["spec"].(map[string]any)
		delete(spec, "template")
		if want := parseYAML(t, test.want).Object; !reflect.DeepEqual(spec, want) {
			t.Errorf("%s: got %v, want %v", name, spec, want)
		}
	}

	rules, err := ParseIgnoreRules([]IgnoreRule{{Paths: []string{"/spec/template/spec/containers/1/image", "/list/0", "/list/1", "/a~1b~0c"}}})
	if err != nil {
		t.Fatal(err)
	}
	got := parseYAML(t, wanted)
	rules.apply(got, parseYAML(t, live))
	containers, _, _ := unstructured.NestedSlice(got.Object, "spec", "template", "spec", "containers")
	if containers[1].(map[string]any)["image"] != "changed" || containers[0].(map[string]any)["image"] != "one" ||
		fmt.Sprint(got.Object["list"]) != "[3 2]" || got.Object["a/b~c"] != "z" {
		t.Errorf("got %v", got.Object)
	}
	for text, rule := range map[string]IgnoreRule{
		`rule 1: path "a": must be a JSON pointer, such as /spec/replicas`:             {Paths: []string{"a"}},
		"rule 1: error parsing regexp: missing closing ): `^(?:()$`":                   {Name: "("},
		"rule 1: label selector: unable to parse requirement: found 'b' expected: '('": {LabelSelector: "a in b"},
	} {
		if _, err := ParseIgnoreRules([]IgnoreRule{rule}); err == nil || err.Error() != text {
			t.Errorf("%+v: %v, want %s", rule, err, text)
		}
	}
}

func TestIsScaled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`: true,
		`{manager: kube-controller-manager, fieldsV1: {"f:spec": {"f:replicas": {}}}}`:                     false,
		`{manager: kubectl, subresource: scale, fieldsV1: {"f:spec": {"f:replicas": {}}}}`:                 false,
		`{manager: kube-controller-manager, subresource: scale, fieldsV1: {"f:metadata": {}}}`:             false,
		`{manager: kube-controller-manager, subresource: scale}`:                                           false,
	} {
		if got := isScaled(parseYAML(t, "{metadata: {managedFields: ["+text+"]}}")); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
