package operatorchart

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/merge"
)

// peersChart returns the chart in a file of testdata.
func peersChart(t *testing.T, file string) Files {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	files := Files{}
	for _, f := range txtar.Parse([]byte(strings.ReplaceAll(string(text), "\r\n", "\n"))).Files {
		files[f.Name] = f.Data
	}
	return files
}

// edit replaces a part of a file.
func edit(t *testing.T, files Files, name, from, to string) {
	t.Helper()
	text := string(files[name])
	if !strings.Contains(text, from) {
		t.Fatalf("%s doesn't contain %q", name, from)
	}
	files[name] = []byte(strings.Replace(text, from, to, 1))
}

// continued returns the chart that continues another one.
func continued(t *testing.T, o Options, existing Files) Files {
	t.Helper()
	chart, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	if !HasForm(existing) || !IsNamed(existing, o.Name) || IsNamed(existing, "other") {
		t.Fatal("not recognized as kubebuilder's")
	}
	takeover, err := chart.Continue(existing)
	if err != nil {
		t.Fatal(err)
	}
	if err := chart.Document(takeover.Ours[valuesFile]); err != nil {
		t.Fatal(err)
	}
	result := merge.Files(takeover.Base, takeover.Ours, chart.Files, merge.FilesOptions{
		IsTemplate: func(name string) bool { return strings.HasPrefix(name, "templates/") },
	})
	if result.Conflicts() != nil {
		t.Fatalf("conflicts in %v", result.Conflicts())
	}
	return result.Files
}

// TestContinue checks that a chart of kubebuilder's plugin keeps its values, its version, and the user's templates and helpers.
func TestContinue(t *testing.T) {
	for _, test := range []struct {
		file string
		// edits are parts of values.yaml, and set the values that continue them.
		edits [][2]string
		set   map[string]any
	}{
		{"kubebuilder-4.16.txtar", [][2]string{
			{"  replicas: 1", "  replicas: 7"}, {"    - --leader-elect\n", "    - --leader-elect\n    - --mine\n"},
			{"  # priorityClassName: \"\"", "  priorityClassName: high"}, {"  ## Arguments", "  ## My arguments"}, {"    enabled: false", "    enabled: true"},
			{"    pullPolicy: IfNotPresent", "    pullPolicy: \"\""},
		}, map[string]any{"manager": map[string]any{"replicas": 7, "priorityClassName": "high", "args": []any{"--leader-elect", "--mine"}}}},
		{"kubebuilder-4.6.txtar", [][2]string{
			{"  replicas: 1", "  replicas: 7"}, {"      - \"--leader-elect\"\n", "      - \"--leader-elect\"\n      - --mine\n"},
			{"      repository: controller", "      repository: example.com/mine"},
			{"networkPolicy:\n  enable: false", "networkPolicy:\n  enable: true"},
		}, map[string]any{
			"manager": map[string]any{"replicas": 7, "args": []any{"--leader-elect", "--mine"}, "image": map[string]any{"repository": "example.com/mine"},
				"securityContext": map[string]any{"readOnlyRootFilesystem": nil}}, // that version of the plugin leaves it out
			"networkPolicy": map[string]any{"enabled": true},
		}},
	} {
		t.Run(test.file, func(t *testing.T) {
			o := golden(t, "memcached")
			existing := peersChart(t, test.file)
			for _, e := range test.edits {
				edit(t, existing, valuesFile, e[0], e[1])
			}
			edit(t, existing, "Chart.yaml", "version: 0.1.0", "version: 2.3.4")
			existing["templates/mine.yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include \"mine.name\" . }}\n" +
				"  namespace: {{ .Release.Namespace }}\n")
			if test.file == "kubebuilder-4.16.txtar" {
				edit(t, existing, "templates/mine.yaml", ".Release.Namespace", `include "memcached-operator.namespaceName" .`)
			}
			existing["templates/manager/config.yaml"] = []byte("{{- /* mine, in a directory of the plugin */ -}}\n")
			existing[helpersFile] = append(existing[helpersFile], "\n{{/* Mine. */}}\n{{- define \"mine.name\" -}}\nmine\n{{- end }}\n"...)
			files := continued(t, o, existing)
			got, err := render(files, nil, o.Name, o.Name+"-system")
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := got["ConfigMap memcached-operator-system/mine"]; !ok {
				t.Error("the user's template is missing")
			}
			if files["templates/manager/config.yaml"] == nil {
				t.Error("the user's template in a directory of the plugin is missing")
			}
			delete(got, "ConfigMap memcached-operator-system/mine")
			chart, err := Make(o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := render(chart.Files, test.set, o.Name, o.Name+"-system")
			if err != nil {
				t.Fatal(err)
			}
			selector := manifest.MapAt(got["Deployment memcached-operator-system/memcached-operator-controller-manager"].Fields, "spec", "selector", "matchLabels")
			if isOlder := test.file == "kubebuilder-4.6.txtar"; isOlder != (selector["app.kubernetes.io/instance"] == o.Name) {
				t.Errorf("the selector is %v", selector)
			}
			for _, objects := range []map[string]bool{keys(got), keys(want)} {
				for name := range objects {
					for _, o := range []map[string]any{got[name].Fields, want[name].Fields} {
						dropChart(o)
					}
					if !reflect.DeepEqual(got[name].Fields, want[name].Fields) {
						t.Errorf("%s:\n%s", name, difference(t, want[name], got[name]))
					}
				}
			}
			if text := string(files[valuesFile]); strings.Contains(test.file, "4.16") && !strings.Contains(text, "## My arguments") {
				t.Error("the comments of values.yaml are lost")
			}
			if !strings.Contains(string(files["Chart.yaml"]), "version: 2.3.4") {
				t.Error("the version of the chart is lost")
			}
			if test.file == "kubebuilder-4.6.txtar" {
				return
			}
			again := continued(t, o, files)
			for name, content := range files {
				if string(again[name]) != string(content) {
					t.Errorf("%s changes again", name)
				}
			}
		})
	}
}

// TestContinueWithoutRecord checks that a chart of Make whose record is lost continues as it is.
func TestContinueWithoutRecord(t *testing.T) {
	o := golden(t, "memcached")
	chart, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range continued(t, o, chart.Files) {
		if string(chart.Files[name]) != string(content) {
			t.Errorf("%s changes:\n%s", name, lineDiff(string(chart.Files[name]), string(content)))
		}
	}
}

func keys[V any](m map[string]V) map[string]bool {
	all := map[string]bool{}
	for name := range m {
		all[name] = true
	}
	return all
}

// dropChart removes the labels with the version of the chart and the release.
func dropChart(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "helm.sh/chart")
		delete(v, "app.kubernetes.io/instance")
		for _, inner := range v {
			dropChart(inner)
		}
	case []any:
		for _, inner := range v {
			dropChart(inner)
		}
	}
}
