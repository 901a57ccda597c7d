package source

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// TestTemplate compares the manifests with those that 'helm template demo web --namespace web' prints with the same options.
func TestTemplate(t *testing.T) {
	t.Parallel()
	files := fetchDir(t, writePublished(t))
	const name = "testdata/template.txtar"
	golden, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		args    string
		request helmchart.TemplateRequest
	}{
		{args: "defaults"},
		{"--set replicas=3 --include-crds --no-hooks", helmchart.TemplateRequest{Values: helmchart.ValueOptions{Set: []string{"replicas=3"}}, IncludeCRDs: true, NoHooks: true}},
		{"--set-string replicas=3 --set db.enabled=false", helmchart.TemplateRequest{Values: helmchart.ValueOptions{SetString: []string{"replicas=3"}, Set: []string{"db.enabled=false"}}}},
		{"--kube-version 1.33 --api-versions monitoring.coreos.com/v1", helmchart.TemplateRequest{KubeVersion: "1.33", APIVersions: []string{"monitoring.coreos.com/v1"}}},
		{"--show-only templates/s*.yaml --show-only templates/tests/hook.yaml", helmchart.TemplateRequest{ShowOnly: []string{"templates/s*.yaml", "templates/tests/hook.yaml"}}},
	} {
		request := test.request
		request.Files, request.ReleaseName, request.Namespace = files, "demo", "web"
		answer, err := Template(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			golden.Files = append(golden.Files[:i], txtar.File{Name: test.args, Data: []byte(answer.Manifests)})
		} else if want := golden.Files[i]; want.Name != test.args || answer.Manifests != string(want.Data) {
			t.Errorf("%s: got:\n%s\nwant:\n%s", test.args, answer.Manifests, want.Data)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(golden), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		request helmchart.TemplateRequest
		want    string
	}{
		{helmchart.TemplateRequest{ShowOnly: []string{"templates/no.yaml"}}, "no template of the chart with that path"},
		{helmchart.TemplateRequest{KubeVersion: "new"}, "must be a version of Kubernetes"},
		{helmchart.TemplateRequest{Values: helmchart.ValueOptions{Set: []string{"a"}}}, `--set "a": key "a" has no value`},
		{helmchart.TemplateRequest{Values: helmchart.ValueOptions{Files: []helmchart.ValuesFile{{Name: "v.yaml", Text: []byte("- a\n")}}}}, "v.yaml: must be a mapping of keys to values"},
	} {
		test.request.Files, test.request.ReleaseName = files, "demo"
		if _, err := Template(t.Context(), test.request); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// TestUserValues checks the order in which values override each other.
func TestUserValues(t *testing.T) {
	t.Parallel()
	values, err := userValues(helmchart.ValueOptions{
		Files:     []helmchart.ValuesFile{{Name: "a", Text: []byte("a: {b: 1, c: 1}\nd: 1\n")}, {Name: "b", Text: []byte("a: {b: 2}\n")}, {Name: "empty"}},
		Set:       []string{"a.c=3,list={x,y}"},
		SetString: []string{"d=4"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(values), "map[a:map[b:2 c:3] d:4 list:[x y]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok := values["d"].(string); !ok || !slices.Equal(sortedKeys(values), []string{"a", "d", "list"}) {
		t.Errorf("--set-string gives %T", values["d"])
	}
}
