package refactor

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/project"
)

// TestPlaceScope makes the changes of scope in files of other shapes, and takes them back.
func TestPlaceScope(t *testing.T) {
	t.Parallel()
	add := func(blocks ...string) []conflict {
		var all []conflict
		for _, block := range blocks {
			all = append(all, conflict{new: lines(block)})
		}
		return all
	}
	goBlocks := add("\t\"strings\"", "\t\"sigs.k8s.io/controller-runtime/pkg/cache\"",
		"// watch splits a list.\nfunc watch(list string) cache.Options {\n\t_ = strings.Split(list, \",\")\n\treturn cache.Options{}\n}\n",
		"\tlist := os.Getenv(\"LIST\")\n", "\t\tCache:                watch(list),")
	const program = "package main\n\nimport (\n\t\"os\"\n\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\n// main starts it.\nfunc main() {\n\t// The options.\n\toptions := ctrl.Options{\n\t\tLeaderElectionID: os.Args[0],\n\t}\n\t_, _ = ctrl.NewManager(nil, options)\n}\n"
	env := add("        # Why.\n        - name: LIST\n          value: a")
	const manager = "kind: Namespace\n---\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - image: a\n        name: manager\n        args: []\n"
	for name, test := range map[string]struct {
		file, text string
		conflicts  []conflict
		want       string // empty if a block has no place
	}{
		"program": {"cmd/run/main.go", program, goBlocks,
			"package main\n\nimport (\n\t\"os\"\n\t\"strings\"\n\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\t\"sigs.k8s.io/controller-runtime/pkg/cache\"\n)\n\n" +
				"// watch splits a list.\nfunc watch(list string) cache.Options {\n\t_ = strings.Split(list, \",\")\n\treturn cache.Options{}\n}\n\n" +
				"// main starts it.\nfunc main() {\n\tlist := os.Getenv(\"LIST\")\n\n\t// The options.\n\toptions := ctrl.Options{\n\t\tLeaderElectionID: os.Args[0],\n\t\tCache:            watch(list),\n\t}\n\t_, _ = ctrl.NewManager(nil, options)\n}\n"},
		"program with namespaces": {"cmd/run/main.go", strings.Replace(program, "\t}\n\t_", "\t\tNewCache:         nil,\n\t}\n\t_", 1), goBlocks, ""},
		"program without options": {"main.go", strings.ReplaceAll(program, "ctrl.Options", "settings"), goBlocks, ""},
		"manifest":                {project.ManagerFile, manager, env, strings.Replace(manager, "        args", "        env:\n        # Why.\n        - name: LIST\n          value: a\n        args", 1)},
		"manifest with variables": {project.ManagerFile, manager + "        env:\n          # One.\n          - name: B\n", env,
			manager + "        env:\n          # Why.\n          - name: LIST\n            value: a\n          # One.\n          - name: B\n"},
		"manifest of another container": {project.ManagerFile, strings.Replace(manager, "manager", "agent", 1), env, ""},
		"manifest with CRLF": {project.ManagerFile, strings.ReplaceAll(manager, "\n", "\r\n"), env,
			strings.ReplaceAll(strings.Replace(manager, "        args", "        env:\n        # Why.\n        - name: LIST\n          value: a\n        args", 1), "\n", "\r\n")},
		"makefile": {"Makefile", "all:\n\n.PHONY: run\nrun: vet\n\tgo run ./main.go\n", append(add("LIST ?= a"), conflict{old: []string{"\tgo run ./cmd"}, new: []string{"\tL=1 go run ./cmd"}}),
			"all:\n\nLIST ?= a\n\n.PHONY: run\nrun: vet\n\tL=1 go run ./main.go\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, left := placeChanges(test.file, test.text, test.conflicts)
			if test.want == "" {
				if len(left) == 0 {
					t.Errorf("got no conflicts, want some:\n%s", got)
				}
				return
			}
			if got != test.want || len(left) > 0 {
				t.Errorf("got conflicts %v and\n%s\nwant\n%s", left, got, test.want)
			}
			var back []conflict
			for _, c := range test.conflicts {
				back = append(back, conflict{old: c.new, new: c.old})
			}
			if got, left := placeChanges(test.file, got, back); got != test.text || len(left) > 0 {
				t.Errorf("inverse: got conflicts %v and\n%s\nwant\n%s", left, got, test.text)
			}
		})
	}
}
