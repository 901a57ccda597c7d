package validate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/testdata/cases"
)

const (
	csvFile = "manifests/otter-operator.clusterserviceversion.yaml"
	crdFile = "manifests/sea.otters.example_otters.yaml"
)

// good returns the recorded bundle without problems.
func good(t *testing.T) fstest.MapFS {
	t.Helper()
	c, err := cases.Read("validate/01-good")
	if err != nil {
		t.Fatal(err)
	}
	return c.FS("tree/bundle")
}

// edit replaces text in a file and fails the test if the file lacks it.
func edit(t *testing.T, files fstest.MapFS, name, from, to string) {
	t.Helper()
	before := string(files[name].Data)
	if !strings.Contains(before, from) {
		t.Fatalf("%s does not contain %q", name, from)
	}
	files[name] = &fstest.MapFile{Data: []byte(strings.Replace(before, from, to, 1))}
}

func check(t *testing.T, files fs.FS, o validate.Options) validate.Result {
	t.Helper()
	result, err := validate.Bundle(t.Context(), validate.Source{FS: files, Name: "bundle"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestGoodBundle(t *testing.T) {
	t.Parallel()
	if findings := check(t, good(t), validate.Options{Strict: true}).Findings; len(findings) > 0 {
		t.Error(findings)
	}
}

// TestRules makes one mistake at a time in a good bundle. Each must have one finding with position, field and fix: a
// warning that --strict makes an error.
func TestRules(t *testing.T) {
	t.Parallel()
	const image = "registry.otters.example/otter-operator:1.2.0\n                name"
	const rule = "          verbs:\n          - get"
	tests := []struct{ rule, file, from, to, field string }{
		{"image-tag", csvFile, image, "registry.otters.example:5000/otter-operator\n                name", "spec.install.spec.deployments[0].spec.template.spec.containers[0].image"},
		{"image-latest", csvFile, image, "registry.otters.example/otter-operator:latest\n                name", "spec.install.spec.deployments[0].spec.template.spec.containers[0].image"},
		{"image-placeholder", csvFile, image, "controller:latest\n                name", "spec.install.spec.deployments[0].spec.template.spec.containers[0].image"},
		{"icon", csvFile, "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=", `""`, "spec.icon[0].base64data"},
		{"icon", csvFile, "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=", "bm8gcGljdHVyZQ==", "spec.icon[0].mediatype"},
		{"placeholder", csvFile, "Looks after otters.", "Otter Operator description. TODO.", "spec.description"},
		{"placeholder", csvFile, "https://otters.example\n  maint", "https://your.domain\n  maint", "spec.links[0].url"},
		{"min-kube-version", csvFile, "  minKubeVersion: 1.28.0\n", "", "spec.minKubeVersion"},
		{"sample-invalid", csvFile, `"size": 3`, `"size": "many"`, "metadata.annotations.alm-examples"},
		{"sample-unknown-field", csvFile, `"size": 3`, `"size": 3, "sise": 4`, "metadata.annotations.alm-examples"},
		{"examples", csvFile, "      [\n        {", "      []\n    unused: |-\n      [\n        {", "metadata.annotations.alm-examples"},
		{"rbac-wildcard", csvFile, rule, "          verbs:\n          - '*'", "spec.install.spec.clusterPermissions[0].rules[0].verbs"},
		{"permissions-unused", csvFile, "        serviceAccountName: otter-operator\n      deployments", "        serviceAccountName: nobody\n      deployments", "spec.install.spec.clusterPermissions[0].serviceAccountName"},
		{"csv-name", csvFile, "  version: 1.2.0", "  version: 1.3.0", "metadata.name"},
		{"csv-version", csvFile, "  version: 1.2.0", "  version: v1.2.0", "spec.version"},
		{"package", "metadata/annotations.yaml", "package.v1: otter-operator", "package.v1: weasel-operator", "metadata.name"},
		{"replaces", csvFile, "  version: 1.2.0", "  replaces: otter-operator.v1.2.0\n  version: 1.2.0", "spec.replaces"},
		{"replaces", csvFile, "    support:", "    olm.skipRange: '>=1.0.0 <=1.2.0'\n    support:", `metadata.annotations["olm.skipRange"]`},
		{"default-channel", "metadata/annotations.yaml", "default.v1: stable", "default.v1: fast", `annotations["operators.operatorframework.io.bundle.channel.default.v1"]`},
		{"unknown-field", csvFile, "  maturity: stable", "  maturitee: stable", "spec.maturitee"},
		{"duplicate-key", csvFile, "  maturity: stable", "  maturity: stable\n  maturity: beta", "spec.maturity"},
		{"related-images", csvFile, "  version: 1.2.0", "  relatedImages: [{name: a, image: Quay.io/Otters}]\n  version: 1.2.0", "spec.relatedImages[0].image"},
		{"release", csvFile, "  version: 1.2.0", "  release: '1'\n  version: 1.2.0", "spec.release"},
		{"release", csvFile, "  version: 1.2.0", "  release: a_b\n  version: 1.2.0", "spec.release"},
		{"icon", csvFile, "  icon:\n  - base64data: PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=\n    mediatype: image/svg+xml", "  icon: []", "spec.icon"},
		{"crd-schema", crdFile, "type: integer", "type: intger", "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].type"},
	}
	for _, test := range tests {
		t.Run(test.rule+" "+test.field, func(t *testing.T) {
			t.Parallel()
			files := good(t)
			edit(t, files, test.file, test.from, test.to)
			var found bool
			result := check(t, files, validate.Options{AsOperatorSDK: true})
			for _, f := range result.Findings {
				if f.Rule == test.rule && f.Field == test.field {
					found = true
					if f.Severity != diag.Warning || f.Line == 0 || f.Column == 0 || f.Fix == "" || f.Problem == "" {
						t.Errorf("%+v", f)
					}
				}
			}
			if !found || !result.Passed() {
				t.Errorf("Findings = %v", result.Findings)
			}
			if check(t, files, validate.Options{Strict: true}).Passed() {
				t.Error("Passed() = true with --strict")
			}
			if passed := check(t, files, validate.Options{}).Passed(); passed == (test.rule == "crd-schema") { // OLM can't install it
				t.Errorf("Passed() = %v by default", passed)
			}
		})
	}
}

// TestUnknownSampleFields checks the paths of unknown fields in samples, and that a schema can keep them.
func TestUnknownSampleFields(t *testing.T) {
	t.Parallel()
	for keep, want := range map[string]string{
		"": "spec.pod.speck spec.sise status.fase",
		"            x-kubernetes-preserve-unknown-fields: true\n": "spec.pod.speck status.fase",
	} {
		files := good(t)
		edit(t, files, csvFile, `"spec": {`, `"status": {"fase": "Up"}, "spec": {"sise": 4, "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "speck": 1},`)
		edit(t, files, crdFile, "            properties:\n              size:\n", keep+
			"            properties:\n              pod:\n                type: object\n                x-kubernetes-embedded-resource: true\n                properties: {spec: {type: object}}\n              size:\n")
		var paths []string
		for _, f := range check(t, files, validate.Options{}).Findings {
			if f.Rule == "sample-unknown-field" {
				paths = append(paths, strings.Fields(strings.SplitAfter(f.Problem, "has the field ")[1])[0])
			}
		}
		if got := strings.ReplaceAll(strings.Join(paths, " "), ",", ""); got != want {
			t.Errorf("unknown fields %q, want %q", got, want)
		}
	}
}

// TestObjectRules adds objects to a good bundle.
func TestObjectRules(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, objects string }{
		{"duplicate-object", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n|apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"},
		{"service-account-unused", "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n"},
		{"removed-api", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n  maxUnavailable: 1\n"},
		{"object-advice", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: a\nspec:\n  maxUnavailable: 0\n"},
		{"rbac-wildcard", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\nrules:\n- apiGroups: ['*']\n  resources: [pods]\n  verbs: [get]\n"},
		{"further-document", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			files := good(t)
			for i, object := range strings.Split(test.objects, "|") {
				files[fmt.Sprintf("manifests/x%d.yaml", i)] = &fstest.MapFile{Data: []byte(object)}
			}
			result := check(t, files, validate.Options{})
			if len(result.Findings) != 1 || result.Findings[0].Rule != test.rule || result.Findings[0].Severity != diag.Warning {
				t.Errorf("Findings = %v", result.Findings)
			}
		})
	}
}

// TestBadFiles checks unreadable files, and that all other files are still checked.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, data, want string
	}{
		"binary":    {"manifests/x.yaml", "\x00\x01\x02", "binary data"},
		"not utf8":  {"manifests/x.yaml", "a: \xff\xfe\n", "not UTF-8"},
		"utf16":     {"manifests/x.yaml", "\xff\xfea\x00", "UTF-16"},
		"huge":      {"manifests/x.yaml", strings.Repeat("# a line\n", 1<<20), "and the limit is"},
		"tabs":      {"manifests/x.yaml", "a:\n\tb: c\n", "with spaces, not tabs"},
		"empty":     {"manifests/x.yaml", "\n# nothing\n", "has no object"},
		"list":      {"manifests/x.yaml", "- a\n", "it is a list"},
		"leading":   {"manifests/x.yaml", "# comment\n---\nkind: ConfigMap\n", "only the first document"},
		"directive": {"manifests/x.yaml", "%YAML 1.2\n---\nkind: ConfigMap\n", "a YAML directive"},
		"versions":  {"manifests/x.yaml", "apiVersion: a/b/c\nkind: ConfigMap\n", "not a group and version"},
		"nested":    {"manifests/more/x.yaml", "kind: ConfigMap\n", "directory among the manifests"},
		"hidden":    {"manifests/.x.yaml", "kind: ConfigMap\n", "hidden file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := good(t)
			files[test.name] = &fstest.MapFile{Data: []byte(test.data)}
			files["manifests/z.yaml"] = &fstest.MapFile{Data: []byte("kind: [\n")}
			result := check(t, files, validate.Options{})
			text := fmt.Sprint(result.Findings)
			if result.Count(diag.Error) != 2 || !strings.Contains(text, test.want) || !strings.Contains(text, "z.yaml") {
				t.Errorf("Findings = %v", result.Findings)
			}
		})
	}
}

// TestToleratedFiles checks files in the forms of editors on other systems.
func TestToleratedFiles(t *testing.T) {
	t.Parallel()
	files := good(t)
	for name, file := range files {
		file.Data = append([]byte("\xef\xbb\xbf"), bytes.ReplaceAll(file.Data, []byte("\n"), []byte("\r\n"))...)
		files[name] = file
	}
	if findings := check(t, files, validate.Options{Strict: true}).Findings; len(findings) > 0 {
		t.Error(findings)
	}
}

// TestSymlink checks that links out of the bundle are rejected and others followed.
func TestSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bundle := filepath.Join(dir, "bundle")
	if err := os.CopyFS(bundle, good(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "secret.yaml"), []byte("kind: Secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "..", "secret.yaml"), filepath.Join(bundle, "manifests", "out.yaml")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("Windows requires a privilege for symbolic links: %v", err)
		}
		t.Fatal(err)
	}
	root, err := os.OpenRoot(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	result := check(t, root.FS(), validate.Options{})
	if len(result.Findings) != 1 || result.Findings[0].Rule != "symlink" || result.Passed() {
		t.Errorf("Findings = %v", result.Findings)
	}
}

// TestBundles checks many bundles at once: results are emitted in order, each as soon as it is ready.
func TestBundles(t *testing.T) {
	t.Parallel()
	const n = 60
	opened := make(chan int, 2*n)
	var sources []func() validate.Source
	for i := range n {
		sources = append(sources, func() validate.Source {
			opened <- i
			files := good(t)
			if i%7 == 3 {
				edit(t, files, csvFile, "  displayName: Otter Operator\n", "")
			}
			return validate.Source{FS: files, Name: fmt.Sprint(i)}
		})
	}
	next, early := 0, false
	err := validate.Bundles(t.Context(), sources, validate.Options{}, func(r validate.Result) error {
		if r.Bundle != fmt.Sprint(next) || r.Passed() == (next%7 == 3) {
			t.Errorf("result %d is %s %v", next, r.Bundle, r.Findings)
		}
		next++
		early = early || len(opened) < n
		return nil
	})
	if err != nil || next != n || !early {
		t.Errorf("Bundles() = %v after %d results, early = %v", err, next, early)
	}
	stop := errors.New("stop")
	if err := validate.Bundles(t.Context(), sources[:3], validate.Options{}, func(validate.Result) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := validate.Bundles(ctx, sources[:3], validate.Options{}, func(validate.Result) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFormats checks the machine-readable formats.
func TestFormats(t *testing.T) {
	t.Parallel()
	bad := good(t)
	edit(t, bad, csvFile, "  displayName: Otter Operator\n", "")
	results := []validate.Result{check(t, good(t), validate.Options{}), check(t, bad, validate.Options{})}
	write := func(format string, results ...validate.Result) []byte {
		var b bytes.Buffer
		w := validate.NewWriter(&b, format)
		for _, r := range results {
			if err := w.Result(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if got := string(write(validate.JSONAlpha1, results[0])); got != "{\n    \"passed\": true,\n    \"outputs\": []\n}\n" {
		t.Error(got)
	}
	var alpha struct {
		Passed  bool
		Outputs []struct{ Type, Message string }
	}
	if err := json.Unmarshal(write(validate.JSONAlpha1, results...), &alpha); err != nil || alpha.Passed || len(alpha.Outputs) != 1 || alpha.Outputs[0].Type != "error" {
		t.Errorf("%v %+v", err, alpha)
	}
	var all struct {
		Passed  bool
		Bundles []struct {
			Bundle   string
			Passed   bool
			Findings []struct {
				File, Field, Fix string
				Line, Column     int
			}
		}
	}
	if err := json.Unmarshal(write(validate.JSON, results...), &all); err != nil || all.Passed || len(all.Bundles) != 2 || !all.Bundles[0].Passed ||
		len(all.Bundles[1].Findings) != 1 || all.Bundles[1].Findings[0].Field != "spec.displayName" || all.Bundles[1].Findings[0].Line == 0 {
		t.Errorf("%v %+v", err, all)
	}
	if err := json.Unmarshal(write(validate.JSON), &all); err != nil {
		t.Error(err)
	}
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(write(validate.SARIF, results...), &sarif); err != nil || sarif.Version != "2.1.0" || len(sarif.Runs) != 1 || len(sarif.Runs[0].Results) != 1 {
		t.Fatalf("%v %+v", err, sarif)
	}
	position := sarif.Runs[0].Results[0].Locations[0].PhysicalLocation
	if position.ArtifactLocation.URI != "bundle/"+csvFile || position.Region.StartLine == 0 || sarif.Runs[0].Tool.Driver.Rules[0].ID != "required-field" {
		t.Errorf("%+v", position)
	}
}

// TestOptional runs a suite on a problem that only it reports.
func TestOptional(t *testing.T) {
	t.Parallel()
	selector, err := labels.Parse("suite=operatorframework")
	if err != nil {
		t.Fatal(err)
	}
	files := good(t)
	edit(t, files, csvFile, "    name: Otter Team\n    url: https://otters.example\n  version", "    url: https://otters.example\n  version")
	if !check(t, files, validate.Options{}).Passed() {
		t.Error("the default validators report the problem")
	}
	result := check(t, files, validate.Options{Selector: selector})
	if len(result.Findings) != 1 || result.Findings[0].Field != "spec.provider.name" || result.Passed() {
		t.Errorf("Findings = %v", result.Findings)
	}
}

// TestEmptyIcons checks that an empty list of icons counts as missing, also in the suite.
func TestEmptyIcons(t *testing.T) {
	t.Parallel()
	selector, err := labels.Parse("suite=operatorframework")
	if err != nil {
		t.Fatal(err)
	}
	files := good(t)
	edit(t, files, csvFile, "  icon:\n  - base64data: PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=\n    mediatype: image/svg+xml", "  icon: []")
	result := check(t, files, validate.Options{Selector: selector})
	if len(result.Findings) != 2 || result.Findings[0].Err == nil || result.Count(diag.Warning) != 2 {
		t.Errorf("Findings = %v", result.Findings)
	}
}

// TestSarifPositions checks that files are URIs.
func TestSarifPositions(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := validate.NewWriter(&b, validate.SARIF)
	at := diag.Position{File: "quay.io/otters/bundle:1/manifests/a b.yaml"}
	if err := w.Result(validate.Result{Findings: diag.Findings{{Position: at, Severity: diag.Note, Rule: "a", Problem: "b"}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"uri": "quay.io/otters/bundle:1/manifests/a%20b.yaml"`) || strings.Contains(b.String(), "region") {
		t.Error(b.String())
	}
}

// FuzzBundle checks that invalid manifests and annotations cause no panic.
func FuzzBundle(f *testing.F) {
	f.Add([]byte("kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nspec:\n  icon: [{}]\n"), []byte("annotations: {a: b}\n"))
	f.Add([]byte("kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\n"), []byte("annotations:\n  operators.operatorframework.io.bundle.manifests.v1: ../x\n"))
	f.Fuzz(func(t *testing.T, manifest, annotations []byte) {
		files := fstest.MapFS{
			"manifests/a.yaml": {Data: manifest}, "metadata/annotations.yaml": {Data: annotations},
			"manifests/b.yaml": {Data: []byte("kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata:\n  name: a.v1.0.0\n")},
		}
		check(t, files, validate.Options{Selector: labels.Everything()})
		delete(files, "manifests/b.yaml")
		check(t, files, validate.Options{})
	})
}

// TestWrongTypes checks that findings about types have a path with indices and a line, also in metadata.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, from, to, field, want string }{
		{csvFile, "supported: true", "supported: sometimes", "spec.installModes[3].supported", "must be true or false, not a string"},
		{csvFile, "type: AllNamespaces", "type: [AllNamespaces]", "spec.installModes[3].type", "must be a string, not a list"},
		{csvFile, "version: 1.2.0", "version:", "spec.version", "is empty"},
		{csvFile, "apiVersion: operators.coreos.com/v1alpha1", "apiVersion: {}", "apiVersion", "must be a string, not a mapping"},
		{"metadata/annotations.yaml", "v1: stable", "v1: [stable]", `annotations["operators.operatorframework.io.bundle.channels.v1"]`, "must be a string"},
		{"metadata/annotations.yaml", "annotations:", "other:\nannotations: none\nmore:", "annotations", "must be a mapping"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			files := good(t)
			edit(t, files, test.file, test.from, test.to)
			findings := check(t, files, validate.Options{}).Findings
			if len(findings) != 1 {
				t.Fatalf("findings = %v", findings)
			}
			if f := findings[0]; f.Field != test.field || f.Line == 0 || !strings.Contains(f.Problem, test.want) || f.Fix == "" {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestMetadataFiles checks that unused metadata files cause warnings but no errors.
func TestMetadataFiles(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"metadata/logo.png": "\x89PNG\x00", "metadata/huge.yaml": strings.Repeat("# a line\n", 1<<20),
		"metadata/dependencies.yaml": "dependencies:\n- olm.package\n",
	} {
		files := good(t)
		files[name] = &fstest.MapFile{Data: []byte(data)}
		if result := check(t, files, validate.Options{}); !result.Passed() || len(result.Findings) != 1 {
			t.Errorf("%s: found %v", name, result.Findings)
		}
	}
}

// TestEveryFinding checks on all recorded bundles that findings have a rule, a text and a fix, and position and field if
// they concern a part of a file.
func TestEveryFinding(t *testing.T) {
	t.Parallel()
	recorded, err := cases.All("validate")
	if err != nil {
		t.Fatal(err)
	}
	more, err := cases.All("validate-ours")
	if err != nil {
		t.Fatal(err)
	}
	selector, err := labels.Parse("name!=multiarch")
	if err != nil {
		t.Fatal(err)
	}
	// fileRules are the rules about files and directories.
	fileRules := map[string]bool{
		"annotations-missing": true, "manifests-missing": true, "metadata-missing": true, "csv-missing": true, "helm-chart": true,
		"hidden-file": true, "nested-directory": true, "empty-file": true,
	}
	// document are the rules about objects and documents.
	document := map[string]bool{
		"csv-twice": true, "not-yaml": true, "not-an-object": true, "leading-document": true, "further-document": true,
		"metadata-yaml": true, "size": true, "operatorhub": true, "k8s-version": true,
	}
	for _, c := range append(recorded, more...) {
		name := c.Name
		result, err := validate.Bundle(t.Context(), validate.Source{FS: c.FS("tree/bundle"), Name: "bundle"}, validate.Options{Selector: selector})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range result.Findings {
			switch {
			case f.Rule == "" || f.Problem == "" || f.Fix == "" || f.File == "":
				t.Errorf("%s: incomplete finding: %+v", name, f)
			case !fileRules[f.Rule] && (f.Line == 0 || f.Column == 0):
				t.Errorf("%s: no position: %s", name, f)
			case !fileRules[f.Rule] && !document[f.Rule] && f.Field == "":
				t.Errorf("%s: no field: %s", name, f)
			}
		}
	}
}

// TestSchemasInOrder checks that problems of a schema are listed in a stable order.
func TestSchemasInOrder(t *testing.T) {
	t.Parallel()
	var properties strings.Builder
	for _, name := range []string{"badger", "marten", "polecat", "stoat", "weasel"} {
		fmt.Fprintf(&properties, "          %s: {type: integer, default: text, items: {type: string}}\n", name)
	}
	files := good(t)
	files["manifests/otters.yaml"] = &fstest.MapFile{Data: []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: otters.lake.example.com
spec:
  group: lake.example.com
  names: {kind: Otter, listKind: OtterList, plural: otters, singular: otter}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
` + properties.String())}
	texts := func() (texts []string) {
		for _, f := range check(t, files, validate.Options{}).Findings {
			if strings.Contains(f.Field, "openAPIV3Schema") {
				texts = append(texts, f.Rule+" "+f.Field+" "+f.Problem)
			}
		}
		return texts
	}
	want := texts()
	if len(want) < 5 {
		t.Fatalf("got %q", want)
	}
	for range 10 {
		if got := texts(); !slices.Equal(got, want) {
			t.Fatalf("findings = %q, before %q", got, want)
		}
	}
}

// TestExamplesInOrder checks that APIs without an example are listed in a stable order.
func TestExamplesInOrder(t *testing.T) {
	t.Parallel()
	files := good(t)
	edit(t, files, csvFile, "      [\n        {", "      []\n    unused: |-\n      [\n        {")
	var owned strings.Builder
	for _, kind := range []string{"Badger", "Marten", "Polecat", "Stoat", "Weasel"} {
		fmt.Fprintf(&owned, "    - kind: %s\n      name: %ss.river.example.com\n      version: v1\n", kind, strings.ToLower(kind))
	}
	edit(t, files, csvFile, "    owned:\n", "    owned:\n"+owned.String())
	texts := func() (texts []string) {
		for _, f := range check(t, files, validate.Options{}).Findings {
			if f.Rule == "examples" {
				texts = append(texts, f.Problem)
			}
		}
		return texts
	}
	want := texts()
	if len(want) != 6 {
		t.Fatalf("got %q", want)
	}
	for range 5 {
		if got := texts(); !slices.Equal(got, want) {
			t.Fatalf("findings = %q, before %q", got, want)
		}
	}
}
