package scorecard

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/scorecard"
	"github.com/operon-sdk/operon/testdata/cases"
)

// scorecardEdit changes a good bundle: the first old text of a file becomes new. Without old, the file
// is written; without both, it is removed.
type scorecardEdit struct{ file, old, new string }

const (
	otterCSV  = "manifests/otter-operator.clusterserviceversion.yaml"
	otterCRD  = "manifests/sea.otters.example_otters.yaml"
	otterNote = "metadata/annotations.yaml"
)

// scorecardEdits are bundles with one fault each, or one thing more, made from a good one.
func scorecardEdits() map[string][]scorecardEdit {
	const size = `"size": 3`
	const version = "      version: v1\n"
	const spec = "          \"spec\": {\n            \"size\": 3\n          }\n"
	return map[string][]scorecardEdit{
		"no examples":            {{otterCSV, "    alm-examples: |-", "    other: |-"}},
		"empty examples":         {{otterCSV, "    alm-examples: |-", "    alm-examples: \"\"\n    other: |-"}},
		"broken examples":        {{otterCSV, size, `"size": `}},
		"examples no list":       {{otterCSV, "      [\n", "      {\"kind\": \"A\"}\n"}},
		"example without kind":   {{otterCSV, `          "kind": "Otter",` + "\n", ""}},
		"example of another":     {{otterCSV, `"kind": "Otter"`, `"kind": "Walrus"`}},
		"example version case":   {{otterCSV, `"sea.otters.example/v1"`, `"sea.otters.example/V1"`}},
		"unknown spec fields":    {{otterCSV, size, size + `, "zoo": 1, "area": 2`}},
		"no spec":                {{otterCSV, spec, "          \"status\": {}\n"}},
		"another without spec":   {{otterCSV, spec, "          \"status\": {}\n"}, {otterCSV, `"kind": "Otter"`, `"kind": "Walrus"`}},
		"status":                 {{otterCSV, spec, spec[:len(spec)-1] + ",\n          \"status\": {\"phase\": \"x\"}\n"}},
		"unknown status":         {{otterCSV, spec, spec[:len(spec)-1] + ",\n          \"status\": {\"moon\": \"x\"}\n"}},
		"empty status":           {{otterCSV, spec, spec[:len(spec)-1] + ",\n          \"status\": {}\n"}},
		"descriptors":            {{otterCSV, version, version + "      resources: [{kind: Deployment, name: \"\", version: v1}]\n      specDescriptors: [{path: size}]\n      statusDescriptors: [{path: phase}]\n"}},
		"descriptors elsewhere":  {{otterCSV, version, version + "      specDescriptors: [{path: weight}]\n"}},
		"status descriptor":      {{otterCSV, version, version + "      statusDescriptors: [{path: phase}]\n"}, {otterCSV, spec, spec[:len(spec)-1] + ",\n          \"status\": {\"phase\": \"x\"}\n"}},
		"two examples":           {{otterCSV, "        }\n      ]", "        },\n        {\"apiVersion\": \"a/v1\", \"kind\": \"B\", \"metadata\": {\"name\": \"b\"}, \"spec\": {\"z\": 1, \"a\": 2}}\n      ]"}},
		"spec is a list":         {{otterCSV, spec, "          \"spec\": [1]\n"}},
		"status is a text":       {{otterCSV, spec, spec[:len(spec)-1] + ",\n          \"status\": \"x\"\n"}},
		"no schema":              {{otterCRD, "    schema:\n", "    x-schema:\n"}},
		"empty schema":           {{otterCRD, "      openAPIV3Schema:\n", "      x-openAPIV3Schema:\n"}},
		"v1beta1":                {{otterCRD, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v1beta1\n"}},
		"v1beta1 version":        {{otterCRD, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v1beta1\n"}, {otterCRD, "  versions:\n", "  version: v1\n  x-versions:\n"}},
		"crd of v9":              {{otterCRD, "apiextensions.k8s.io/v1\n", "apiextensions.k8s.io/v9\n"}},
		"owns nothing":           {{otterCSV, "    owned:\n", "    required:\n"}},
		"no channels":            {{otterNote, "  operators.operatorframework.io.bundle.channels.v1: stable\n", ""}},
		"empty default":          {{otterNote, "default.v1: stable", "default.v1: \"\""}, {otterNote, "package.v1: otter-operator", "package.v1: \"\""}},
		"media type":             {{otterNote, "registry+v1", "plain+v0"}},
		"dependencies":           {{"metadata/dependencies.yaml", "", "dependencies:\n- type: olm.package\n  value: {packageName: a, version: \">1.0.0\"}\n"}},
		"wrong dependencies":     {{"metadata/dependencies.yaml", "", "dependencies:\n- type: olm.package\n  value: {packageName: \"\", version: \">>x\"}\n- type: olm.gvk\n  value: {group: \"\"}\n- type: foo\n  value: {a: b}\n- type: olm.label\n  value: {label: \"\"}\n"}},
		"broken dependencies":    {{"metadata/dependencies.yaml", "", "dependencies: [\n"}},
		"hidden":                 {{"manifests/.x", "", "a: b\n"}},
		"text":                   {{"manifests/x.txt", "", "hello\n"}},
		"folder":                 {{"manifests/sub/x.yaml", "", "a: b\n"}},
		"chart":                  {{"manifests/Chart.yaml", "", "apiVersion: v2\nname: x\nversion: 1.0.0\n"}},
		"annotations twice":      {{"manifests/annotations.yaml", "", "annotations: {operators.operatorframework.io.bundle.package.v1: foo}\n"}},
		"broken annotations":     {{"tests/annotations-x.yaml", "", "a: [\n"}},
		"deployment":             {{"manifests/d.yaml", "", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"}},
		"documents":              {{"manifests/s.yaml", "", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"}},
		"csv of no other folder": {{"tests/x.yaml", "", "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: x.v1.0.0}\n"}},
		"csv version":            {{otterCSV, "  version: 1.2.0\n", "  version: 1.x\n"}},
		"metadata elsewhere":     {{"meta/annotations.yaml", "", "annotations:\n  a: b\n"}, {otterNote, "", ""}},
	}
}

// caseBundle writes the bundle of a case of bundle validate.
func caseBundle(t *testing.T, name string) string {
	t.Helper()
	c, err := cases.Read("validate/" + name)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.CopyFS(work, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(work, "bundle")
}

// writeEdited makes the bundle of edits.
func writeEdited(t *testing.T, edits []scorecardEdit) string {
	t.Helper()
	dir := caseBundle(t, "01-good")
	for _, e := range edits {
		name := filepath.Join(dir, filepath.FromSlash(e.file))
		switch {
		case e.old != "":
			data, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(data), e.old) {
				t.Fatalf("%s: %v has no %q", e.file, err, e.old)
			}
			e.new = strings.Replace(string(data), e.old, e.new, 1)
		case e.new == "":
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(e.new), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recordedResult is what operator-sdk 1.42.3 reports for a bundle in one built-in test. Ended is how its
// program ended instead of giving a result.
type recordedResult struct {
	State               string
	Errors, Suggestions []string
	Ended               string
}

// TestScorecardAsOperatorSDK checks that the built-in tests find what operator-sdk's find, in every bundle
// that bundle validate is tested with and in the bundles of scorecardEdits.
func TestScorecardAsOperatorSDK(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(clitest.Testdata("cases", "scorecard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded map[string]map[string]recordedResult
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	edits := scorecardEdits()
	for name := range edits {
		if recorded[name] == nil {
			t.Errorf("%s: nothing is recorded", name)
		}
	}
	config := scorecardConfig(t)
	for name, tests := range recorded {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bundle string
			if edited, ok := edits[name]; ok {
				bundle = writeEdited(t, edited)
			} else {
				bundle = caseBundle(t, name)
			}
			code, out, errOut := runScorecard(t, filepath.Dir(bundle), "bundle", "--local", "-o", "json", "-c", config)
			if out == "" {
				t.Fatalf("no results: %d\n%s", code, errOut)
			}
			var list v1alpha3.TestList
			if err := json.Unmarshal([]byte(out), &list); err != nil {
				t.Fatal(err)
			}
			failed := false
			for _, item := range list.Items {
				got := item.Status.Results[0]
				failed = failed || got.State != v1alpha3.PassState
				if got.Name != item.Spec.Labels["test"] {
					t.Errorf("%s: the result is called %q", item.Spec.Labels["test"], got.Name)
				}
				compareRecorded(t, tests[got.Name], got)
			}
			if len(list.Items) != 6 || failed != (code == 1) {
				t.Errorf("%d results, exit code %d", len(list.Items), code)
			}
		})
	}
}

func compareRecorded(t *testing.T, want recordedResult, got v1alpha3.TestResult) {
	t.Helper()
	if want.Ended == "panic" { // there it is a stack trace that is no JSON
		if message := strings.Join(got.Errors, ""); got.State == v1alpha3.FailState && !strings.HasSuffix(message, "must be a mapping") ||
			got.State == v1alpha3.PassState && !slices.Contains(got.Suggestions, "Add CRD validation for Otter/v1") {
			t.Errorf("%s: got %s %q %q", got.Name, got.State, got.Errors, got.Suggestions)
		}
		return
	}
	if want.Ended != "" { // there it is a line of a log that is no JSON
		want.State, want.Errors = "fail", []string{want.Ended}
	}
	// Errors of the format come in random order there, and so do those about keys of mappings.
	values := regexp.MustCompile(`(?s)(spec\.versions: Invalid value: ).*: `)
	settle := func(texts []string) []string {
		var all []string
		for _, text := range texts {
			rest, ok := strings.CutPrefix(text, "Bundle validation errors: ")
			if !ok {
				all = append(all, text)
				continue
			}
			all = append(all, strings.Split(rest, ",")...)
		}
		slices.Sort(all)
		for i, text := range all {
			// The path of a missing directory is not printed there, and values are printed as Go or as JSON has them.
			all[i] = strings.ReplaceAll(text, "invalid file: <nil>", "unable to load file bundle/deploy: no such file or directory")
			all[i] = values.ReplaceAllString(all[i], "${1}...: ")
		}
		return all
	}
	for _, pair := range []struct {
		what      string
		want, got []string
	}{{"errors", want.Errors, got.Errors}, {"suggestions", want.Suggestions, got.Suggestions}} {
		if w, g := settle(pair.want), settle(pair.got); !slices.Equal(w, g) {
			t.Errorf("%s: %s differ\ngot  %q\nwant %q", got.Name, pair.what, g, w)
		}
	}
	if string(got.State) != want.State {
		t.Errorf("%s: %s, want %s", got.Name, got.State, want.State)
	}
}

// scorecardConfig writes a configuration with all built-in tests.
func scorecardConfig(t *testing.T) string {
	t.Helper()
	var config v1alpha3.Configuration
	stage := v1alpha3.StageConfiguration{Parallel: true}
	for _, name := range scorecard.BuiltIns() {
		stage.Tests = append(stage.Tests, v1alpha3.TestConfiguration{
			Image: "registry.test/tests:v1", Entrypoint: []string{"scorecard-test", name}, Labels: map[string]string{"test": name},
		})
	}
	config.Stages = []v1alpha3.StageConfiguration{stage}
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// runScorecard runs scorecard in this process, without a network or an environment.
func runScorecard(t *testing.T, dir string, args ...string) (code int, out, errOut string) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: dir, FS: afero.NewOsFs()}
	code = cmd.Main(t.Context(), env, append([]string{"operon", "scorecard"}, args...))
	if strings.Contains(o.String()+e.String(), dir) {
		t.Errorf("the output contains a local directory:\n%s%s", o.String(), e.String())
	}
	return code, o.String(), e.String()
}
