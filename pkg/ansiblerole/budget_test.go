package ansiblerole

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/rbac"
)

// mayCreate reports whether rules contain a verb on a resource.
func mayVerb(rules []rbac.Rule, verb, resource string) bool {
	return slices.ContainsFunc(rules, func(r rbac.Rule) bool {
		return slices.Contains(r.Verbs, verb) && slices.Contains(r.Resources, resource)
	})
}

// expensiveTasks adds task files to a role that take more steps than it may: each includes the next one nine times.
func expensiveTasks(files Files, role string) {
	for i := range 8 {
		files[fmt.Sprintf("roles/%s/tasks/a%d.yml", role, i)] = fmt.Appendf(nil, "- include_tasks: a%d.yml\n  loop: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", i+1)
	}
	files["roles/"+role+"/tasks/a8.yml"] = []byte("- debug:\n")
}

// A role that takes too many steps still gives rules for the kinds that are literal in it and in what it includes, the other roles have their own
// steps, and one finding lists the places that were not analyzed.
func TestBudgets(t *testing.T) {
	t.Parallel()
	files := Files{
		"playbooks/app.yml": []byte("- hosts: localhost\n  roles: [expensive, other]\n"),
		"watches.yaml":      []byte("- {group: apps.example.com, version: v1, kind: App, playbook: playbooks/app.yml}\n"),
		"roles/expensive/tasks/main.yml": []byte(`- include_tasks: a0.yml
- k8s: {state: absent, api_version: apps/v1, kind: Deployment, name: a}
- block:
  - k8s: {template: "{{ item }}.yml.j2"}
    loop: "{{ names }}"
- k8s: {definition: "{{ object }}"}
- debug: {msg: "{{ lookup('k8s', kind='Node') }}"}
- set_fact:
    text: |
      apiVersion: batch/v1
      kind: CronJob
      metadata: {name: "{{ a }}"}
- include_role: {name: included}
- include_tasks: "more/{{ x }}.yml"
`),
		"roles/expensive/tasks/more/one.yml":          []byte("- kubernetes.core.k8s_info: {kind: Endpoints}\n"),
		"roles/expensive/vars/main.yml":               []byte("object: {apiVersion: v1, kind: Secret}\n"),
		"roles/expensive/templates/role.yml.j2":       []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules:\n- {apiGroups: [''], resources: [pods/log], verbs: [get]}\n"),
		"roles/expensive/templates/unnamed/config.j2": []byte("{% if a %}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ name }}\n{% endif %}\n"),
		"roles/included/tasks/main.yml":               []byte("- k8s: {api_version: policy/v1, kind: PodDisruptionBudget, name: a}\n"),
		"roles/other/tasks/main.yml":                  []byte("- k8s: {kind: \"{{ kind }}\", name: a}\n  vars: {kind: Service}\n- k8s: {kind: \"{{ unknown }}\"}\n"),
		"roles/unused/tasks/main.yml":                 []byte("- k8s: {kind: Pod, name: a}\n"),
	}
	expensiveTasks(files, "expensive")
	rules, notes := Rules(files, apisOf(t, files))
	for _, want := range []string{
		"delete deployments", "create roles", "get pods/log", "create configmaps", "create secrets", "get nodes", "list endpoints", "create cronjobs",
		"create poddisruptionbudgets", "create services",
	} {
		if verb, resource, _ := strings.Cut(want, " "); !mayVerb(rules, verb, resource) {
			t.Errorf("no rule to %s", want)
		}
	}
	for _, unwanted := range []string{"create deployments", "get pods"} {
		if verb, resource, _ := strings.Cut(unwanted, " "); mayVerb(rules, verb, resource) {
			t.Errorf("a rule to %s", unwanted)
		}
	}
	var text strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&text, n)
	}
	const want = `roles/expensive/tasks/a0.yml:1: too complex to be analyzed completely: 11 places; the manager's role has permissions for the kinds that their roles and playbooks name literally, and may lack others:
    roles/expensive/tasks/a0.yml:1
    roles/expensive/tasks/a1.yml
    roles/expensive/tasks/a2.yml
    roles/expensive/tasks/a3.yml
    roles/expensive/tasks/a4.yml
    roles/expensive/tasks/a5.yml
    roles/expensive/tasks/a6.yml
    roles/expensive/tasks/a7.yml
    roles/expensive/tasks/a8.yml
    roles/expensive/tasks/main.yml:1
    roles/expensive/tasks/main.yml:2 (and the tasks after it)
roles/other/tasks/main.yml:3: the kind depends on variables; the manager's role may lack permissions for it
`
	if got := text.String(); got != want {
		t.Errorf("got notes\n%s\nwant\n%s", got, want)
	}
	again, notesAgain := Rules(files, apisOf(t, files))
	if !reflect.DeepEqual(rules, again) || !reflect.DeepEqual(notes, notesAgain) {
		t.Error("another analysis has another result")
	}
}

// Templates that look each other up are scanned once for the variables of a task, in however many ways they can be reached.
func TestLookupsBetweenTemplates(t *testing.T) {
	t.Parallel()
	files := Files{"roles/app/tasks/main.yml": []byte("- k8s: {definition: \"{{ lookup('template', 't0.yml') }}\"}\n- k8s: {kind: \"{{ kind }}\"}\n  vars: {kind: Route, api_version: route.openshift.io/v1}\n")}
	const count = 16
	for i := range count {
		var b strings.Builder
		b.WriteString("apiVersion: v1\nkind: ConfigMap\ndata:\n")
		for j := range count {
			fmt.Fprintf(&b, "  t%d: \"{{ lookup('template', 't%d.yml') | sha1 }}\"\n", j, j)
		}
		files[fmt.Sprintf("roles/app/templates/t%d.yml", i)] = []byte(b.String())
	}
	rules, notes := Rules(files, apisOf(t, files))
	if len(notes) > 0 || !mayVerb(rules, "create", "routes") {
		t.Errorf("got %v, %v", rules, notes)
	}
}
