package scenario_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/operon-sdk/operon/pkg/scenario"
)

// project returns a project with files, which are pairs of a path in the scenario "one" and a content.
func project(files ...string) fstest.MapFS {
	p := fstest.MapFS{}
	for pair := range slices.Chunk(files, 2) {
		p["test/operon/one/"+pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return p
}

// describe returns the steps of the only scenario, one operation a line.
func describe(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	scenarios, err := scenario.Load(files, scenario.Options{})
	if err != nil || len(scenarios) != 1 {
		t.Fatalf("%v, %v", scenarios, err)
	}
	text := scenarios[0].Name + " in " + scenarios[0].Namespace
	for _, step := range scenarios[0].Steps {
		for i, o := range slices.Concat(step.Try, step.Finally) {
			text += fmt.Sprintf("\n%s: %s %s", step.Name, o.Verb, o.Timeout)
			if i >= len(step.Try) {
				text += " finally"
			}
			for _, object := range o.Objects {
				text += fmt.Sprintf(" %s/%s@%d", object.GetKind(), object.GetName(), object.Line)
			}
		}
	}
	return text
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

// test returns a Test with the operations of a step, each indented by four.
func test(operations string) string {
	return "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata:\n  name: x\nspec:\n  steps:\n  - try:\n" + operations
}

// TestNumbered checks the order and the meaning of files with numbers.
func TestNumbered(t *testing.T) {
	t.Parallel()
	got := describe(t, project(
		"00-assert.yaml", configMap("b"), "00-install.yaml", configMap("a")+"---\n# empty\n---\n"+configMap("b"),
		"00-errors.yml", configMap("c"),
		"01-more/w.yaml", configMap("w"), "01-more/v.yaml", configMap("v"), "01-more/notes.txt", "no YAML",
		"02-delete-all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    app: x\n",
		"02-wait.yaml", "apiVersion: v1\nkind: ConfigMap\nname: x\nfor:\n  deletion: {}\n",
		"03-patch.yaml", strings.ReplaceAll(configMap("a"), "\n", "\r\n"),
		"other.yaml", "ignored: [", "README.md", "text",
	))
	const want = `one in operon-one
00-install: apply 5s ConfigMap/a@1 ConfigMap/b@8
00-install: assert 30s ConfigMap/b@1
00-install: error 30s ConfigMap/c@1
01-more: apply 5s ConfigMap/v@1 ConfigMap/w@1
02-delete-all: delete 15s ConfigMap/@1
02-delete-all: wait 30s ConfigMap/x@1
03-patch: patch 5s ConfigMap/a@1`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestTest checks a Test with all operations.
func TestTest(t *testing.T) {
	t.Parallel()
	files := project("chainsaw-test.yaml", test(`    - apply:
        file: objects/*.yaml
    - create:
        timeout: 1m
        resource: &map
          apiVersion: v1
          kind: ConfigMap
          metadata:
            name: c
            namespace: ($namespace)
    - update:
        resource: *map
    - patch:
        file: ../../shared.yaml
    - assert:
        resource: *map
    - error:
        resource:
          apiVersion: v1
          kind: ConfigMap
    - wait:
        apiVersion: v1
        kind: Pod
        selector: app=web,tier==front
        for:
          condition:
            name: Ready
    - sleep:
        duration: 2s
    - description: the webhook refuses it
      apply:
        resource: *map
        expect:
        - check:
            ($error != null): true
    catch:
    - podLogs: {}
    finally:
    - delete:
        ref:
          apiVersion: v1
          kind: ConfigMap
          name: c
    timeouts:
      assert: 3s
`), "objects/a.yaml", configMap("a"), "objects/b.yaml", configMap("b"))
	files["test/shared.yaml"] = &fstest.MapFile{Data: []byte(configMap("s"))}
	const want = `one in operon-one
step 1: apply 5s ConfigMap/a@1 ConfigMap/b@1
step 1: create 1m0s ConfigMap/c@12
step 1: update 5s ConfigMap/c@12
step 1: patch 5s ConfigMap/s@1
step 1: assert 3s ConfigMap/c@12
step 1: error 30s ConfigMap/@26
step 1: wait 30s Pod/@29
step 1: sleep 2s
step 1: apply 5s ConfigMap/c@12
step 1: delete 15s finally ConfigMap/c@48`
	if got := describe(t, files); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	alone := files["test/operon/one/chainsaw-test.yaml"]
	alone.Data = bytes.Replace(alone.Data, []byte("spec:\n"), []byte("spec:\n  concurrent: false\n"), 1)
	scenarios, err := scenario.Load(files, scenario.Options{Names: []string{"one"}, Namespace: "only"})
	if err != nil {
		t.Fatal(err)
	}
	if !scenarios[0].Alone {
		t.Error("other scenarios may be performed at the same time")
	}
	try := scenarios[0].Steps[0].Try
	if got := try[1].Objects[0].GetNamespace(); got != "only" {
		t.Errorf("namespace %q", got)
	}
	if !try[8].Refused || try[1].Refused {
		t.Error("only the last change must be refused")
	}
	if got := try[6]; got.For.Condition != "Ready" || got.For.Value != "True" || got.Objects[0].GetLabels()["tier"] != "front" || try[7].Timeout != 2*time.Second {
		t.Errorf("wait %+v, sleep %+v", got, try[7])
	}
}

// TestBindings checks values with names, and templates of steps.
func TestBindings(t *testing.T) {
	t.Parallel()
	const template = `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: StepTemplate
spec:
  bindings:
  - name: file
    value: none.yaml
  - name: named
    value: d
  try:
  - apply:
      file: ($file)
  - assert:
      resource:
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: ($named)
          namespace: ($namespace)
`
	files := project("chainsaw-test.yaml", `apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata:
  name: x
spec:
  bindings:
  - name: outer
    value: a.yaml
  steps:
  - name: templated
    use:
      template: ../template.yaml
      with:
        bindings:
        - name: file
          value: ($outer)
  - name: own
    try:
    - bindings:
      - name: named
        value: ($test.metadata.name)
      delete:
        ref:
          apiVersion: v1
          kind: ConfigMap
          name: ($named)
`, "a.yaml", configMap("a"))
	files["test/operon/template.yaml"] = &fstest.MapFile{Data: []byte(template)}
	const want = `one in operon-one
templated: apply 5s ConfigMap/a@1
templated: assert 30s ConfigMap/d@14
own: delete 15s ConfigMap/x@24`
	if got := describe(t, files); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestBad checks what each mistake in a Test or file is called, and where.
func TestBad(t *testing.T) {
	t.Parallel()
	const file = "test/operon/one/chainsaw-test.yaml"
	for name, check := range map[string]struct{ operations, want string }{
		"unsupported operation": {"    - script:\n        content: ls\n", ":8: the operation script isn't supported; supported are apply, create, update, patch, delete, assert, error, wait, sleep"},
		"unknown operation":     {"    - asert:\n        file: a.yaml\n", `:8: unknown field "asert"; did you mean "assert"?`},
		"two operations":        {"    - sleep: {duration: 1s}\n      delete: {file: a.yaml}\n", ":9: must be an operation of its own: sleep is one already"},
		"bad timeout":           {"    - apply:\n        timeout: soon\n        file: a.yaml\n", `:9: timeout: "soon" must be a duration, such as 30s`},
		"missing file":          {"    - apply:\n        file: b.yaml\n", ":9: test/operon/one/b.yaml can't be read: file does not exist"},
		"no match":              {"    - apply:\n        file: b*.yaml\n", ":9: test/operon/one/b*.yaml can't be read: there are no such files"},
		"file outside":          {"    - apply:\n        file: ../../../../etc/passwd\n", `:9: file: "../../../../etc/passwd" must be a file of the project, with a path relative to the scenario`},
		"absolute file":         {"    - apply:\n        file: /etc/passwd\n", `:9: file: "/etc/passwd" must be a file of the project, with a path relative to the scenario`},
		"file elsewhere":        {"    - apply:\n        file: https://example.com/a.yaml\n", `:9: file: "https://example.com/a.yaml" is on another machine; copy it into the project`},
		"unknown field":         {"    - wait:\n        apiVersion: v1\n        kind: Pod\n        nmae: x\n        for: {deletion: {}}\n", `:11: unknown field "nmae"; did you mean "name"?`},
		"unsupported field":     {"    - apply:\n        file: a.yaml\n        outputs: []\n", ":10: outputs isn't supported"},
		"no operand":            {"    - assert: {}\n", ":8: assert requires file or resource"},
		"nothing to wait for":   {"    - wait: {apiVersion: v1, kind: Pod}\n", ":8: wait requires for with condition, jsonPath or deletion"},
		"bad path":              {"    - wait: {apiVersion: v1, kind: Pod, for: {jsonPath: {path: '{.a[*]}'}}}\n", `:8: jsonPath: "{.a[*]}" must be a path of fields and indices, such as {.status.conditions[0].type}`},
		"no name":               {"    - apply:\n        resource:\n          apiVersion: v1\n          kind: Pod\n", ":10: metadata.name is required for apply"},
		"no kind":               {"    - apply:\n        resource:\n          apiVersion: v1\n", ":10: apiVersion and kind are required"},
		"check":                 {"    - apply:\n        file: a.yaml\n        expect:\n        - check: {($error.code): 403}\n", ":11: only the checks ($error != null): true and ($error == null): true are supported"},
		"expression": {
			"    - assert:\n        resource:\n          apiVersion: v1\n          kind: Pod\n          (status.phase == 'Running'): true\n",
			":12: (status.phase == 'Running'): expressions in parentheses aren't supported, other than names of bindings; write the value, or the fields with their values",
		},
	} {
		_, err := scenario.Load(project("chainsaw-test.yaml", test(check.operations), "a.yaml", configMap("a")), scenario.Options{})
		if want := file + check.want; err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, want)
		}
	}
}

// TestBadScenarios checks problems of whole scenarios. All are reported at once.
func TestBadScenarios(t *testing.T) {
	t.Parallel()
	files := project("notes.txt", "")
	for name, content := range map[string]string{
		"broken/00-install.yaml": "kind: [", "kuttl/00-delete.yaml": "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\n",
		"other/chainsaw-test.yaml": "apiVersion: v1\nkind: Test\n", "two/chainsaw-test.yaml": test("    - sleep: {duration: 1s}\n---\n") + test("    - sleep: {duration: 1s}\n"),
		"void/00-install.yaml": "# nothing\n",
	} {
		files["test/operon/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	_, err := scenario.Load(files, scenario.Options{})
	const want = `test/operon/broken/00-install.yaml: yaml: line 1: did not find expected node content
test/operon/kuttl/00-delete.yaml:1: kind TestStep isn't supported; describe the steps in chainsaw-test.yaml
test/operon/one: has no steps; add chainsaw-test.yaml, or files such as 00-install.yaml and 01-assert.yaml
test/operon/other/chainsaw-test.yaml:1: must have apiVersion chainsaw.kyverno.io/v1alpha1 and kind Test
test/operon/two/chainsaw-test.yaml:10: must contain only one Test; move this one to a directory of its own
test/operon/void/00-install.yaml: contains no objects`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	_, err = scenario.Load(files, scenario.Options{Names: []string{"brokn"}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "broken"?`) {
		t.Errorf("got %v", err)
	}
}

// TestSymlink checks that a link out of the project isn't followed.
func TestSymlink(t *testing.T) {
	t.Parallel()
	outside, root := t.TempDir(), t.TempDir()
	dir := filepath.Join(root, "test/operon/one")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret.yaml")
	if err := os.WriteFile(secret, []byte(configMap("secret")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "00-install.yaml")); err != nil {
		t.Skipf("this user can't create symbolic links: %v", err)
	}
	opened, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }() // it was read
	if _, err = scenario.Load(opened.FS(), scenario.Options{}); err == nil || !strings.Contains(err.Error(), "00-install.yaml can't be read") && !strings.Contains(err.Error(), "00-install.yaml: can't be read") {
		t.Errorf("got %v", err)
	}
}

// TestNone checks projects without scenarios, and with one that is to be skipped.
func TestNone(t *testing.T) {
	t.Parallel()
	for _, files := range []fstest.MapFS{{}, project("chainsaw-test.yaml", strings.Replace(test("    - sleep: {duration: 1s}\n"), "spec:\n", "spec:\n  skip: true\n", 1))} {
		if scenarios, err := scenario.Load(files, scenario.Options{}); err != nil || len(scenarios) != 0 {
			t.Errorf("got %v, %v", scenarios, err)
		}
	}
}
