package ansiblerole

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Each archive contains the role app, the expected schema, sample and notes, and values that an API server must accept unchanged, or
// reject with the message in the first line.
func TestSchema(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/schema/*.txtar", func(t *testing.T, e *expected) {
		watch := Watch{Role: "app", Object: "_roles_example_com_app"}
		if _, ok := e.files["playbooks/app.yml"]; ok {
			watch = Watch{Playbook: "playbooks/app.yml", Object: watch.Object}
		}
		if data, ok := e.files["vars"]; ok {
			if err := safeyaml.UnmarshalJSON(data, &watch.Vars); err != nil {
				t.Fatal(err)
			}
		}
		schema, err := Schema(e.files, watch)
		if err != nil {
			t.Fatal(err)
		}
		if schema == nil {
			t.Fatal("no schema")
		}
		text, err := yaml.Marshal(schema.OpenAPI)
		if err != nil {
			t.Fatal(err)
		}
		var notes strings.Builder
		for _, n := range schema.Notes {
			fmt.Fprintln(&notes, n)
		}
		e.compare(t, "spec.yaml", string(text))
		e.compare(t, "sample.yaml", string(schema.Sample))
		e.compare(t, "notes", notes.String())
		if testing.Short() {
			return
		}
		checkServed(t, e, schema)
	})
}

// checkServed checks the values of an archive on an API server.
func checkServed(t *testing.T, e *expected, schema *SpecSchema) {
	t.Helper()
	startServer(t)
	plural := strings.ToLower(strings.ReplaceAll(filepath.Base(t.Name()), "_", "")) + "s"
	definition := crd.Definition{
		Group: "roles.example.com", Kind: capitalize(strings.TrimSuffix(plural, "s")), Plural: plural,
		Versions: []crd.Version{{Name: "v1", Spec: schema.OpenAPI, SpecRequired: schema.Required}},
		Status:   map[string]any{"type": "object", preserveUnknown: true},
	}
	manifest, err := definition.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := safeyaml.UnmarshalJSON(manifest, &object); err != nil {
		t.Fatal(err)
	}
	path := "/apis/roles.example.com/v1/namespaces/default/" + plural
	serve(t, object, path)
	create := func(data []byte) (stored map[string]any, message string) {
		var spec map[string]any
		if err := safeyaml.UnmarshalJSON(data, &spec); err != nil {
			t.Fatal(err)
		}
		status, answer := request(t, "POST", path+"?dryRun=All&fieldValidation=Strict", map[string]any{
			"apiVersion": "roles.example.com/v1", "kind": definition.Kind, "metadata": map[string]any{"name": "a"}, "spec": spec,
		})
		if status != http.StatusCreated {
			return nil, fmt.Sprint(answer["message"])
		}
		stored, _ = answer["spec"].(map[string]any)
		for key, want := range spec {
			if got := stored[key]; !reflect.DeepEqual(got, jsonValue(t, want)) {
				t.Errorf("%s: stored %v, sent %v", key, got, want)
			}
		}
		return stored, ""
	}
	if _, message := create(schema.Sample); message != "" {
		t.Errorf("the sample is rejected: %s", message)
	}
	for _, f := range e.archive.Files {
		dir, name, _ := strings.Cut(f.Name, "/")
		switch _, message := "", ""; dir {
		case "accept":
			if _, message = create(f.Data); message != "" {
				t.Errorf("%s is rejected: %s", name, message)
			}
		case "reject":
			first, _, _ := strings.Cut(string(f.Data), "\n")
			if _, message = create(f.Data); !strings.Contains(message, strings.TrimPrefix(first, "# ")) {
				t.Errorf("%s: got %q, want %q", name, message, first)
			}
		}
	}
}

// jsonValue returns a value as decoded from JSON.
func jsonValue(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestSchemaWithoutSpecifications(t *testing.T) {
	t.Parallel()
	for _, watch := range []Watch{{}, {Role: "app"}, {Role: "other"}, {Playbook: "none.yml"}} {
		schema, err := Schema(Files{"roles/app/tasks/main.yml": []byte("- debug:\n")}, watch)
		if schema != nil || err != nil {
			t.Errorf("%+v: got %v, %v", watch, schema, err)
		}
	}
	// An unreadable file could only lead to specifications if there are any.
	if schema, err := Schema(Files{"roles/app/tasks/main.yml": []byte("- a: [")}, Watch{Role: "app"}); schema != nil || err != nil {
		t.Errorf("got %v, %v", schema, err)
	}
	// A file with comments only has none, as create api writes it. It doesn't hide those of meta/main.yml.
	const comments = "---\n# argument_specs:\n#   main: {}\n"
	scaffold := Files{"roles/app/tasks/main.yml": []byte("- a: ["), "roles/app/meta/argument_specs.yml": []byte(comments)}
	if schema, err := Schema(scaffold, Watch{Role: "app"}); schema != nil || err != nil {
		t.Errorf("got %v, %v", schema, err)
	}
	scaffold["roles/app/meta/main.yml"] = []byte("argument_specs: {main: {options: {size: {type: int}}}}")
	scaffold["roles/app/tasks/main.yml"] = nil
	if schema, err := Schema(scaffold, Watch{Role: "app"}); schema == nil || err != nil {
		t.Errorf("got %v, %v", schema, err)
	}
	files := Files{"roles/app/tasks/main.yml": nil, "roles/app/meta/argument_specs.yml": []byte("a: [")}
	if schema, err := Schema(files, Watch{Role: "app"}); schema != nil || err == nil || !strings.HasPrefix(err.Error(), "roles/app/meta/argument_specs.yml: invalid YAML") {
		t.Errorf("got %v, %v", schema, err)
	}
}

// validate returns the errors of the API server's validation of a CRD with a schema.
func validate(schema *SpecSchema) error {
	manifest, err := crd.Definition{
		Group: "roles.example.com", Kind: "App", Plural: "apps",
		Versions: []crd.Version{{Name: "v1", Spec: schema.OpenAPI, SpecRequired: schema.Required}}, Status: map[string]any{"type": "object", preserveUnknown: true},
	}.Marshal()
	if err != nil {
		return err
	}
	var external apiextensionsv1.CustomResourceDefinition
	if err := safeyaml.UnmarshalStrict(manifest, &external); err != nil {
		return fmt.Errorf("%w\n%s", err, manifest)
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &internal, nil); err != nil {
		return err
	}
	internal.Status.StoredVersions = []string{"v1"}
	if errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), &internal); len(errs) > 0 {
		return fmt.Errorf("%w\n%s", errs.ToAggregate(), manifest)
	}
	return nil
}

// FuzzSchema checks that all argument specifications become structural schemas.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		"{a: {type: int, default: 1, choices: [1, 2]}, b_c: {type: list, elements: dict, options: {d: {required: true}}}}",
		"{a: {type: dict, default: {b: 1}, options: {b: {type: raw}}}, b: {type: bits, default: 1Mb}, c: {type: bool, choices: [yes, no], default: yes}}",
		"{a: {type: list, elements: str, choices: [x], default: [y]}, aB: {}, a_b: {}, _c: {}, d: {type: float, default: .inf, choices: [.nan]}}",
		"{a: {type: dict, default: {}, options: {b: {required: true}}}, c: {type: dict, default: {}, options: {d: {type: dict, default: {}, options: {e: {default: f}}}}}}",
		"{a: {type: x, required: true, description: [1, {}]}, 1: {}, '': {default: ''}, b: {choices: {c: d}, default: c}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, options string) {
		files := Files{"roles/app/meta/argument_specs.yml": []byte("argument_specs:\n  main:\n    options: " + options)}
		schema, err := Schema(files, Watch{Role: "app"})
		if err != nil || schema == nil {
			return
		}
		if err := validate(schema); err != nil {
			t.Fatal(err)
		}
		var sample map[string]any
		if err := safeyaml.UnmarshalJSON(schema.Sample, &sample); err != nil {
			t.Fatalf("%v\n%s", err, schema.Sample)
		}
	})
}

// TestSchemasOfOthers checks the schemas of all roles in -ansiblerole.projects.
func TestSchemasOfOthers(t *testing.T) {
	if *projectsDir == "" {
		return
	}
	count := 0
	err := filepath.WalkDir(*projectsDir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{"argument_specs.yml", "argument_specs.yaml"}, d.Name()) {
			return err
		}
		files := Files{}
		role := filepath.Dir(filepath.Dir(name))
		for _, rel := range []string{"meta/" + d.Name(), "defaults/main.yml", "tasks/main.yml"} {
			if data, err := os.ReadFile(filepath.Join(role, rel)); err == nil {
				files["roles/app/"+rel] = data
			}
		}
		schema, err := Schema(files, Watch{Role: "app"})
		if err != nil || schema == nil {
			t.Logf("%s: no schema: %v", name, err)
			return nil
		}
		count++
		if err := validate(schema); err != nil {
			t.Errorf("%s: %.2000s", name, err)
		}
		if testing.Verbose() {
			t.Logf("%s: %d notes %v\n%s", name, len(schema.Notes), schema.Notes, schema.Sample)
		}
		return nil
	})
	t.Logf("%d schemas", count)
	if err != nil {
		t.Fatal(err)
	}
}
