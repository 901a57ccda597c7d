package permit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/permit"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// generated returns the permissions of an operator with the role of the markers in a.go.
func generated(t *testing.T, project *worktree.Tree) *stage.Permissions {
	t.Helper()
	text, err := project.ReadFile("a.go")
	if err != nil {
		t.Fatal(err)
	}
	f, err := gosource.Parse("a.go", text)
	if err != nil {
		t.Fatal(err)
	}
	var rules []stage.Rule
	for _, m := range codegen.RuleMarkers(f) {
		rules = append(rules, stage.Rule{APIGroups: m.Groups, Resources: m.Resources, ResourceNames: m.ResourceNames, NonResourceURLs: m.URLs, Verbs: m.Verbs})
	}
	list, err := json.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"} {
		list = []byte(strings.ReplaceAll(string(list), `"`+strings.ToUpper(field[:1])+field[1:]+`"`, `"`+field+`"`))
	}
	list = []byte(strings.ReplaceAll(string(list), `"APIGroups"`, `"apiGroups"`))
	objects, err := kube.Decode([]byte(`{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, namespace: a}, spec: {template: {spec: {serviceAccountName: app}}}}
---
{kind: ClusterRole, apiVersion: rbac.authorization.k8s.io/v1, metadata: {name: app}, rules: ` + string(list) + `}
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
	return p
}

// TestCorrect runs an operator that lists pods, creates Secrets and reads a path, and checks its markers afterwards.
func TestCorrect(t *testing.T) {
	t.Parallel()
	const pods, secrets, path = "// m:groups=\"\",resources=pods,verbs=get;list;watch\n", "// m:groups=\"\",resources=secrets,verbs=create\n", "// m:urls=/x,verbs=get\n"
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const events = "// m:groups=\"\",resources=events,verbs=create\n"
	for name, test := range map[string]struct {
		before   string
		audited  bool
		want     string
		findings int
	}{
		"nothing":                           {pods + secrets + path, false, pods + secrets + path, 0},
		"missing":                           {pods, false, pods + secrets + path, 0},
		"missing beside a wildcard":         {"// m:groups=\"\",resources=pods,verbs=*\n", false, "// m:groups=\"\",resources=pods,verbs=*\n" + secrets + path, 1},
		"all verbs":                         {"// m:groups=\"\",resources=pods;secrets,verbs=*\n" + path, false, pods + secrets + path, 0},
		"all resources":                     {"// m:groups=\"\",resources=*,verbs=get;list;watch;create\n" + path, false, pods + secrets + path, 0},
		"all paths":                         {pods + secrets + "// m:urls=/*;*,verbs=get;put\n", false, pods + secrets + path, 0},
		"a wildcard of which nothing is":    {pods + secrets + path + "// m:groups=apps,resources=*,verbs=get\n", false, pods + secrets + path + "// m:groups=apps,resources=*,verbs=get\n", 1},
		"the same with an audit log":        {pods + secrets + path + "// m:groups=apps,resources=*,verbs=get\n", true, pods + secrets + path, 0},
		"unused":                            {pods + "// m:groups=\"\",resources=secrets,verbs=create;delete\n" + path, false, pods + "// m:groups=\"\",resources=secrets,verbs=create;delete\n" + path, 0},
		"unused in an audit log":            {pods + "// m:groups=\"\",resources=secrets,verbs=create;delete;escalate\n" + path + events, true, pods + "// m:groups=\"\",resources=secrets,verbs=create;escalate\n" + path + events, 0},
		"unused resource in an audit log":   {"// m:groups=\"\",resources=pods;nodes,verbs=get;list;watch\n" + secrets + path, true, pods + secrets + path, 0},
		"unused finalizers in an audit log": {pods + secrets + path + "// m:groups=a.io,resources=as/finalizers,verbs=update\n", true, pods + secrets + path + "// m:groups=a.io,resources=as/finalizers,verbs=update\n", 0},
	} {
		project := tree(t, map[string]string{"go.mod": "module p\n", "a.go": test.before})
		o := &behavior.Observation{Permit: stage.Permission.Marker, Grant: stage.Denial.Marker, Steps: []behavior.Step{{Name: "create", Start: start, End: start.Add(time.Second)}}}
		var err error
		if o.Grants, err = generated(t, project).Grants(); err != nil {
			t.Fatal(err)
		}
		for _, request := range []gateway.Request{
			{Verb: "list", Resource: "pods"}, {Verb: "create", Resource: "secrets", Namespace: "x"}, {Verb: "get", Path: "/x"},
		} {
			r := gateway.Record{Request: request, Start: start, ServerCode: 200}
			if !o.Grants.Permits(request) {
				r.ServerCode, r.Message = 403, fmt.Sprintf(`User "u" cannot %s resource %q in API group ""`, request.Verb, request.Resource)
				if request.Path != "" {
					r.Message = fmt.Sprintf(`User "u" cannot %s path %q`, request.Verb, request.Path)
				}
			}
			if r.ServerCode == 403 { // which explains an error in the log, also if it is permitted by now
				o.Logged = append(o.Logged, behavior.LoggedError{Time: start, Message: "Reconciler error", Cause: r.Message})
			}
			o.Grants.Use(r)
			o.Requests = append(o.Requests, r)
		}
		if test.audited {
			log := `{"kind":"Event","stage":"ResponseComplete","verb":"get","requestURI":"/x","user":{"username":"system:serviceaccount:a:app"}}`
			if err := o.Grants.UseAudit("audit.log", strings.NewReader(log)); err != nil {
				t.Fatal(err)
			}
		}
		_, findings, err := permit.PlanFor(o, true).Correct(o, project, func() (*stage.Permissions, error) { return generated(t, project), nil })
		if got := content(t, project, "a.go"); err != nil || got != test.want || len(findings) != test.findings {
			t.Errorf("%s (%v): got\n%s\nwant\n%s\nfindings %v", name, err, got, test.want, findings)
		}
	}
}

// TestNotCorrected checks that nothing is changed if the role isn't generated from markers, or the operator had no time to do its work.
func TestNotCorrected(t *testing.T) {
	t.Parallel()
	const text = "// m:groups=\"\",resources=secrets,verbs=*\n"
	for name, denied := range map[string]bool{"role of the user": true, "unsettled": false} {
		project := tree(t, map[string]string{"go.mod": "module p\n", "a.go": text})
		before := generated(t, project)
		o := &behavior.Observation{Permit: stage.Permission.Marker, Grant: stage.Denial.Marker}
		var err error
		if o.Grants, err = before.Grants(); err != nil {
			t.Fatal(err)
		}
		if denied {
			o.Requests = []gateway.Record{{Request: gateway.Request{Verb: "get", Resource: "pods"}, ServerCode: 403, Message: `User "u" cannot get resource "pods" in API group ""`}}
		}
		changes, findings, err := permit.PlanFor(o, denied).Correct(o, project, func() (*stage.Permissions, error) { return before, nil })
		rules := []string{behavior.RuleForbidden, behavior.RuleWildcard}
		if !denied {
			rules = rules[1:]
		}
		got := slices.Collect(func(yield func(string) bool) {
			for _, f := range findings {
				yield(f.Rule)
			}
		})
		if err != nil || len(changes) > 0 || content(t, project, "a.go") != text || !slices.Equal(got, rules) {
			t.Errorf("%s: changes %v, findings %v (%v)", name, changes, diag.Findings(findings), err)
		}
	}
}
