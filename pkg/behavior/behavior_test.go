package behavior_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// at returns a time in seconds.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func request(second int, verb, resource, name string, code int) gateway.Record {
	r := gateway.Record{Start: at(second), Code: code, ServerCode: code, Request: gateway.Request{Verb: verb, Version: "v1", Resource: resource, Name: name}}
	if name != "" {
		r.Namespace = "a"
	}
	return r
}

func object(t *testing.T, text string) *kube.Object {
	t.Helper()
	objects, err := kube.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

// write returns a write that changes nothing, or what two versions of a ConfigMap differ in.
func write(t *testing.T, second int, verb string, versions ...string) stage.Write {
	t.Helper()
	w := stage.Write{Record: request(second, verb, "configmaps", "one", 200)}
	if len(versions) == 2 {
		full := func(fields string) *kube.Object {
			return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: a, uid: u}, "+fields+"}")
		}
		w.Change = &stage.Change{Time: at(second), Before: full(versions[0]), After: full(versions[1])}
	}
	return w
}

func withRecord(r gateway.Record, change func(*gateway.Record)) gateway.Record {
	change(&r)
	return r
}

// TestFindings checks each rule with what it finds, and with what is near and correct.
func TestFindings(t *testing.T) {
	t.Parallel()
	denied := withRecord(request(1, "list", "secrets", "", 403), func(r *gateway.Record) {
		r.Message = `secrets is forbidden: User "x" cannot list resource "secrets" in API group "" at the cluster scope`
	})
	times := func(n int) (writes []stage.Write) {
		for i := range n {
			status := func(i int) string {
				return fmt.Sprintf("status: {checked: %q, passes: %d}", at(i).UTC().Format(time.RFC3339), i)
			}
			writes = append(writes, write(t, i, "update", status(i), status(i+1)))
		}
		return writes
	}
	numbers := func(n int) (writes []stage.Write) {
		for i := range n {
			writes = append(writes, write(t, 2*i+1, "update", fmt.Sprintf("status: {ready: %d}", i), fmt.Sprintf("status: {ready: %d}", i+1)))
		}
		return writes
	}
	podAt := func(second int) stage.Change {
		return stage.Change{Time: at(second), After: object(t, `{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: a, resourceVersion: "9"}}`)}
	}
	flips := func(n int) (changes []stage.Change) {
		for i := range n {
			changes = append(changes, *write(t, i, "update", fmt.Sprintf("spec: {n: %d}", i%2), fmt.Sprintf("spec: {n: %d}", (i+1)%2)).Change)
		}
		return changes
	}
	endpoints := func(changes []stage.Change) []stage.Change {
		for _, c := range changes {
			c.After.SetKind("EndpointSlice")
		}
		return changes
	}
	lists := func(n int, query string) (records []gateway.Record) {
		for i := range n {
			records = append(records, withRecord(request(i, "list", "pods", "", 200), func(r *gateway.Record) { r.Query = query }))
		}
		return records
	}
	step := behavior.Step{Name: "create", Start: at(0), Settled: at(10), End: at(20)}
	elsewhere := behavior.Step{Name: "create", Start: at(0), Settled: at(5), End: at(20), Namespace: "b"}
	for name, test := range map[string]struct {
		observed behavior.Observation
		want     []string
	}{
		"forbidden": {
			behavior.Observation{Requests: []gateway.Record{denied, denied, request(2, "get", "secrets", "one", 404)}},
			[]string{`forbidden-request : the operator has no permission to list secrets in the whole cluster (2) fix // +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch`},
		},
		"escalation": {
			behavior.Observation{Requests: []gateway.Record{withRecord(request(1, "create", "roles", "", 403), func(r *gateway.Record) {
				r.Namespace = "a"
				r.Message = `roles "one" is forbidden: user "x" is attempting to grant RBAC permissions not currently held: {APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`
			})}},
			[]string{"forbidden-request roles a/one: grants what the operator itself may not do: get deployments.apps (1) fix give the operator what it grants, or the verbs escalate and bind: // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get"},
		},
		"panics": {
			behavior.Observation{Logged: []behavior.LoggedError{
				{Message: "Observed a panic", Cause: "nil map"}, {Message: "Reconciler error", Cause: "panic: nil map [recovered]"},
				{Message: "Reconciler error", Cause: "the panic: button is missing"},
			}},
			[]string{"panic : the operator panics: nil map, in 2 lines of its log"},
		},
		"without change": {
			behavior.Observation{Writes: []stage.Write{write(t, 1, "patch"), write(t, 2, "patch"), write(t, 3, "patch"), write(t, 4, "patch"), write(t, 5, "patch", "data: {}", "data: {a: b}")}},
			[]string{"write-without-change configmaps a/one: 4 of 5 writes change nothing (4)"},
		},
		"patches before the cache is up to date": {observed: behavior.Observation{Writes: append([]stage.Write{write(t, 1, "patch", "data: {}", "data: {a: b}")},
			slices.Repeat([]stage.Write{write(t, 1, "patch")}, 5)...)}},
		"patches after that": {
			behavior.Observation{Writes: append([]stage.Write{write(t, 1, "patch", "data: {}", "data: {a: b}")}, slices.Repeat([]stage.Write{write(t, 2, "patch")}, 5)...)},
			[]string{"write-without-change configmaps a/one: 5 of 6 writes change nothing (4)"},
		},
		"updates shortly after a change": {
			behavior.Observation{Writes: append([]stage.Write{write(t, 1, "patch", "data: {}", "data: {a: b}")}, slices.Repeat([]stage.Write{write(t, 1, "update")}, 5)...)},
			[]string{"write-without-change configmaps a/one: 5 of 6 writes change nothing (4)"},
		},
		"modules of Ansible": {observed: behavior.Observation{Writes: slices.Repeat([]stage.Write{{
			Record: withRecord(request(1, "patch", "configmaps", "one", 200), func(r *gateway.Record) { r.UserAgent = "OpenAPI-Generator/22.6.0/python" }),
		}}, 5)}},
		"twice without change": {observed: behavior.Observation{Writes: []stage.Write{write(t, 1, "patch"), write(t, 2, "patch")}}},
		"at rest": {
			behavior.Observation{Steps: []behavior.Step{step}, Writes: []stage.Write{write(t, 9, "patch"), write(t, 15, "patch")}},
			[]string{"write-without-change configmaps a/one: 2 of 2 writes change nothing (2)", "write-at-rest configmaps a/one: is written while nothing happens (1)"},
		},
		"changed at rest": {
			behavior.Observation{Steps: []behavior.Step{step}, Writes: []stage.Write{write(t, 9, "patch"), write(t, 15, "patch", "data: {}", "data: {a: b}")}},
			[]string{"write-at-rest configmaps a/one: is written while nothing happens (1)"},
		},
		"at rest in another scenario": {observed: behavior.Observation{Steps: []behavior.Step{elsewhere}, Writes: []stage.Write{write(t, 15, "patch")}}},
		"at rest beside another scenario": {
			behavior.Observation{Steps: []behavior.Step{elsewhere, step}, Writes: []stage.Write{write(t, 15, "patch")}},
			[]string{"write-without-change configmaps a/one: 1 of 1 writes changes nothing (1)", "write-at-rest configmaps a/one: is written while nothing happens (1)"},
		},
		"times":                          {behavior.Observation{Writes: times(3)}, []string{"changing-status configmaps a/one: 3 writes change nothing else (3)"}},
		"two times":                      {observed: behavior.Observation{Writes: times(2)}},
		"counters of what others change": {observed: behavior.Observation{Writes: numbers(3), Changes: []stage.Change{podAt(0), podAt(2), podAt(4)}}},
		"counters before others change":  {behavior.Observation{Writes: numbers(3), Changes: []stage.Change{podAt(6)}}, []string{"changing-status configmaps a/one: 3 writes change nothing else (3)"}},
		"times with something else": {observed: behavior.Observation{Writes: slices.Repeat([]stage.Write{
			write(t, 1, "update", `status: {checked: "2026-01-01T00:00:00Z"}`, `status: {checked: "2026-01-01T00:00:01Z", ready: true}`),
		}, 5)}},
		"fight": {
			behavior.Observation{Changes: flips(5)},
			[]string{"fight-over-field configmap a/one: changes between 0 and 1 again and again"},
		},
		"endpoints":            {observed: behavior.Observation{Changes: endpoints(flips(5))}},
		"back and forth":       {observed: behavior.Observation{Changes: flips(3)}},
		"lists":                {behavior.Observation{Requests: lists(4, "limit=500")}, []string{"uncached-list pods: is listed 4 times without a cache (4)"}},
		"lists of an informer": {observed: behavior.Observation{Requests: lists(9, "limit=500&resourceVersion=0")}},
		"lists of releases":    {observed: behavior.Observation{Requests: lists(9, "labelSelector=name%3Dshop%2Cowner%3Dhelm")}},
		"refused": {
			behavior.Observation{Refused: []behavior.Refusal{{object(t, "{apiVersion: v1, kind: Secret, metadata: {name: one, namespace: a}}"), errors.New("no such kind")}}},
			[]string{"a.yaml:7 refused-resource secret a/one: can't be created: no such kind"},
		},
		"unsettled": {
			behavior.Observation{Steps: []behavior.Step{{Name: "create", Unsettled: errors.New("not settled within 1s")}}},
			[]string{"unsettled create: not settled within 1s"},
		},
		"not repaired": {
			behavior.Observation{NotRepaired: []*kube.Object{object(t, "{apiVersion: v1, kind: Secret, metadata: {name: one, namespace: a}}")}},
			[]string{"not-repaired secret a/one: was deleted by hand, and the operator doesn't make it again"},
		},
		"left": {
			behavior.Observation{Left: []behavior.Leftover{
				{Object: object(t, "{apiVersion: v1, kind: Secret, metadata: {name: one, namespace: a}}"), Scenario: "basics"},
				{Object: object(t, `{apiVersion: v1, kind: Secret, metadata: {name: two, namespace: a, deletionTimestamp: "2026-01-01T00:00:00Z"}}`)},
			}},
			[]string{"left-behind secret a/one: is left after the custom resource (scenario basics)", "left-behind secret a/two: is being deleted, and waits for its finalizers"},
		},
		"failed command": {
			behavior.Observation{CommandFailure: errors.New("exit status 3")},
			[]string{"failed-workload --workload: the command fails: exit status 3"},
		},
	} {
		test.observed.Grant, test.observed.Permit = stage.Denial.Marker, stage.Permission.Marker
		test.observed.Place = func(*kube.Object, string) diag.Position { return diag.Position{File: "a.yaml", Line: 7} }
		var got []string
		for _, f := range test.observed.Findings() {
			text := strings.TrimLeft(fmt.Sprintf("%s %s %s: %s", f.Position, f.Rule, f.Object, f.Problem), " ")
			if n := len(f.Related); n > 0 {
				text += fmt.Sprintf(" (%s)", strings.TrimSuffix(fmt.Sprint(n), " more"))
			}
			if f.Rule == behavior.RuleForbidden {
				text += " fix " + f.Fix
			}
			got = append(got, text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}

// TestWroteNothing leaves out leases, and says nothing about an operator whose requests are unknown.
func TestWroteNothing(t *testing.T) {
	t.Parallel()
	lease := withRecord(request(2, "update", "leases", "one", 200), func(r *gateway.Record) { r.Group = "coordination.k8s.io" })
	for name, test := range map[string]struct {
		requests []gateway.Record
		want     bool
	}{
		"reads and leases": {[]gateway.Record{request(1, "list", "pods", "", 200), lease}, true},
		"a denied write":   {[]gateway.Record{lease, request(1, "create", "pods", "one", 403)}, false},
		"unknown":          {nil, false},
	} {
		o := behavior.Observation{Requests: test.requests}
		if got := o.WroteNothing(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
