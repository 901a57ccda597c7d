package ansiblerole

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Inputs that multiply alternatives, files or texts do not exhaust memory or time: the limits of steps end the analysis before the time limit of the test.
func TestHostile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: its inputs take as long as they may")
	}
	repeat := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i))
		}
		return b.String()
	}
	for name, files := range map[string]Files{
		"texts that double": {"roles/app/tasks/main.yml": []byte("- k8s: {kind: \"{{ a200 }}\"}\n"),
			"roles/app/vars/main.yml": []byte("a0: {% if x %}a{% else %}b{% endif %}\n" + repeat(200, func(i int) string { return fmt.Sprintf("a%d: \"{{ a%d }}{{ a%d }}\"\n", i+1, i, i) }))},
		"lists that double": {"roles/app/tasks/main.yml": []byte("- k8s: {kind: \"{{ item }}\"}\n  loop: \"{{ a60 }}\"\n"),
			"roles/app/vars/main.yml": []byte("a0: [a, b]\n" + repeat(60, func(i int) string { return fmt.Sprintf("a%d: \"{{ a%d + a%d }}\"\n", i+1, i, i) }))},
		"mappings that are merged": {"roles/app/tasks/main.yml": []byte(repeat(40, func(i int) string {
			return fmt.Sprintf("- set_fact: {m: \"{{ m | default({}) | combine({'k%d': m}) }}\"}\n  loop: [1, 2, 3, 4, 5]\n", i)
		}) + "- k8s: {definition: \"{{ m.k1.k2.k3.k4 }}\"}\n")},
		"facts of facts": {"roles/app/tasks/main.yml": []byte(repeat(2000, func(i int) string {
			return fmt.Sprintf("- set_fact: {f%d: \"{{ f%d | default(f%d) }} {{ f%d }}\"}\n- k8s: {kind: \"{{ f%d }}\"}\n", i%100, (i+1)%100, (i*7)%100, (i*13)%100, i%100)
		}))},
		"loops in includes": {
			"roles/app/tasks/main.yml": []byte("- include_tasks: a0.yml\n"),
			"roles/app/tasks/a9.yml":   []byte("- k8s: {kind: Pod}\n"),
		},
		"roles that include each other": {
			"roles/app/tasks/main.yml": []byte("- include_role: {name: \"{{ x }}\"}\n"), "roles/b/tasks/main.yml": []byte("- include_role: {name: \"{{ x }}\"}\n"),
			"roles/c/tasks/main.yml": []byte("- include_role: {name: \"{{ x }}\"}\n"), "roles/d/tasks/main.yml": []byte("- include_role: {name: \"{{ x }}\"}\n"),
		},
		"task files that include each other": {},
		"templates that include each other":  {"roles/app/tasks/main.yml": []byte("- k8s: {template: a0.yml}\n")},
		"templates that look up themselves": {
			"roles/app/tasks/main.yml": []byte("- k8s: {definition: \"{{ lookup('template', 'a.yml') }}\"}\n"),
			"roles/app/templates/a.yml": []byte(repeat(2000, func(i int) string {
				return "{% for x in lookup('template', 'a.yml') | from_yaml_all %}\n---\nkind: {{ lookup('template', 'a.yml') }}\napiVersion: v1\n{% endfor %}\n"
			})),
		},
		"many expressions":     {"roles/app/tasks/main.yml": []byte(repeat(4000, func(i int) string { return "- k8s: {kind: \"" + strings.Repeat("{{ a }}", 30) + "\"}\n" }))},
		"open statements":      {"roles/app/tasks/main.yml": []byte("- k8s: {template: a.yml}\n"), "roles/app/templates/a.yml": []byte(strings.Repeat("{{ ( }}{% ( %}{% raw %}", 40_000))},
		"nested statements":    {"roles/app/tasks/main.yml": []byte("- k8s: {template: a.yml}\n"), "roles/app/templates/a.yml": []byte(strings.Repeat("{% if a %}\n", 90_000))},
		"branches in branches": {"roles/app/tasks/main.yml": []byte("- k8s: {template: a.yml}\n"), "roles/app/templates/a.yml": []byte("kind: " + strings.Repeat("{% if a %}b{% else %}c{% endif %}", 20_000))},
		"deep expressions":     {"roles/app/tasks/main.yml": []byte("- k8s: {kind: \"{{ " + strings.Repeat("(", 100_000) + " }}\"}\n- k8s: {kind: \"{{ a" + strings.Repeat(" | b", 100_000) + " }}\"}\n")},
		"patterns of all files": {"roles/app/tasks/main.yml": []byte(repeat(3000, func(i int) string {
			return "- include_tasks: \"{{ a }}/{{ b }}.yml\"\n- k8s: {template: \"{{ c }}x{{ d }}\"}\n"
		}))},
	} {
		switch name {
		case "loops in includes":
			for i := range 9 {
				files[fmt.Sprintf("roles/app/tasks/a%d.yml", i)] = []byte(fmt.Sprintf("- include_tasks: a%d.yml\n  loop: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", i+1))
			}
		case "task files that include each other":
			all := repeat(30, func(i int) string { return fmt.Sprintf("- include_tasks: a%d.yml\n", i) })
			files["roles/app/tasks/main.yml"] = []byte(all)
			for i := range 30 {
				files[fmt.Sprintf("roles/app/tasks/a%d.yml", i)] = []byte(all)
			}
		case "templates that include each other":
			for i := range 30 {
				files[fmt.Sprintf("roles/app/templates/a%d.yml", i)] = []byte(repeat(30, func(i int) string {
					return fmt.Sprintf("{%% include 'a%d.yml' %%}\n{%% import 'a%d.yml' as a %%}\n", i, i)
				}))
			}
		case "patterns of all files":
			for i := range 500 {
				files[fmt.Sprintf("roles/app/templates/a/%dx%d", i, i)] = []byte("kind: Pod\n")
			}
		}
		t.Run(name, func(t *testing.T) {
			if len(files) == 0 {
				t.Fatal("no files")
			}
			_, _ = Rules(files, []API{{Group: "apps.example.com", Version: "v1", Kind: "App", Plural: "apps", Watch: Watch{Role: "app"}}})
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.Sys > 2<<30 {
				t.Errorf("%d MiB of memory", m.Sys>>20)
			}
		})
	}
}
