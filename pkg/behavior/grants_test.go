package behavior_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// observed returns what an operator did that has used its rules for some requests.
func observed(t *testing.T, rules string, requests ...gateway.Record) *behavior.Observation {
	t.Helper()
	objects, err := kube.Decode([]byte(`{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, namespace: a}, spec: {template: {spec: {serviceAccountName: app}}}}
---
{kind: ClusterRole, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: app}, rules: [` + rules + `]}
---
{kind: ClusterRoleBinding, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: app}, roleRef: {kind: ClusterRole, name: app}, subjects: [{kind: ServiceAccount, name: app, namespace: a}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := stage.PermissionsOf(objects, "")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grants()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		g.Use(r)
	}
	return &behavior.Observation{Grants: g, Permit: stage.Permission.Rule}
}

func TestWildcards(t *testing.T) {
	t.Parallel()
	o := observed(t, `{apiGroups: [""], resources: [pods], verbs: [get]}, {apiGroups: [""], resources: ["*"], verbs: ["*"]}, {apiGroups: ["*"], resources: [nodes], verbs: [get]}`,
		request(1, "list", "pods", "", 200), request(2, "create", "secrets", "one", 201))
	var got []string
	for _, f := range o.Findings() {
		got = append(got, fmt.Sprintf("%s %s %s: %s; %s", f.Rule, f.Object, f.Field, f.Problem, f.Fix))
		for _, related := range f.Related {
			got = append(got, related.Problem)
		}
	}
	want := []string{
		"wildcard-permission ClusterRole app rules[1]: the wildcard in resources and verbs permits far more than the operator uses; permit what the operator has used, and what else you know that it needs:",
		`- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}`,
		`- {apiGroups: [""], resources: [secrets], verbs: [create]}`,
		"wildcard-permission ClusterRole app rules[2]: the wildcard in apiGroups permits far more than the operator uses; remove the rule: the operator has used nothing of it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestAudit checks that denied requests in an audit log are findings unless they are permitted now, and so is what is used nowhere, unless a
// rule is generated.
func TestAudit(t *testing.T) {
	t.Parallel()
	o := observed(t, `{apiGroups: [""], resources: [pods], verbs: [delete, patch]}`)
	var log strings.Builder
	for _, request := range []string{"delete pods allow", "patch pods forbid", "get secrets forbid", "get secrets forbid"} {
		f := strings.Fields(request)
		fmt.Fprintf(&log, `{"kind":"Event","stage":"ResponseComplete","verb":%q,"user":{"username":"system:serviceaccount:a:app"},`+
			`"objectRef":{"resource":%q,"namespace":"b","name":"one","apiVersion":"v1"},"annotations":{"authorization.k8s.io/decision":%q}}`+"\n", f[0], f[1], f[2])
	}
	if err := o.Grants.UseAudit("audit.log", strings.NewReader(log.String())); err != nil {
		t.Fatal(err)
	}
	o.Grant = stage.Denial.Rule
	findings := o.Findings()
	if len(findings) != 2 || findings[0].Problem != "the operator has no permission to get secrets in the namespace b" || len(findings[0].Related) != 2 {
		t.Errorf("findings %v", findings)
	}
	if f := findings[1]; f.Rule != behavior.RuleUnused || f.Problem != "the operator uses patch pods neither here nor in the audit log" {
		t.Errorf("finding %v", f)
	}
	if notes := o.Unused(); notes != nil {
		t.Errorf("notes about what is a finding: %q", notes)
	}
	o.IsGenerated = func(*stage.Rule) bool { return true }
	if got, want := o.Unused(), []string{"never used in this run: patch pods (ClusterRole app)"}; !slices.Equal(got, want) || len(o.Findings()) != 1 {
		t.Errorf("got %q, want %q, findings %v", got, want, o.Findings())
	}
	err := o.Grants.UseAudit("other.log", strings.NewReader(strings.ReplaceAll(log.String(), ":a:app", ":b:app")))
	if err == nil || err.Error() != "other.log has no requests of the operator, which is the user system:serviceaccount:a:app in the cluster" {
		t.Errorf("error %v", err)
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	o := observed(t, `{apiGroups: [""], resources: [pods, configmaps, configmaps/finalizers], verbs: [get, watch, update, delete]},
{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get]}, {apiGroups: [events.k8s.io, ""], resources: [events], verbs: [create]}`,
		request(1, "list", "pods", "", 200), request(1, "watch", "pods", "", 200), request(2, "update", "pods", "one", 200))
	if got, want := o.Unused(), []string{
		"never used in this run: delete pods (ClusterRole app)", "never used in this run: get, watch, update, delete configmaps (ClusterRole app)",
	}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Steps = []behavior.Step{{Name: "create", Unsettled: errors.New("not settled within 1s")}}
	if notes := o.Unused(); notes != nil {
		t.Errorf("notes about an operator that didn't do its work: %q", notes)
	}
	if notes := (&behavior.Observation{}).Unused(); notes != nil {
		t.Errorf("notes about an administrator: %q", notes)
	}
}
