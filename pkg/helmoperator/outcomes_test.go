package helmoperator

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// TestFailureEvents checks which failures are reported by events: each one once, whatever the retries are called.
func TestFailureEvents(t *testing.T) {
	t.Parallel()
	recorder := record.NewFakeRecorder(100)
	r := &Reconciler{events: recorder}
	obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "generation": int64(1)}}}
	fail := func(kind, reason string, err error) string {
		failure := condition{kind, metav1.ConditionTrue, reason, err.Error()}
		r.emitFailure(obj, failure, err)
		change := newStatusChange()
		change.set(failure)
		status := change.patch(obj, time.Unix(1000, 0))
		obj.Object["status"] = map[string]any{"conditions": status["conditions"]}
		var events []string
		for len(recorder.Events) > 0 {
			events = append(events, <-recorder.Events)
		}
		return strings.Join(events, "; ")
	}
	rolledBack := func(revision int, text string) error {
		return &operationError{ReasonUpgradeError, &release.RolledBackError{Revision: revision, Err: errors.New(text)}}
	}
	for i, step := range []struct {
		change       func()
		kind, reason string
		err          error
		want         string
	}{
		{nil, ConditionReleaseFailed, ReasonUpgradeError, rolledBack(3, "job web-x7f2k failed after 12 s"),
			"Warning UpgradeError job web-x7f2k failed after 12 s; rolled back to revision 3; Normal RollbackSuccessful Rolled the release back to revision 3"},
		{nil, ConditionReleaseFailed, ReasonUpgradeError, rolledBack(5, "job web-9q1zb failed after 3 s"), ""},
		{nil, ConditionReleaseFailed, ReasonUpgradeError, errors.New("no connection"), "Warning UpgradeError no connection"},
		{nil, ConditionReleaseFailed, ReasonInstallError, errors.New("no connection"), "Warning InstallError no connection"},
		{nil, ConditionIrreconcilable, ReasonReconcileError, errors.New("no connection"), "Warning ReconcileError no connection"},
		{nil, ConditionIrreconcilable, ReasonReconcileError, errors.New("no connection"), ""},
		{func() { obj.SetGeneration(2) }, ConditionIrreconcilable, ReasonReconcileError, errors.New("no connection"), "Warning ReconcileError no connection"},
	} {
		if step.change != nil {
			step.change()
		}
		if got := fail(step.kind, step.reason, step.err); got != step.want {
			t.Errorf("step %d: events %q, want %q", i, got, step.want)
		}
	}
}
