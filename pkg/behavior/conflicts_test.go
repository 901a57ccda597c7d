package behavior_test

import (
	"fmt"
	"testing"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

// update returns an update of a version of an object, and the version in the answer.
func update(second int, base, answer string, code int) gateway.Record {
	return withRecord(request(second, "update", "configmaps", "one", code), func(r *gateway.Record) {
		r.BaseVersion, r.ResourceVersion = base, answer
		if code == 409 {
			r.Message = "the object has been modified"
		}
	})
}

// version returns a version of an object.
func version(t *testing.T, second int, number, more string) stage.Change {
	t.Helper()
	return stage.Change{Time: at(second), After: object(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: a, uid: u, resourceVersion: %q%s}}", number, more))}
}

// TestLostConflicts checks which conflicts are lost. Somebody else writes version 2, and the operator those that its requests are answered with.
func TestLostConflicts(t *testing.T) {
	t.Parallel()
	conflict := update(3, "1", "", 409)
	theirs := []stage.Change{version(t, 1, "1", ""), version(t, 2, "2", "")}
	then := func(changes ...stage.Change) []stage.Change { return append(theirs[:2:2], changes...) }
	status := func(r *gateway.Record) { r.Subresource = "status" }
	settled := behavior.Step{Name: "create", Start: at(0), Settled: at(8), End: at(10)}
	for name, test := range map[string]struct {
		requests []gateway.Record
		changes  []stage.Change
		step     behavior.Step
		lost     bool
	}{
		"lost":                                {[]gateway.Record{conflict}, theirs, settled, true},
		"refused again":                       {[]gateway.Record{conflict, update(4, "1", "", 409)}, theirs, settled, true},
		"written by others later":             {[]gateway.Record{conflict}, then(version(t, 4, "3", "")), settled, true},
		"done again":                          {[]gateway.Record{conflict, update(4, "2", "3", 200)}, then(version(t, 4, "3", "")), settled, false},
		"done again without a change":         {[]gateway.Record{conflict, update(4, "2", "2", 200)}, theirs, settled, false},
		"done before, with an old cache":      {[]gateway.Record{update(2, "1", "2", 200), conflict}, theirs, settled, false},
		"only the status is done again":       {[]gateway.Record{conflict, withRecord(update(4, "2", "3", 200), status)}, then(version(t, 4, "3", "")), settled, true},
		"done again in a later step":          {[]gateway.Record{conflict, update(11, "2", "3", 200)}, then(version(t, 11, "3", "")), settled, true},
		"deleted":                             {[]gateway.Record{conflict}, then(stage.Change{Time: at(4), After: theirs[1].After, Deleted: true}), settled, false},
		"being deleted":                       {[]gateway.Record{conflict}, then(version(t, 4, "3", `, deletionTimestamp: "2026-01-01T00:00:00Z"`)), settled, false},
		"not at rest yet":                     {[]gateway.Record{conflict}, theirs, behavior.Step{Start: at(0), End: at(10)}, false},
		"after the last step":                 {[]gateway.Record{conflict}, theirs, behavior.Step{Start: at(0), Settled: at(1), End: at(2)}, false},
		"exists already":                      {[]gateway.Record{withRecord(conflict, func(r *gateway.Record) { r.Verb = "create" })}, theirs, settled, false},
		"lease":                               {[]gateway.Record{withRecord(conflict, func(r *gateway.Record) { r.Group = "coordination.k8s.io" })}, theirs, settled, false},
		"unknown version":                     {[]gateway.Record{update(3, "", "", 409)}, theirs, settled, true},
		"unknown version, done again":         {[]gateway.Record{update(3, "", "", 409), update(4, "2", "3", 200)}, theirs, settled, false},
		"unknown version, done only before":   {[]gateway.Record{update(2, "", "2", 200), update(3, "", "", 409)}, theirs, settled, true},
		"unknown version, another is written": {[]gateway.Record{update(3, "", "", 409), withRecord(update(4, "2", "3", 200), func(r *gateway.Record) { r.Name = "two" })}, theirs, settled, true},
	} {
		o := behavior.Observation{Requests: test.requests, Changes: test.changes, Steps: []behavior.Step{test.step}}
		findings := o.Findings()
		if lost := len(findings) == 1; lost != test.lost || lost && (findings[0].Rule != behavior.RuleConflict || findings[0].Object != "configmaps a/one") {
			t.Errorf("%s: %v", name, findings)
		}
	}
}

// TestReturnedConflict checks a conflict that controller-runtime logs, after which Reconcile is called again, and what follows from it.
func TestReturnedConflict(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		second  int
		message string
		byHand  bool
		want    int
	}{
		"returned":     {4, "Reconciler error", true, 0},
		"only logged":  {4, "could not update", true, 2},
		"another time": {2, "Reconciler error", true, 2},
		"earlier step": {4, "Reconciler error", false, 1},
	} {
		o := behavior.Observation{
			Requests:     []gateway.Record{update(3, "1", "", 409)},
			Steps:        []behavior.Step{{Start: at(0), Settled: at(8), End: at(10), ByHand: test.byHand}},
			Changes:      []stage.Change{version(t, 1, "1", ""), version(t, 2, "2", "")},
			NotCorrected: []behavior.HandChange{{Object: version(t, 2, "2", "").After, Field: "data.a"}},
			Logged:       []behavior.LoggedError{{Time: at(test.second), Message: test.message, Cause: "failed: the object has been modified"}},
		}
		if findings := o.Findings(); len(findings) != test.want {
			t.Errorf("%s: %v", name, findings)
		}
	}
}
