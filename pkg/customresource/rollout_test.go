package customresource

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rolloutTest is a rollout to version "new" without a cluster, whose notifications are recorded.
type rolloutTest struct {
	*testing.T
	*Rollout
	version int
	turns   []string
	reasons []string
}

func newRolloutTest(t *testing.T, maxConcurrent intstr.IntOrString, maxFailures int) *rolloutTest {
	t.Helper()
	kind := NewKind(0, "")
	kind.GVK = schema.GroupVersionKind{Version: "v1", Kind: "App"}
	if err := kind.SetRollout(maxConcurrent, maxFailures); err != nil {
		t.Fatal(err)
	}
	r := &rolloutTest{T: t, Rollout: kind.Rollout}
	r.listed, r.PausedBy = true, "paused"
	r.IsDeployed = func(*unstructured.Unstructured) bool { return true }
	r.Progress = func(obj *unstructured.Unstructured) (running, failed bool) {
		return false, ReadCondition(obj, "Failed") != nil
	}
	r.Notify = func(key types.NamespacedName, turn bool) {
		if turn {
			r.turns = append(r.turns, key.Name)
		} else {
			r.reasons = append(r.reasons, key.Name)
		}
	}
	return r
}

// object returns the next version of a resource with a state.
func (r *rolloutTest) object(name string, state RolloutState, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	r.version++
	obj := Empty(r.kind.GVK)
	obj.SetNamespace("ns")
	obj.SetName(name)
	obj.SetUID(types.UID(name))
	obj.SetResourceVersion(fmt.Sprint(r.version))
	status := map[string]any{}
	state.AddTo(status, obj)
	obj.Object["status"] = status
	for _, c := range change {
		c(obj)
	}
	return obj
}

func fail(obj *unstructured.Unstructured) {
	status := obj.Object["status"].(map[string]any)
	status["conditions"] = []any{map[string]any{"type": "Failed", "status": "True"}}
}

func pause(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{"paused": "true"}) }

// pass begins and ends a pass, in which the status is written if the upgrade may begin. It returns what Begin does.
func (r *rolloutTest) pass(name string, now bool) Turn {
	r.Helper()
	obj := r.object(name, RolloutState{Digest: "old"})
	turn, err := r.Begin(r.Context(), obj, "new", now)
	if err != nil {
		r.Fatal(err)
	}
	if turn.Granted {
		r.Written(r.object(name, RolloutState{Digest: "new", InProgress: true}))
	}
	r.End(client.ObjectKeyFromObject(obj), "new", true)
	return turn
}

func (r *rolloutTest) takeTurns(want ...string) {
	r.Helper()
	slices.Sort(r.turns)
	if got := slices.Compact(r.turns); !slices.Equal(got, want) {
		r.Errorf("turns of %v, want %v", got, want)
	}
	r.turns = nil
}

// TestRolloutOrder grants slots by name, for percentages, as soon as others are ready, deleted or paused.
func TestRolloutOrder(t *testing.T) {
	t.Parallel()
	r := newRolloutTest(t, intstr.FromString("25%"), 1)
	events := rolloutEvents{r.Rollout}
	for _, name := range []string{"a", "b", "c", "d", "e"} { // 25% are 2
		events.set(r.object(name, RolloutState{Digest: "old"}))
	}
	if turn := r.pass("c", false); turn.Granted || turn.Reason != ReasonRolloutWaiting || !strings.Contains(turn.Message, "25%") {
		t.Errorf("the third one began before the others: %+v", turn)
	}
	if !r.pass("b", false).Granted {
		t.Error("the second one has to wait for the pass of the first one")
	}
	// The pass of the first one fails before it can begin. The others don't wait for it.
	r.takeTurns("a", "b")
	r.End(types.NamespacedName{Namespace: "ns", Name: "a"}, "new", false)
	r.takeTurns("c")
	if !r.pass("c", false).Granted || r.pass("d", false).Granted {
		t.Error("c has to begin, and d to wait")
	}
	if !r.pass("d", true).Granted {
		t.Error("d has to wait, although it must begin now")
	}
	// An old event doesn't change what the process has written.
	old := r.object("c", RolloutState{Digest: "old"})
	old.SetResourceVersion("1")
	events.set(old)
	if n, upgrading, _ := r.numbers(); n != 2 || upgrading != 3 {
		t.Errorf("%d outdated, %d upgrading", n, upgrading)
	}
	r.turns = nil
	r.Written(r.object("c", RolloutState{Digest: "new"}))
	r.takeTurns()
	r.Written(r.object("b", RolloutState{Digest: "new"}))
	r.takeTurns("e") // a failed before; its own retry begins it
	if !r.pass("a", false).Granted || r.pass("e", false).Granted {
		t.Error("a has to begin, and e to wait")
	}
	events.set(r.object("a", RolloutState{Digest: "new", InProgress: true}, pause))
	r.takeTurns("e")
}

// TestRolloutEnter doesn't notify a resource whose pass has begun and will ask for its turn itself: the notification would add a pass.
func TestRolloutEnter(t *testing.T) {
	t.Parallel()
	r := newRolloutTest(t, intstr.FromInt32(1), 0)
	events := rolloutEvents{r.Rollout}
	a := types.NamespacedName{Namespace: "ns", Name: "a"}
	r.Enter(a) // also before the event
	for _, name := range []string{"a", "b", "c"} {
		events.set(r.object(name, RolloutState{Digest: "old"}))
	}
	if r.pass("b", false).Granted {
		t.Error("b doesn't wait for a")
	}
	r.takeTurns()
	if !r.pass("a", false).Granted {
		t.Error("a has to wait")
	}
	r.Enter(a)
	r.Written(r.object("a", RolloutState{Digest: "new"}))
	r.takeTurns("b")
	r.End(a, "new", false)
	// A pass that has asked, and waits, is notified as soon as it is its turn.
	r.Enter(types.NamespacedName{Namespace: "ns", Name: "c"})
	if r.pass("c", false).Granted || !r.pass("b", false).Granted {
		t.Error("c has to wait for b")
	}
	r.turns = nil
	r.Written(r.object("b", RolloutState{Digest: "new"}))
	r.takeTurns("c")
}

// TestRolloutFailures stops after more failures than permitted, tells all that wait, and goes on.
func TestRolloutFailures(t *testing.T) {
	t.Parallel()
	r := newRolloutTest(t, intstr.FromInt32(1), 1)
	events := rolloutEvents{r.Rollout}
	for _, name := range []string{"a", "b", "c", "d"} {
		events.set(r.object(name, RolloutState{Digest: "old"}))
	}
	for _, name := range []string{"a", "b"} {
		if !r.pass(name, false).Granted {
			t.Fatal(name)
		}
		r.Written(r.object(name, RolloutState{Digest: "new", InProgress: true}, fail))
		r.pass("c", true)
		events.set(r.object("c", RolloutState{Digest: "old"}))
	}
	turn := r.pass("c", false)
	if turn.Granted || turn.Reason != ReasonRolloutStopped || !strings.HasSuffix(turn.Message, ": ns/a, ns/b") {
		t.Errorf("%+v", turn)
	}
	r.turns = nil
	events.set(r.object("b", RolloutState{Digest: "new", InProgress: true}, fail, pause))
	r.takeTurns("c")
	r.pass("c", false)
	r.pass("d", false)
	r.reasons = nil
	events.set(r.object("b", RolloutState{Digest: "new", InProgress: true}, fail))
	if !slices.Equal(r.reasons, []string{"d"}) {
		t.Errorf("%v are told that the rollout has stopped", r.reasons)
	}
	// Another version starts from the beginning.
	r.turns = nil
	r.End(types.NamespacedName{Namespace: "ns", Name: "d"}, "newer", false)
	r.takeTurns("a")
}

// TestRolloutLimits refuses invalid limits.
func TestRolloutLimits(t *testing.T) {
	t.Parallel()
	for _, limit := range []intstr.IntOrString{{}, intstr.FromInt32(-1), intstr.FromString("0%"), intstr.FromString("101%"), intstr.FromString("5")} {
		kind := NewKind(0, "")
		if err := kind.SetRollout(limit, 0); err == nil {
			t.Errorf("%q: no error", limit.String())
		}
	}
	kind := NewKind(0, "")
	if err := kind.SetRollout(intstr.FromInt32(1), -1); err == nil {
		t.Error("maxFailures -1: no error")
	}
}

// BenchmarkRollout measures an event while 1,000 resources wait.
func BenchmarkRollout(b *testing.B) {
	t := &testing.T{}
	r := newRolloutTest(t, intstr.FromInt32(5), 0)
	events := rolloutEvents{r.Rollout}
	for i := range 1000 {
		events.set(r.object(fmt.Sprint(i), RolloutState{Digest: "old"}))
	}
	r.setDigest("new")
	for b.Loop() {
		events.set(r.object("500", RolloutState{Digest: "old"}))
	}
}
