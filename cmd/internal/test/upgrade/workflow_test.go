//go:build unix

package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// workflowSteps returns the scripts of the workflow of autoupdate/v1-alpha by the names of their steps.
func workflowSteps(t *testing.T, dir string) map[string]string {
	t.Helper()
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Permissions map[string]string
			Steps       []struct {
				Name, Uses, Run string
				Env             map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(clitest.ReadFile(t, filepath.Join(dir, ".github/workflows/auto_update.yml"))), &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["upgrade"]
	if len(workflow.Permissions) > 0 || len(job.Permissions) != 2 || job.Permissions["contents"] != "write" || job.Permissions["pull-requests"] != "write" {
		t.Errorf("permissions %v, %v", workflow.Permissions, job.Permissions)
	}
	scripts := map[string]string{}
	for _, step := range job.Steps {
		if step.Uses != "" && len(step.Uses[strings.Index(step.Uses, "@")+1:]) != 40 {
			t.Errorf("%s is not pinned to a commit", step.Uses)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("the script of %q contains an expression", step.Name)
		}
		scripts[step.Name] = step.Run
	}
	return scripts
}

// TestUpgradeWorkflow runs the scripts of the workflow on a project of operator-sdk, with git and a gh that records its arguments. A second
// run proposes nothing, as there is a pull request.
func TestUpgradeWorkflow(t *testing.T) {
	t.Parallel()
	peer := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
	temp := t.TempDir()
	dir, bin := filepath.Join(temp, "project"), filepath.Join(temp, "bin")
	for _, name := range []string{dir, bin} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	clitest.RunPeer(t, peer, dir, strings.Fields("init --domain example.com --repo example.com/project --fetch-deps=false --skip-go-version-check")...)
	clitest.MustRun(t, dir, "edit", "--plugins", "autoupdate/v1-alpha")
	scripts := workflowSteps(t, dir)
	const gh = `#!/bin/sh
echo "$@" >> "$RUNNER_TEMP/gh.txt"
if [ "$1 $2" = "pr list" ]; then grep -c "^pr create" "$RUNNER_TEMP/gh.txt" || true; fi
`
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+filepath.Join(temp, "outputs.txt"),
		"GITHUB_REF_NAME=main", "HOME="+temp, "VERSION=v9.9.9", "GIT_CONFIG_NOSYSTEM=1")
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir, c.Env = dir, env
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	step := func(name string) string { t.Helper(); return run("bash", "-e", "-c", scripts[name]) }
	run("git", "init", "--quiet", "--initial-branch", "main")
	run("git", "init", "--quiet", "--bare", filepath.Join(temp, "origin"))
	run("git", "remote", "add", "origin", filepath.Join(temp, "origin"))
	run("git", "add", "--all")
	run("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "Start")

	step("Upgrade")
	outputs := clitest.ReadFile(t, filepath.Join(temp, "outputs.txt"))
	if !strings.HasPrefix(outputs, "version=v") {
		t.Errorf("outputs %q", outputs)
	}
	step("Open a pull request")
	changed := strings.Fields(run("git", "diff", "--name-only", "main", "origin/operon-upgrade-v9.9.9"))
	if !slices.Contains(changed, "Makefile") || slices.ContainsFunc(changed, func(name string) bool { return strings.HasPrefix(name, ".github/workflows/") }) {
		t.Errorf("the branch changes %v", changed)
	}
	clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(temp, "gh.txt")),
		"auth setup-git", "pr create --base main --head operon-upgrade-v9.9.9 --title Upgrade the scaffold to Operon v9.9.9 --body-file "+temp+"/body.md")
	clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(temp, "body.md")), "`operon upgrade`", "\n    updated  Makefile\n")

	run("git", "switch", "--quiet", "main")
	step("Upgrade")
	if out := step("Open a pull request"); !strings.Contains(out, "There is a pull request for operon-upgrade-v9.9.9 already.") {
		t.Errorf("the second run printed %s", out)
	}
}
