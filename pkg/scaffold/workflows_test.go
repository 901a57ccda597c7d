package scaffold

import (
	"path"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
)

type workflow struct {
	On struct {
		Push        struct{ Branches, Tags []string }
		PullRequest any `yaml:"pull_request"`
	}
	Permissions map[string]string
	Concurrency any
	Jobs        map[string]struct {
		Permissions map[string]string
		Timeout     int `yaml:"timeout-minutes"`
		Steps       []workflowStep
	}
}

type workflowStep struct{ Uses, Run string }

var pinnedAction = lazyregexp.New(`^[a-z-]+(/[a-z-]+)+@[0-9a-f]{40}$`)

// TestWorkflows checks the workflows of all layouts: they don't run twice for a pull request, end in time, leave permissions to
// their jobs, and run only pinned actions and scripts without expressions.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	for _, l := range layout.All() {
		data := renderData()
		data.Project.Layout = l
		files, err := renderFiles(data, "init", actionEvent, chartEvent, "autoupdate")
		if err != nil {
			t.Fatal(err)
		}
		workflows := 0
		for name, content := range files {
			if path.Dir(name) != ".github/workflows" {
				continue
			}
			workflows++
			var w workflow
			if err := yaml.Unmarshal(content, &w); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(w.Permissions) > 0 || w.Concurrency == nil || len(w.Jobs) != 1 {
				t.Errorf("%s: permissions %v, concurrency %v, %d jobs", name, w.Permissions, w.Concurrency, len(w.Jobs))
			}
			if push := w.On.Push; strings.Contains(string(content), "push:") && (len(push.Branches) == 0) == (len(push.Tags) == 0) {
				t.Errorf("%s runs for all pushes", name)
			}
			for _, job := range w.Jobs {
				if job.Timeout == 0 || len(job.Permissions) == 0 {
					t.Errorf("%s: timeout %d, permissions %v", name, job.Timeout, job.Permissions)
				}
				checkSteps(t, name, job.Steps)
			}
		}
		if workflows < 4 {
			t.Errorf("%s has %d workflows", l.Key(), workflows)
		}
		release := string(files[".github/workflows/release.yml"])
		if verify := strings.Index(release, "make verify"); verify < 0 || verify > strings.Index(release, "docker login") {
			t.Errorf("%s: release.yml publishes what it hasn't verified", l.Key())
		}
		var action struct {
			Runs struct{ Steps []workflowStep }
		}
		if err := yaml.Unmarshal(files[".github/actions/install-operon/action.yml"], &action); err != nil {
			t.Fatal(err)
		}
		checkSteps(t, "action.yml", action.Runs.Steps)
	}
}

// checkSteps checks steps of a workflow or an action. Actions of the project have a path.
func checkSteps(t *testing.T, name string, steps []workflowStep) {
	t.Helper()
	if len(steps) == 0 {
		t.Errorf("%s has no steps", name)
	}
	for _, step := range steps {
		if own, ok := strings.CutPrefix(step.Uses, "./"); ok {
			if _, known := project.FileRuleOf(own + "/action.yml"); !known {
				t.Errorf("%s uses %s, which isn't a file of the scaffold", name, step.Uses)
			}
		} else if step.Uses != "" && !pinnedAction.MatchString(step.Uses) {
			t.Errorf("%s: %s is not pinned to a commit", name, step.Uses)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("%s: a script contains an expression: %s", name, step.Run)
		}
	}
}
