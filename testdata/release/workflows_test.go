package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// uses matches an action with its commit and version.
var uses = regexp.MustCompile(`uses: *(.*)`)

// TestWorkflows checks what actionlint doesn't: each job has its own permissions and a timeout, and actions are pinned to the commits
// that scaffolded projects use.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	scaffolded := read(t, root, "templates/common/init/.github/workflows/test.yml.tmpl")
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found %d workflows, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Permissions map[string]string `json:"permissions"`
			Concurrency map[string]any    `json:"concurrency"`
			Jobs        map[string]struct {
				Timeout     int               `json:"timeout-minutes"`
				Permissions map[string]string `json:"permissions"`
			} `json:"jobs"`
		}
		if err := yaml.Unmarshal(data, &workflow); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if workflow.Permissions == nil || len(workflow.Permissions) > 0 {
			t.Errorf("%s: permissions of the workflow: got %v, want none", name, workflow.Permissions)
		}
		if len(workflow.Concurrency) == 0 || len(workflow.Jobs) == 0 {
			t.Errorf("%s: has no concurrency or no jobs", name)
		}
		for id, job := range workflow.Jobs {
			if job.Timeout == 0 || len(job.Permissions) != 1 || job.Permissions["contents"] == "" {
				t.Errorf("%s: job %s: timeout %d, permissions %v; want a timeout, and permissions for contents only", name, id, job.Timeout, job.Permissions)
			}
		}
		for _, match := range uses.FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(string(scaffolded), match[0]+"\n") {
				t.Errorf("%s: %s: scaffolded projects use another commit", name, match[1])
			}
		}
	}
}
