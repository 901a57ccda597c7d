package scaffold

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// TestCopyWebhooks adds the line for webhooks where no other covers it, and removes it with the last of them.
func TestCopyWebhooks(t *testing.T) {
	t.Parallel()
	for text, copied := range map[string]bool{
		"COPY api/ api/\nCOPY internal/controller/ internal/controller/\nRUN make\n":     true,
		"COPY api/ api/\r\nCOPY internal/controller internal/controller\r\nRUN make\r\n": true,
		"COPY internal/controller/ internal/controller/":                                 true,
		"COPY internal/ internal/\nCOPY internal/controller/ internal/controller/\n":     false,
		"COPY . .\n":                         false,
		"COPY --from=builder /workspace .\n": false,
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		tree.WriteFile("Dockerfile", []byte(text), worktree.FileMode)
		tree.WriteFile("internal/webhook/v1/x.go", nil, worktree.FileMode)
		copyWebhooks(tree, Project{})
		out, _ := tree.ReadFile("Dockerfile")
		if got := strings.Contains(string(out), "\nCOPY internal/webhook/ internal/webhook/"); got != copied {
			t.Errorf("%q: copied is %t:\n%s", text, got, out)
		}
		if err := dropCopy(tree); err != nil {
			t.Fatal(err)
		}
		if kept, _ := tree.ReadFile("Dockerfile"); string(kept) != string(out) {
			t.Errorf("%q: removed with webhooks there:\n%s", text, kept)
		}
		tree.Remove("internal/webhook/v1/x.go")
		if err := dropCopy(tree); err != nil {
			t.Fatal(err)
		}
		if rest, _ := tree.ReadFile("Dockerfile"); strings.TrimSpace(string(rest)) != strings.TrimSpace(text) {
			t.Errorf("%q became\n%s", text, rest)
		}
	}
}

// TestFindMain finds the program that starts the manager, and refuses to choose between several.
func TestFindMain(t *testing.T) {
	t.Parallel()
	const program = "package main\n\nfunc main() { ctrl.NewManager() }\n"
	const marked = "package start\n\n// +kubebuilder:scaffold:builder\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
		fails bool
	}{
		"usual":           {map[string]string{"cmd/main.go": program, "cmd/other/main.go": program}, "cmd/main.go", false},
		"root":            {map[string]string{"main.go": program}, "main.go", false},
		"named":           {map[string]string{"cmd/operator/main.go": program, "cmd/tool/main.go": "package main\n"}, "cmd/operator/main.go", false},
		"not the program": {map[string]string{"cmd/main.go": "package main\n", "cmd/manager/main.go": program}, "cmd/manager/main.go", false},
		"marked":          {map[string]string{"cmd/a/main.go": program, "internal/start/start.go": marked, "cmd/b/main.go": program}, "internal/start/start.go", false},
		"several":         {map[string]string{"cmd/a/main.go": program, "cmd/b/main.go": program}, "", true},
		"none":            {map[string]string{"cmd/a/main.go": "package main\n"}, "", false},
		"other module":    {map[string]string{"tools/go.mod": "module tools\n", "tools/main.go": program}, "", false},
		"test of a suite": {map[string]string{"internal/x_test.go": program, "vendor/x/main.go": program}, "", false},
	} {
		tree := worktree.NewTree(afero.NewMemMapFs(), "/")
		for file, text := range test.files {
			tree.WriteFile(file, []byte(text), worktree.FileMode)
		}
		got, err := findMain(tree, Project{})
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
