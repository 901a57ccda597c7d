package helmchart

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// schemaCases are charts with the expected schemas of their values, and values that the API server accepts and rejects.
const schemaCases = "testdata/schema/*.txtar"

// chartOf returns the chart in an archive and its other files by directory and name.
func chartOf(archive *txtar.Archive) (chart Files, others map[string]map[string][]byte) {
	chart, others = Files{}, map[string]map[string][]byte{"accept": {}, "reject": {}, "want": {}}
	for _, file := range archive.Files {
		dir, name, _ := strings.Cut(file.Name, "/")
		if files, ok := others[dir]; ok {
			files[name] = file.Data
		} else {
			chart[file.Name] = file.Data
		}
	}
	return chart, others
}

// archives yields the archives that match a pattern as subtests.
func archives(t *testing.T, pattern string, test func(t *testing.T, name string, archive *txtar.Archive)) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			test(t, name, archive)
		})
	}
}

// expect compares a file of an archive with its expected content, or updates it.
func expect(t *testing.T, archivePath string, archive *txtar.Archive, name string, got []byte) {
	t.Helper()
	for i, file := range archive.Files {
		if file.Name != name {
			continue
		}
		if *update {
			archive.Files[i].Data = got
		} else if !bytes.Equal(got, file.Data) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, file.Data)
		}
		return
	}
	if !*update {
		t.Errorf("%s: has no file %s", archivePath, name)
		return
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: got})
}

// TestSchemas compares the schemas of charts with the expected ones.
func TestSchemas(t *testing.T) {
	t.Parallel()
	archives(t, schemaCases, func(t *testing.T, name string, archive *txtar.Archive) {
		chart, _ := chartOf(archive)
		var first []byte
		for range 3 { // in any order of the files
			manifest, err := CRD(CRDSpec{Group: "charts.example.com", Kind: "Sample", Plural: "samples", Versions: []CRDVersion{{Name: "v1", Chart: chart}}})
			if err != nil {
				t.Fatal(err)
			}
			_, spec, found := strings.Cut(string(manifest), "\n          spec:\n")
			spec, _, end := strings.Cut(spec, "\n          status:\n")
			if !found || !end {
				t.Fatalf("the CRD has no spec and status:\n%s", manifest)
			}
			got := []byte(strings.ReplaceAll("\n"+spec, "\n            ", "\n")[1:] + "\n")
			if first == nil {
				first = got
			} else if !bytes.Equal(first, got) {
				t.Fatalf("the schema is not deterministic:\n%s\n%s", first, got)
			}
		}
		expect(t, name, archive, "want/spec.yaml", first)
		if *update {
			check(t, os.WriteFile(name, txtar.Format(archive), 0o644))
		}
	})
}

// TestSchemasServed creates the CRDs on an API server. It accepts the default values, null for all keys and the values of the case,
// does not change them, and rejects others.
func TestSchemasServed(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	archives(t, schemaCases, func(t *testing.T, _ string, archive *txtar.Archive) {
		chart, files := chartOf(archive)
		kind := server.serve(t, chart)
		tree, err := readTree(chart)
		if err != nil {
			t.Fatal(err)
		}
		required := map[string]any{}
		if data, ok := files["accept"]["values.yaml"]; ok {
			values := decodeValues(t, data)
			for _, name := range tree.describe(inference{}, tree.values).required {
				required[name] = values[name]
			}
		}
		defaults := decodeValues(t, chart["values.yaml"])
		for name, value := range required {
			defaults[name] = value
		}
		accept := map[string]map[string]any{"no values": required, "default values": defaults, "null for all defaults": nullValues(defaults, required)}
		for name, data := range files["accept"] {
			accept[name] = decodeValues(t, data)
		}
		for name, values := range accept {
			stored, problem := kind.create(t, values)
			if problem != "" {
				t.Errorf("%s: %s", name, problem)
			} else if !reflect.DeepEqual(stored, values) {
				t.Errorf("%s: the API server stores\n%v\ninstead of\n%v", name, stored, values)
			}
		}
		for name, data := range files["reject"] {
			// Unknown fields are reported before values are validated.
			values := decodeValues(t, data)
			_, strict := kind.create(t, values)
			_, problem := kind.createLenient(t, values)
			for line := range strings.SplitSeq(string(data), "\n") {
				if want, ok := strings.CutPrefix(line, "# "); ok && !strings.Contains(strict+problem, want) {
					t.Errorf("%s: got %s\n%s\nwant %s", name, strict, problem, want)
				}
			}
		}
	})
}

// nullValues returns values in which all defaults are null, except for some keys.
func nullValues(defaults, except map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range defaults {
		if kept, ok := except[name]; ok {
			out[name] = kept
		} else if fields, ok := value.(map[string]any); ok && len(fields) > 0 {
			out[name] = nullValues(fields, nil)
		} else {
			out[name] = nil
		}
	}
	return out
}

// TestCRD compares a whole CRD with several versions.
func TestCRD(t *testing.T) {
	t.Parallel()
	chart := Files{"Chart.yaml": []byte("name: memcached\nversion: 1.2.3\n"), "values.yaml": []byte("# Number of pods.\nreplicaCount: 1\n")}
	spec := CRDSpec{
		Group: "cache.example.com", Kind: "Memcached", Plural: "memcacheds",
		Versions: []CRDVersion{{Name: "v1alpha1", Chart: chart, Open: true}, {Name: "v1", Chart: chart}},
	}
	got, err := CRD(spec)
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/crd.yaml"
	if *update {
		check(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	spec.Versions[0].Stored = true
	spec.Singular, spec.ListKind = "mc", "MemcachedItems"
	manifest, err := CRD(spec)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Names    struct{ Singular, ListKind string }
			Versions []struct {
				Name    string
				Storage bool
			}
		}
	}
	if err := safeyaml.UnmarshalJSON(manifest, &crd); err != nil {
		t.Fatal(err)
	}
	if v := crd.Spec.Versions; len(v) != 2 || !v[0].Storage || v[1].Storage {
		t.Errorf("versions: got %v, want v1alpha1 as the stored one", v)
	}
	if crd.Spec.Names.Singular != "mc" || crd.Spec.Names.ListKind != "MemcachedItems" {
		t.Errorf("names: got %v", crd.Spec.Names)
	}
}

// TestCRDErrors checks the errors of charts that cannot be read.
func TestCRDErrors(t *testing.T) {
	t.Parallel()
	const chart = "name: a\n"
	for _, test := range []struct {
		name, want string
		files      Files
	}{
		{"no chart", "Chart.yaml: not found", Files{}},
		{"malformed chart", "Chart.yaml: ", Files{"Chart.yaml": []byte("a: [")}},
		{"malformed values", "values.yaml: yaml: line 2", Files{"Chart.yaml": []byte(chart), "values.yaml": []byte("a: b\n c: d\n")}},
		{"list of values", "values.yaml: must be a mapping", Files{"Chart.yaml": []byte(chart), "values.yaml": []byte("- a\n")}},
		{"malformed schema", "values.schema.json: ", Files{"Chart.yaml": []byte(chart), "values.schema.json": []byte("{")}},
		{"schema of another type", "values.schema.json: must be a JSON Schema", Files{"Chart.yaml": []byte(chart), "values.schema.json": []byte("[]")}},
		{"malformed dependency", "charts/b/values.yaml: ", Files{"Chart.yaml": []byte(chart), "charts/b/Chart.yaml": []byte(chart), "charts/b/values.yaml": []byte("[")}},
		{"malformed requirements", "requirements.yaml: ", Files{"Chart.yaml": []byte(chart), "requirements.yaml": []byte("[")}},
	} {
		_, err := CRD(CRDSpec{Group: "example.com", Kind: "A", Plural: "as", Versions: []CRDVersion{{Name: "v1", Chart: test.files}}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	if _, err := CRD(CRDSpec{}); err == nil {
		t.Error("a kind without versions: got no error")
	}
}
