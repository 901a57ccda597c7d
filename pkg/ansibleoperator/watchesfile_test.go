package ansibleoperator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// project writes files and returns their directory.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLoadWatches checks all keys, and the precedence of defaults, keys, variables, options and annotations.
func TestLoadWatches(t *testing.T) {
	t.Parallel()
	dir := project(t, map[string]string{
		"roles/app/tasks/main.yml": "", "more/roles/extra/tasks/main.yml": "", "flag/first/tasks/main.yml": "", "play.yml": "", "gone.yml": "",
		"watches.yaml": `- {version: v1, group: my-group.example.com, kind: App, role: $ROLE}
- version: v1
  kind: Full
  playbook: play.yml
  role: missing
  vars: {a: 1}
  reconcilePeriod: 5m
  runTimeout: 1m
  maxRunnerArtifacts: 3
  maxConcurrentReconciles: 4
  manageStatus: false
  watchDependentResources: false
  watchClusterScopedResources: true
  watchAnnotationsChanges: true
  snakeCaseParameters: false
  markUnsafe: true
  cacheReads: true
  blacklist: [{version: v1, kind: Pod}]
  selector: {matchLabels: {a: b}}
  finalizer: {name: a/b, playbook: gone.yml, vars: {state: absent}}
- {version: v1, kind: Extra, role: extra}
- {version: v1, kind: First, role: first}
- {version: v1, kind: Collection, role: a.b.c}
`,
	})
	settings := Settings{Dir: dir, RolesPaths: []string{"flag"}, Environ: []string{
		"ROLE=app", "ANSIBLE_ROLES_PATH=more", "ANSIBLE_VERBOSITY_APP_MY-GROUP_EXAMPLE_COM=5", "WORKER_APP_MY_GROUP_EXAMPLE_COM=6",
		"MAX_CONCURRENT_RECONCILES_APP_MY_GROUP_EXAMPLE_COM=7", "MAX_CONCURRENT_RECONCILES_FULL_=8", "WORKER_EXTRA_=9",
	}}
	options := func(gvk schema.GroupVersionKind) []Option {
		if gvk.Kind == "First" {
			return []Option{WithVerbosity(0)}
		}
		return nil
	}
	got, err := LoadWatches(filepath.Join(dir, "watches.yaml"), settings, options, WithMaxConcurrentReconciles(2), WithVerbosity(1), WithReconcilePeriod(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"App  " + filepath.Join(dir, "roles/app") + " 7 5 1h0m0s", "Full " + filepath.Join(dir, "play.yml") + "  8 1 5m0s",
		"Extra  " + filepath.Join(dir, "more/roles/extra") + " 9 1 1h0m0s", "First  " + filepath.Join(dir, "flag/first") + " 2 0 1h0m0s",
		"Collection  a.b.c 2 1 1h0m0s",
	} {
		r := got[i]
		if text := fmt.Sprint(r.kind.GVK.Kind, " ", r.source.playbook, " ", r.source.role, " ", r.kind.MaxConcurrent, " ", r.verbosity, " ", r.kind.Period); text != want {
			t.Errorf("entry %d: %s, want %s", i, text, want)
		}
	}
	app, full := got[0], got[1]
	if !app.manageStatus || !app.snakeCase || app.markUnsafe || app.skipDependents || app.watchClusterScoped || app.annotationChanges ||
		app.cacheReads || app.maxArtifacts != 20 || app.timeout != 0 || app.finalizer != nil || !app.kind.Selector.Empty() {
		t.Errorf("defaults: %+v", app)
	}
	if full.manageStatus || full.snakeCase || !full.markUnsafe || !full.skipDependents || !full.watchClusterScoped || !full.annotationChanges ||
		!full.cacheReads || full.maxArtifacts != 3 || full.timeout != time.Minute || full.kind.Selector.String() != "a=b" ||
		!reflect.DeepEqual(full.vars, map[string]any{"a": int64(1)}) || !reflect.DeepEqual(full.blacklist, []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}}) ||
		!reflect.DeepEqual(full.finalizer, &Finalizer{Name: "a/b", Playbook: filepath.Join(dir, "gone.yml"), Vars: map[string]any{"state": "absent"}}) {
		t.Errorf("all keys: %+v", full)
	}
	if len(full.warnings) != 1 || !strings.Contains(full.warnings[0], "the role is ignored") {
		t.Errorf("warnings %q", full.warnings)
	}
	obj := &unstructured.Unstructured{}
	obj.SetAnnotations(map[string]string{AnnotationReconcilePeriod: "1s", AnnotationMaxRunnerArtifacts: "9", AnnotationVerbosity: "7"})
	if s, err := full.readSettings(obj); err != nil || s != (settingsOf(time.Second, 9, 7)) {
		t.Errorf("annotations: %+v, %v", s, err)
	}
	obj.SetAnnotations(map[string]string{AnnotationMaxRunnerArtifacts: "0"})
	if s, err := full.readSettings(obj); err != nil || s != (settingsOf(5*time.Minute, -1, 1)) {
		t.Errorf("annotation to keep all artifacts: %+v, %v", s, err)
	}
	if s, err := full.readSettings(&unstructured.Unstructured{}); err != nil || s != (settingsOf(5*time.Minute, 3, 1)) {
		t.Errorf("no annotations: %+v, %v", s, err)
	}
	if _, err := LoadWatches(filepath.Join(dir, "none.yaml"), settings, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func settingsOf(period time.Duration, artifacts, verbosity int) settings {
	return settings{period: period, maxArtifacts: artifacts, verbosity: verbosity, retries: -1}
}

func TestOptionErrors(t *testing.T) {
	t.Parallel()
	_, err := New(WithGroupVersionKind(schema.GroupVersionKind{Kind: "A"}), WithReconcilePeriod(-1), WithRunTimeout(-1), WithMaxRunnerArtifacts(0),
		WithMaxConcurrentReconciles(0), WithVerbosity(8), WithRetries(-2), WithFinalizer(Finalizer{}), WithVars(map[string]any{"a": make(chan int)}))
	if err == nil || strings.Count(err.Error(), "\n") != 8 {
		t.Errorf("want 9 errors, got %v", err)
	}
	gvk := WithGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "A"})
	if _, err := New(gvk); err == nil || !strings.Contains(err.Error(), "a playbook or a role is required") {
		t.Errorf("no role: %v", err)
	}
	if _, err := New(WithRole("/a")); err == nil || !strings.Contains(err.Error(), "version and kind are required") {
		t.Errorf("no kind: %v", err)
	}
}

// TestStatusPatch checks that an unchanged status is not written, whatever it contains.
func TestStatusPatch(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"generation": int64(2)}, "status": "text"}}
	patch := statusPatch(obj, 2, successConditions(nil), now)
	if len(patch) != 2 || len(patch["conditions"].([]any)) != 4 {
		t.Errorf("patch %v", patch)
	}
	patch["other"] = map[string]any{"key": "kept"}
	obj.Object["status"] = patch
	if again := statusPatch(obj, 2, successConditions(nil), now.Add(time.Hour)); len(again) > 0 {
		t.Errorf("patch of an unchanged status %v", again)
	}
	before := conditionsByType(obj)
	running := statusPatch(obj, 2, runningConditions(obj), now.Add(time.Hour))
	obj.Object["status"] = running
	after := conditionsByType(obj)
	if !reflect.DeepEqual(before["Ready"], after["Ready"]) || !reflect.DeepEqual(before["Failure"], after["Failure"]) || after["Running"]["reason"] != "Running" {
		t.Errorf("conditions %v, want Ready and Failure as they were", after)
	}
	obj.SetGeneration(3)
	if c := runningConditions(obj); c[len(c)-1].kind != ConditionReady || c[len(c)-1].status {
		t.Errorf("conditions %+v, want Ready False for a new generation", c)
	}
}

func conditionsByType(obj *unstructured.Unstructured) map[string]map[string]any {
	result := map[string]map[string]any{}
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		m := c.(map[string]any)
		result[m["type"].(string)] = m
	}
	return result
}
