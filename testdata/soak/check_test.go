package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// manifestOf is a manifest with the objects of the chart in projects.
func manifestOf(tag string) string {
	var text strings.Builder
	for _, object := range []string{"ConfigMap one", "ConfigMap one-" + tag, "Secret one", "ServiceAccount one", "Service one", "Deployment one"} {
		kind, name, _ := strings.Cut(object, " ")
		fmt.Fprintf(&text, "---\n# Source: x\nkind: %s\nmetadata: {name: %s, labels: {app: one}}\ndata: {tag: %s}\n", kind, name, tag)
	}
	return text.String()
}

// recordOf returns the Secret of a revision.
func recordOf(t *testing.T, version int, status, tag string) *unstructured.Unstructured {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"name": "one", "version": version, "manifest": manifestOf(tag), "config": spec{Tag: tag}.fields(), "info": map[string]any{"status": status},
	})
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := io.Copy(w, bytes.NewReader(data)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped.Bytes())))
	return parse(fmt.Sprintf("{kind: Secret, type: helm.sh/release.v1, metadata: {name: v%d}, data: {release: %s}}", version, encoded))
}

const readyStatus = "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}"

func TestCheckRelease(t *testing.T) {
	t.Parallel()
	ready := "{kind: HelmApp, metadata: {name: one, generation: 2}, " + readyStatus + "}"
	for name, test := range map[string]struct {
		resource string
		records  []string
		change   func(map[string]*unstructured.Unstructured)
		deleted  bool
		want     []string
	}{
		"as expected":    {resource: ready, records: []string{"superseded 1", "deployed 2"}},
		"old generation": {resource: strings.Replace(ready, "generation: 2", "generation: 3", 1), records: []string{"deployed 2"}, want: []string{"generation 3 isn't Ready=True"}},
		"pending":        {resource: ready, records: []string{"deployed 2", "pending-upgrade 2"}, want: []string{"revision 2 is pending-upgrade", "the last revision isn't deployed: v1 deployed, v2 pending-upgrade"}},
		"two deployed":   {resource: ready, records: []string{"deployed 1", "deployed 2"}, want: []string{"2 revisions are deployed: v1 deployed, v2 deployed"}},
		"old values":     {resource: ready, records: []string{"deployed 1"}, want: []string{"revision 1 has the values"}},
		"missing": {resource: ready, records: []string{"deployed 2"}, want: []string{"Service one is missing"}, change: func(objects map[string]*unstructured.Unstructured) {
			delete(objects, "Service one")
		}},
		"changed": {resource: ready, records: []string{"deployed 2"}, want: []string{"ConfigMap one differs from the rendering"}, change: func(objects map[string]*unstructured.Unstructured) {
			objects["ConfigMap one"].Object["data"] = map[string]any{"tag": "3"}
		}},
		"left over": {resource: ready, records: []string{"deployed 2"}, want: []string{"ConfigMap one-1 isn't in the manifest of revision 1"}, change: func(objects map[string]*unstructured.Unstructured) {
			objects["ConfigMap one-1"] = objects["ConfigMap one"]
		}},
		"not deleted": {resource: ready, records: []string{"deployed 2"}, deleted: true, want: []string{"still exists", "leaves objects", "leaves 1 records"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot{resources: map[string]*unstructured.Unstructured{"one": parse(test.resource)}, objects: map[string]map[string]*unstructured.Unstructured{}, records: map[string][]record{}}
			for i, text := range test.records {
				status, tag, _ := strings.Cut(text, " ")
				if err := s.add(recordOf(t, i+1, status, tag)); err != nil {
					t.Fatal(err)
				}
			}
			live, err := parseManifest(manifestOf("2"))
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range live {
				if err := s.add(&unstructured.Unstructured{Object: object}); err != nil {
					t.Fatal(err)
				}
			}
			if test.change != nil {
				test.change(s.objects["one"])
			}
			problems := checkRelease(s, &resource{name: "one", spec: spec{Tag: "2"}, good: spec{Tag: "2"}, deleted: test.deleted})
			if len(problems) > 0 && len(test.want) == 0 {
				t.Errorf("problems %q", problems)
			}
			for _, want := range test.want {
				if !strings.Contains(strings.Join(problems, "\n"), want) {
					t.Errorf("problems %q, want %q", problems, want)
				}
			}
			if strays := s.strays(map[string]*resource{}); len(strays) != 2 {
				t.Errorf("strays %q", strays)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport()
	r.set("ansible", "violations", "**Violations**", fmt.Sprint(r.add("ansible", 2)))
	r.set("helm", "resources", "Custom resources", thousands(1000))
	r.set("helm", "violations", "**Violations**", fmt.Sprint(r.add("helm", 0)))
	want := "| | Helm | Ansible |\n|---|---|---|\n| Custom resources | 1,000 |  |\n| **Violations** | 0 | 2 |\n"
	if got := r.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
