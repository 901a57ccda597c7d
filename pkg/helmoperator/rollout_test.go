package helmoperator_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// A staged is a test of a rollout. Each release has an object of its own kind, which is ready when the test says so: its
// status.observedGeneration must be its generation. A new version of the chart changes it. The operators record the upgrades.
type staged struct {
	*env
	partKind string

	mu       sync.Mutex
	upgraded []string
	// busy are the upgrades that the test has not confirmed yet, and most is the largest number of them.
	busy map[string]bool
	most int
}

func newStaged(t *testing.T) *staged {
	t.Helper()
	s := &staged{env: newEnv(t), busy: map[string]bool{}}
	s.partKind = s.gvk.Kind + "Part"
	s.createCRD(s.gvk.GroupVersion().WithKind(s.partKind))
	return s
}

// template returns a version of the chart's only template. The API server refuses version 2 if the value fail is true.
func (s *staged) template(version int) string {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: {{ .Release.Name }}}\nspec: {version: %d}\n", s.gvk.GroupVersion(), s.partKind, version)
	if version > 1 {
		text += "{{ if .Values.fail }}---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: INVALID}}\n{{ end }}"
	}
	return text
}

func (s *staged) transport() *transport {
	return &transport{intercept: func(request *http.Request) int {
		if dir, name := filepath.Split(request.URL.Path); request.Method == http.MethodPatch && strings.HasSuffix(dir, "parts/") {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.upgraded = append(s.upgraded, name)
			s.busy[name] = true
			s.most = max(s.most, len(s.busy))
		}
		return 0
	}}
}

func (s *staged) start(version int, options ...helmoperator.Option) func() {
	s.Helper()
	return s.startCounting(s.transport(), append(options, helmoperator.WithMaxConcurrentReconciles(4),
		helmoperator.WithRollout(intstr.FromInt32(2), 0),
		helmoperator.WithChart(chart("app", "fail: false", map[string]string{"part.yaml": s.template(version)})))...)
}

// confirm makes the object of a release ready.
func (s *staged) confirm(name string) {
	s.Helper()
	s.mu.Lock()
	wanted := int64(1)
	if s.busy[name] {
		wanted = 2
	}
	delete(s.busy, name)
	s.mu.Unlock()
	var part *unstructured.Unstructured
	s.eventually("the object of "+name, func() (err error) {
		part, err = s.get(s.gvk.GroupVersion().String(), s.partKind, name)
		if version, _, _ := unstructured.NestedInt64(part.Object, "spec", "version"); err == nil && version != wanted {
			err = fmt.Errorf("version %d", version)
		}
		return err
	})
	s.patch(part, fmt.Sprintf("status: {observedGeneration: %d}", part.GetGeneration()), "status")
}

// waitUpgraded waits until the names of all upgraded releases, in the order of their upgrades, are the ones in want, where the order of
// names in one element, separated by blanks, doesn't matter.
func (s *staged) waitUpgraded(want ...string) {
	s.Helper()
	s.eventually("upgrades", func() error {
		s.mu.Lock()
		rest := slices.Clone(s.upgraded)
		s.mu.Unlock()
		got := fmt.Sprint(rest)
		for _, group := range want {
			names := strings.Fields(group)
			if len(rest) < len(names) {
				return errors.New(got)
			}
			part := slices.Sorted(slices.Values(rest[:len(names)]))
			if !slices.Equal(part, names) {
				return errors.New(got)
			}
			rest = rest[len(names):]
		}
		if len(rest) > 0 {
			return errors.New(got)
		}
		return nil
	})
}

func (s *staged) waitRollout(outdated, upgrading, failed float64) {
	s.Helper()
	for state, want := range map[string]float64{"outdated": outdated, "upgrading": upgrading, "failed": failed} {
		s.waitMetric("helm_operator_rollout_resources", want, "state", state)
	}
}

// TestRollout upgrades two releases at a time to a new chart, also across restarts, and stops after a failure.
func TestRollout(t *testing.T) {
	t.Parallel()
	s := newStaged(t)
	stop := s.start(1)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		s.create(name, map[string]any{"fail": name == "c"})
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		s.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
		s.confirm(name)
	}
	s.waitRollout(0, 0, 0)
	stop()
	stop = s.start(2)
	s.waitUpgraded("a b")
	for _, name := range []string{"c", "d", "e", "f"} {
		obj := s.waitFor(name, helmoperator.ConditionOutdated, "True/RolloutWaiting")
		if ready, _ := conditionOf(obj, helmoperator.ConditionReady); ready != "True/ObjectsReady" {
			t.Errorf("Ready of %s is %s while it waits", name, ready)
		}
	}
	s.waitFor("a", helmoperator.ConditionReady, "False/InProgress")
	s.waitRollout(4, 2, 0)

	stop()
	s.start(2)
	// A waiting release is kept as it is. That it is repaired shows that there was a pass.
	part, err := s.get(s.gvk.GroupVersion().String(), s.partKind, "f")
	if err == nil {
		err = s.client.Delete(t.Context(), part)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.eventually("f is repaired with its version", func() error {
		part, err := s.get(s.gvk.GroupVersion().String(), s.partKind, "f")
		if version, _, _ := unstructured.NestedInt64(part.Object, "spec", "version"); err == nil && version != 1 {
			t.Errorf("version %d", version)
		}
		return err
	})
	s.create("new", nil)
	s.waitFor("new", helmoperator.ConditionReady, "True/ObjectsReady")
	s.delete("e")
	s.waitRollout(3, 2, 0)
	s.waitUpgraded("a b")

	// A requested pass and a changed spec don't wait.
	obj, err := s.resource("f")
	if err != nil {
		t.Fatal(err)
	}
	s.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/reconcile-requested-at: now}}")
	s.waitUpgraded("a b", "f")
	s.waitFor("f", helmoperator.ConditionOutdated, "absent")
	s.confirm("f")
	s.waitFor("f", helmoperator.ConditionReady, "True/ObjectsReady")
	s.confirm("a")

	// It is the turn of c, which fails, so that b frees no slot.
	s.waitFor("c", helmoperator.ConditionReleaseFailed, "True/UpgradeError")
	s.confirm("b")
	s.waitFor("b", helmoperator.ConditionReady, "True/ObjectsReady")
	d := s.waitFor("d", helmoperator.ConditionOutdated, "True/RolloutStopped")
	if _, message := conditionOf(d, helmoperator.ConditionOutdated); !strings.HasSuffix(message, " has failed: "+s.namespace+"/c") {
		t.Errorf("message %q", message)
	}
	s.waitRollout(1, 0, 1)
	s.waitUpgraded("a b", "f")
	c, err := s.resource("c")
	if err != nil {
		t.Fatal(err)
	}
	s.patch(c, "metadata: {annotations: {helm.sdk.operatorframework.io/paused: 'true'}}")
	s.waitUpgraded("a b", "f", "d")
	s.confirm("d")
	s.patch(c, "{metadata: {annotations: {helm.sdk.operatorframework.io/paused: null}}, spec: {fail: false}}")
	s.waitUpgraded("a b", "f", "d", "c")
	s.confirm("c")
	s.waitRollout(0, 0, 0)
	obj = s.waitFor("c", helmoperator.ConditionReady, "True/ObjectsReady")
	if state, _, _ := unstructured.NestedMap(obj.Object, "status", "rollout"); !strings.HasPrefix(fmt.Sprint(state["digest"]), "sha256:") ||
		state["generation"] != obj.GetGeneration() || state["inProgress"] != nil {
		t.Errorf("state of the rollout %v", state)
	}
	if s.most != 3 { // two, and the requested one
		t.Errorf("%d releases were upgraded at once", s.most)
	}
}

// TestDocumentedRollout upgrades as the example of docs/helm.md says when the files of the chart change.
func TestDocumentedRollout(t *testing.T) {
	t.Parallel()
	s := newStaged(t)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("watches.yaml", s.documented("rollout:", filepath.ToSlash(filepath.Join(dir, "chart"))))
	write("chart/Chart.yaml", "{apiVersion: v2, name: app, version: 1.0.0}")
	write("chart/templates/part.yaml", s.template(1))
	reconcilers, err := helmoperator.LoadWatches(filepath.Join(dir, "watches.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.startAll(s.transport().wrap(s.config), nil, reconcilers...)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		s.create(name, nil)
	}
	for _, name := range names {
		s.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
		s.confirm(name)
	}
	write("chart/templates/part.yaml", s.template(2))
	obj, err := s.resource("c")
	if err != nil {
		t.Fatal(err)
	}
	s.patch(obj, "metadata: {labels: {any: change}}") // the first pass that sees the new chart
	for i, name := range names {
		s.waitUpgraded(names[:i+1]...) // 10% of 3 is 1
		s.confirm(name)
	}
	s.waitRollout(0, 0, 0)
}
