package watches_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/watches"
)

// environment looks up the variables of tests.
func environment(name string) (string, bool) {
	value, ok := map[string]string{"ROLE": "memcached", "EMPTY": "", "LINES": "a\n# b", "N": "7", "a.b": "dotted", "LONG": strings.Repeat("x", 30)}[name]
	return value, ok
}

func TestParseAnsible(t *testing.T) {
	t.Parallel()
	got, err := watches.ParseAnsible("dir/watches.yaml", []byte(`# ${LINES} are in no entry
- version: v1alpha1
  group: cache.example.com
  kind: Memcached
  role: $ROLE
- version: v1
  kind: Database
  playbook: playbooks/${ROLE}.yml
  role: /roles/db
  vars:
    number: $N
    text: "$N"
    literal: $2y$10$abc $$N ${UNSET} $UNSET $ ${} {{ x }}$
    date: 2001-02-03
    keys: {1: a, true: b}
    empty: "$EMPTY${a.b}"
  reconcilePeriod: 0s
  runTimeout: 30m
  maxRunnerArtifacts: 3
  retries: 0
  maxConcurrentReconciles: 4
  manageStatus: false
  watchDependentResources: no
  watchClusterScopedResources: true
  watchAnnotationsChanges: true
  snakeCaseParameters: false
  markUnsafe: true
  cacheReads: true
  watchOtherResources:
  - {version: v1, kind: Secret, nameFrom: spec.tls.secret-name}
  - {group: apps, version: v1, kind: Deployment, namespace: shared, name: $ROLE, selector: {matchLabels: {a: b}}}
  blacklist: [{group: apps, version: v1, kind: Deployment}, {version: v1, kind: Pod, group: ""}]
  selector: {matchLabels: {a: b}}
  finalizer: {name: example.com/finalizer, role: gone, vars: {state: absent}}
- {version: v1, kind: Other, role: a.b.c, maxRunnerArtifacts: 0, vars: , finalizer: {name: a/b}}
`), environment)
	if err != nil {
		t.Fatal(err)
	}
	zero := time.Duration(0)
	at := func(line int) diag.Position { return diag.Position{File: "dir/watches.yaml", Line: line, Column: 3} }
	first := watches.NewAnsibleWatch(schema.GroupVersionKind{Group: "cache.example.com", Version: "v1alpha1", Kind: "Memcached"})
	first.Role, first.Position = "memcached", at(2)
	last := watches.NewAnsibleWatch(schema.GroupVersionKind{Version: "v1", Kind: "Other"})
	last.Role, last.Position, last.Finalizer = "a.b.c", at(35), &watches.AnsibleFinalizer{Name: "a/b"}
	last.Warnings = diag.Findings{{
		Position: diag.Position{File: "dir/watches.yaml", Line: 35, Column: 85},
		Problem:  "the finalizer has no playbook, role or vars; a deleted resource is reconciled like any other, so add one of them",
	}}
	want := []watches.AnsibleWatch{
		first,
		{
			Version: "v1", Kind: "Database", Playbook: "playbooks/memcached.yml", Role: "/roles/db",
			Vars: map[string]any{
				"number": 7, "text": "7", "literal": "$2y$10$abc $$N ${UNSET} $UNSET $ ${} {{ x }}$", "date": "2001-02-03",
				"keys": map[string]any{"1": "a", "true": "b"}, "empty": "dotted",
			},
			ReconcilePeriod: &zero, RunTimeout: 30 * time.Minute, MaxRunnerArtifacts: 3, MaxConcurrentReconciles: 4,
			WatchClusterScopedResources: true, WatchAnnotationsChanges: true, MarkUnsafe: true, CacheReads: true,
			WatchOtherResources: []watches.OtherResource{
				{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, NameFrom: "spec.tls.secret-name"},
				{GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "shared", Name: "memcached",
					Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
			},
			Blacklist: []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "Pod"}},
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Finalizer: &watches.AnsibleFinalizer{Name: "example.com/finalizer", Role: "gone", Vars: map[string]any{"state": "absent"}},
			Position:  at(6),
			Warnings:  diag.Findings{{Position: at(6), Problem: "the entry has a playbook and a role; the role is ignored, so remove one of them"}},
		},
		last,
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("entry %d: got\n%+v\nwant\n%+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}

func TestParseAnsibleFindings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`- group: g
  version: v1
  kind: A
  chart: x
  overrideValues: {}
  plabook: x
  reconcilePeriod: 60
  runTimeout: -1s
  maxRunnerArtifacts: many
  manageStatus: maybe
  blacklist: {version: v1}
  selector: {matchExpressions: [{key: a, operator: Is}]}
  finalizer: {vars: {a: .inf}}
  vars: []
- {version: v1, group: g, kind: A, role: r, blacklist: [x, {kind: B, group: g, name: n}], finalizer: x}
- role: {}
- {version: v1, kind: B, role: "$LONG", finalizer: {name: ä}, nonsense: $N, cacheReads: 3}
`: `w.yaml:1:3: playbook or role is required
w.yaml:4:3: key "chart" belongs to Helm operators; an entry of an Ansible operator has no such key
w.yaml:5:3: key "overrideValues" belongs to Helm operators; an entry of an Ansible operator has no such key
w.yaml:6:3: unknown key "plabook"; did you mean "playbook"?
w.yaml:7:20: "60": must be a duration that is not negative, such as 1m30s
w.yaml:8:15: "-1s": must be a duration that is not negative, such as 1m30s
w.yaml:9:23: must be a whole number, at least 0
w.yaml:10:17: must be true or false
w.yaml:11:14: must be a list of kinds with the keys group, version and kind
w.yaml:12:13: must be a label selector: "Is" is not a valid label selector operator
w.yaml:13:14: name is required
w.yaml:13:21: a: keys must be texts, and numbers finite
w.yaml:14:9: must be a map of values, which are extra variables of Ansible
w.yaml:15:3: group, version and kind are the same as in line 1; remove one of the two
w.yaml:15:57: must be a kind with the keys group, version and kind
w.yaml:15:60: version is required
w.yaml:15:80: unknown key "name"
w.yaml:15:102: must have the keys name, and playbook, role or vars
w.yaml:16:3: kind is required
w.yaml:16:3: version is required
w.yaml:16:9: must be a string
w.yaml:17:59: "ä": name part must consist of
w.yaml:17:63: unknown key "nonsense"
w.yaml:17:89: must be true or false`,
		"- {version: v1, kind: A, role: \"${LINES}\", x: y}\n- $LINES\n":         "w.yaml:1:44: unknown key \"x\"\nw.yaml:2:3: an entry must have the keys version, kind, and playbook or role",
		"# $LINES\n# ${LINES}\n- [\n":                                            "w.yaml: not valid YAML: line 3: ",
		"- {version: v1, kind: A, role: r, vars: {a: $N, b: {}}, ä: $N, y: 1}\n": "w.yaml:1:57: unknown key \"ä\"\nw.yaml:1:64: unknown key \"y\"",
	} {
		_, err := watches.ParseAnsible("w.yaml", []byte(text), environment)
		checkFindings(t, text, err, want)
	}
}

// TestParseAnsibleWithoutEnvironment checks that commands of a project accept values with variables, and entries to complete.
func TestParseAnsibleWithoutEnvironment(t *testing.T) {
	t.Parallel()
	const text = `- {version: v1, kind: "${KIND}", role: $ROLE, reconcilePeriod: $PERIOD, manageStatus: $MANAGE, maxRunnerArtifacts: $N, selector: $S, vars: $V, blacklist: $B}
- {version: v1, kind: B} # TODO
`
	got, err := watches.ParseAnsible("w.yaml", []byte(text), nil)
	if err != nil || len(got) != 2 || got[0].Kind != "${KIND}" || got[0].Role != "$ROLE" || got[0].ReconcilePeriod != nil || !got[0].ManageStatus {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = watches.ParseAnsible("w.yaml", []byte("- {version: v1, kind: A, manageStatus: maybe, reconcilePeriod: 5}\n"), nil)
	checkFindings(t, "without variables", err, "w.yaml:1:40: must be true or false\nw.yaml:1:64: \"5\": must be a duration")
}

func TestAddAnsible(t *testing.T) {
	t.Parallel()
	gvk := schema.GroupVersionKind{Group: "a.example.com", Version: "v1", Kind: "New"}
	w := watches.NewAnsibleWatch(gvk)
	w.Role, w.MarkUnsafe, w.RunTimeout = "new", true, 90*time.Minute
	w.Comments = map[string]string{"markUnsafe": "Texts of the spec are\nnot templates.", "playbook": "TODO: add one"}
	const added = `- version: v1
  group: a.example.com
  kind: New
  role: new
  runTimeout: 1h30m
  # Texts of the spec are
  # not templates.
  markUnsafe: true
  # TODO: add one
`
	const marker = "# +kubebuilder:scaffold:watch\n"
	const old = "- version: $V\n  kind: Old # kept\n  # about the role\n  role: r$\n  maxRunnerArtifacts: ${N}\n"
	for name, test := range map[string]struct{ before, after string }{
		"empty":  {"", added},
		"marker": {"---\n# c\n" + old + marker, "---\n# c\n" + old + added + marker},
		"none":   {old + "  # about the entry\n", old + "  # about the entry\n" + added},
	} {
		got, err := watches.AddAnsible([]byte(test.before), w)
		if err != nil || string(got) != test.after {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, test.after)
		}
		if _, err := watches.AddAnsible(got, w); err == nil || !strings.Contains(err.Error(), "already exists") {
			t.Errorf("%s: added again: %v", name, err)
		}
		if removed, err := watches.RemoveAnsible(got, gvk); err != nil || string(removed) != test.before {
			t.Errorf("%s: %v, without the entry\n%s\nwant\n%s", name, err, removed, test.before)
		}
	}
	if _, err := watches.AddAnsible([]byte("- {version: v1, kind: A, chart: c}\n"), w); err == nil || !strings.Contains(err.Error(), "belongs to Helm operators") {
		t.Errorf("a file of a Helm operator: %v", err)
	}
}

// TestAddAnsibleAllKeys checks that all keys of an entry are written as they are read.
func TestAddAnsibleAllKeys(t *testing.T) {
	t.Parallel()
	period := time.Hour
	w := watches.AnsibleWatch{
		Version: "v1", Kind: "New", Playbook: "p.yml", Vars: map[string]any{"a": "$x", "b": []any{1, "2"}}, ReconcilePeriod: &period,
		RunTimeout: 90 * time.Second, Retries: 2, MaxRunnerArtifacts: 5, MaxConcurrentReconciles: 2, WatchClusterScopedResources: true,
		WatchAnnotationsChanges: true, MarkUnsafe: true, CacheReads: true,
		WatchOtherResources: []watches.OtherResource{{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "n", NameFrom: "spec.a"}},
		Blacklist:           []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}},
		Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"a": "1"}},
		Finalizer:           &watches.AnsibleFinalizer{Name: "a/b", Playbook: "q.yml", Vars: map[string]any{"state": "absent"}},
	}
	text, err := watches.AddAnsible(nil, w)
	const want = `- version: v1
  group: ""
  kind: New
  playbook: p.yml
  vars:
    a: $x
    b:
      - 1
      - "2"
  reconcilePeriod: 1h
  runTimeout: 1m30s
  retries: 2
  maxRunnerArtifacts: 5
  maxConcurrentReconciles: 2
  manageStatus: false
  watchDependentResources: false
  watchClusterScopedResources: true
  watchAnnotationsChanges: true
  watchOtherResources:
    - kind: Secret
      nameFrom: spec.a
      namespace: "n"
      version: v1
  snakeCaseParameters: false
  markUnsafe: true
  cacheReads: true
  blacklist:
    - group: ""
      kind: Pod
      version: v1
  selector:
    matchLabels:
      a: "1"
  finalizer:
    name: a/b
    playbook: q.yml
    vars:
      state: absent
`
	if err != nil || string(text) != want {
		t.Fatalf("%v, got\n%s\nwant\n%s", err, text, want)
	}
	got, err := watches.ParseAnsible(watches.FileName, text, environment)
	w.Position = diag.Position{File: watches.FileName, Line: 1, Column: 3}
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], w) {
		t.Errorf("%v, read\n%+v\nwant\n%+v", err, got, w)
	}
}
