package helmchart

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCRDRules derives the permissions on the CRDs of a chart for each value of the key crds in watches.yaml.
func TestCRDRules(t *testing.T) {
	t.Parallel()
	rendered := &Rendered{CRDs: objects(t, []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: geese.example.org}\n"))}
	api := func(policy string) ChartAPI {
		return ChartAPI{Group: "example.com", Plural: "apps", Rendered: rendered, CRDs: policy}
	}
	for name, test := range map[string]struct {
		apis []ChartAPI
		want string
	}{
		"default":       {[]ChartAPI{api("")}, "[] create; [geese.example.org] get list patch watch"},
		"createReplace": {[]ChartAPI{api("createReplace")}, "[] create; [geese.example.org] get list patch watch"},
		"create":        {[]ChartAPI{api("create")}, "[] create; [geese.example.org] get"},
		"skip":          {[]ChartAPI{api("skip")}, ""},
		"two kinds":     {[]ChartAPI{api("skip"), api("create")}, "[] create; [geese.example.org] get"},
	} {
		rules, _ := Rules(test.apis)
		var got []string
		for _, rule := range rules {
			if rule.Resources[0] == "customresourcedefinitions" {
				got = append(got, fmt.Sprint(rule.ResourceNames, " ", strings.Join(rule.Verbs, " ")))
			}
		}
		if got := strings.Join(got, "; "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestRecordSize reports charts whose releases do not fit into a Secret, with their default values.
func TestRecordSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[random.IntN(62)]
	}
	for name, test := range map[string]struct {
		text, off string
		want      bool
	}{
		"small":        {text: "a"},
		"compressible": {text: strings.Repeat("abcdefgh", 1<<19)},
		"large":        {text: string(text), want: true},
		"a switch":     {off: string(text)},
	} {
		rendered, err := Explore(t.Context(), Files{"values.yaml": []byte("more: {enabled: false}\n")}, func(_ context.Context, request RenderRequest) (*RenderAnswer, error) {
			answer := &RenderAnswer{}
			for _, values := range request.Values {
				content := test.text
				if len(values) > 0 {
					content += test.off
				}
				answer.Renderings = append(answer.Renderings, Rendering{Objects: []RenderedObject{{Template: "app/templates/c.yaml", Object: map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"text": content},
				}}}})
			}
			return answer, nil
		})
		check(t, err)
		_, notes := Rules([]ChartAPI{{Group: "example.com", Plural: "apps", Dir: "helm-charts/app", Rendered: rendered}})
		found := false
		for _, note := range notes {
			found = found || note.File == "helm-charts/app/Chart.yaml" && strings.HasPrefix(note.Problem, "with default values, a compressed release has about 1022 KiB")
		}
		if found != test.want {
			t.Errorf("%s: %.300v", name, notes)
		}
	}
}

// TestTestRules derives permissions on the objects of tests only for operators that run them.
func TestTestRules(t *testing.T) {
	t.Parallel()
	list := objects(t, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: test}\n"))
	list[1].Hooks = []string{"test"}
	for _, enabled := range []bool{false, true} {
		rules, _ := Rules([]ChartAPI{{Group: "example.com", Plural: "apps", Rendered: &Rendered{Sets: []RenderedSet{{Rendering: Rendering{Objects: list}}}}, Tests: enabled}})
		if got := strings.Contains(fmt.Sprint(rules), "pods"); got != enabled || !strings.Contains(fmt.Sprint(rules), "configmaps") {
			t.Errorf("tests %v: rules %v", enabled, rules)
		}
	}
}
