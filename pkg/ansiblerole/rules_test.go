package ansiblerole

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/rbac"
	"github.com/operon-sdk/operon/pkg/watches"
)

// Each archive contains a project, and the expected rules and notes. The rules of the runtime are left out.
func TestRules(t *testing.T) {
	t.Parallel()
	archives(t, "testdata/rules/*.txtar", func(t *testing.T, e *expected) {
		apis := apisOf(t, e.files)
		rules, notes := Rules(e.files, apis)
		permissions := rbac.Permissions{}
		for _, api := range apis {
			grantRuntime(permissions, api)
		}
		runtime := map[string]bool{}
		for _, r := range permissions.Rules() {
			runtime[fmt.Sprint(r)] = true
		}
		var text strings.Builder
		for _, r := range rules {
			if runtime[fmt.Sprint(r)] {
				continue
			}
			group := strings.Join(r.APIGroups, ",")
			if group == "" {
				group = "core"
			}
			fmt.Fprintf(&text, "%s %s: %s", group, strings.Join(append(r.Resources, r.NonResourceURLs...), ","), strings.Join(r.Verbs, " "))
			if len(r.ResourceNames) > 0 {
				fmt.Fprintf(&text, " (%s)", strings.Join(r.ResourceNames, ", "))
			}
			text.WriteByte('\n')
		}
		e.compare(t, "rules", text.String())
		text.Reset()
		for _, n := range notes {
			fmt.Fprintln(&text, n)
		}
		e.compare(t, "notes", text.String())
		for _, api := range apis {
			_, hasSpecification := e.files["roles/"+api.Watch.Role+"/meta/argument_specs.yml"]
			if schema, _ := Schema(e.files, api.Watch); (schema != nil) != hasSpecification {
				t.Errorf("%s: got schema %v", api.Kind, schema)
			}
		}
	})
}

// Chains of methods and filters evaluate each operand once.
func TestChains(t *testing.T) {
	t.Parallel()
	const length = 30
	for expression, vars := range map[string]string{
		"m" + strings.Repeat(".get('a')", length):                 "m: " + strings.Repeat("{a: ", length) + "Pod" + strings.Repeat("}", length),
		"m" + strings.Repeat(" | union([])", length) + " | first": "m: [Pod]",
	} {
		files := Files{
			"roles/app/tasks/main.yml": []byte("- k8s_info: {kind: \"{{ " + expression + " }}\", name: a}\n"), "roles/app/vars/main.yml": []byte(vars),
		}
		rules, notes := Rules(files, apisOf(t, files))
		if len(notes) > 0 || !slices.ContainsFunc(rules, func(r rbac.Rule) bool { return slices.Contains(r.Resources, "pods") }) {
			t.Errorf("%s: got %v, %v", expression, rules, notes)
		}
	}
}

// apisOf returns the kinds of a watches.yaml; by default, one with the role app.
func apisOf(t *testing.T, files Files) []API {
	t.Helper()
	data, ok := files["watches.yaml"]
	if !ok {
		data = []byte("- {group: apps.example.com, version: v1, kind: App, role: app}\n")
	}
	list, err := watches.ParseAnsible("watches.yaml", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	var apis []API
	for _, w := range list {
		apis = append(apis, API{Group: w.Group, Version: w.Version, Kind: w.Kind, Plural: project.RegularPlural(w.Kind), Watch: NewWatch(w)})
	}
	return apis
}

func FuzzTasks(f *testing.F) {
	for _, seed := range []string{
		"- k8s: {kind: Pod, state: absent, definition: {kind: '{{ item }}'}}\n  loop: [a, b]\n  register: x\n",
		"- block:\n  - include_tasks: '{{ item }}.yml'\n    with_items: [main]\n  rescue: [{import_role: {name: app, tasks_from: '{{ x }}'}}]\n",
		"- set_fact: {x: \"{{ x | default([]) + [item] }}\"}\n  with_dict: {a: {b: c}}\n- k8s: {template: \"{{ x }}\", src: \"{{ x | map('lower') }}\"}\n",
		"- k8s: \"kind=Pod definition='{{ lookup('template', 'app.yml') | from_yaml | combine({}) }}'\"\n  vars: {a: \"{{ a }}\"}\n",
		"- &a\n  shell: [kubectl, get]\n- *a\n- k8s_info: {kind: \"{{ q('k8s', kind=y)[0].z }}\"}\n  when: lookup(x, kind='Y') is z\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, tasks string) {
		files := Files{
			"roles/app/tasks/main.yml": []byte(tasks), "roles/app/templates/app.yml": []byte("kind: {{ x }}\napiVersion: v1\n"),
			"roles/app/defaults/main.yml": []byte("x: y\ny: '{{ x }}'\n"),
		}
		_, _ = Rules(files, []API{{Group: "apps.example.com", Version: "v1", Kind: "App", Plural: "apps", Watch: Watch{Role: "app"}}})
		if _, err := Schema(files, Watch{Role: "app"}); err != nil && !strings.Contains(err.Error(), "invalid YAML") {
			t.Error(err)
		}
	})
}

func FuzzTemplates(f *testing.F) {
	for _, seed := range []string{
		"{% for x in items %}\n---\napiVersion: v1\nkind: {% if x %}Pod{% else %}{{ x }}{% endif %}\n{% endfor %}\n",
		"{% set k = 'Role' %}\napiVersion: rbac.authorization.k8s.io/v1\nkind: {{ k }}\nrules:\n{{ rules | to_nice_yaml }}\n- {apiGroups: ['{{ g }}'], resources: [a], verbs: ['*']}\n",
		"kind: List\napiVersion: v1\nitems:\n{% include 'app.yml' %}\n- {kind: Pod\n", "{{ lookup('template', 'app.yml') }}", "\"kind\": \"A\",\n\"apiVersion\": \"b/c\"\n",
		"kind: RoleBinding\napiVersion: rbac.authorization.k8s.io/v1\nroleRef: {kind: '{{ a }}', name: '{{ b }}'}\nmetadata: {ownerReferences: [{kind: A, apiVersion: b/c, blockOwnerDeletion: true}]}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		files := Files{
			"roles/app/tasks/main.yml":    []byte("- k8s: {definition: \"{{ lookup('template', 'app.yml') }}\"}\n"),
			"roles/app/templates/app.yml": []byte(template), "roles/app/vars/main.yml": []byte("items: [a, b]\nk: {l: m}\n"),
		}
		_, _ = Rules(files, []API{{Group: "apps.example.com", Version: "v1", Kind: "App", Plural: "apps", Watch: Watch{Role: "app"}}})
		if _, err := Schema(files, Watch{Role: "app"}); err != nil && !strings.Contains(err.Error(), "invalid YAML") {
			t.Error(err)
		}
	})
}
