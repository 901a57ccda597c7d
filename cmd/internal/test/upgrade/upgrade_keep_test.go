//go:build unix

package upgrade

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestUpgradeKeepsCode upgrades a project whose code compiles only with its own requirements, because a function is
// missing in the current scaffold's. Files that do not depend on the requirements are upgraded.
func TestUpgradeKeepsCode(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles projects")
	const repo = "example.com/walk"
	commands := []string{
		"init --domain example.com --repo " + repo + " --project-name walk",
		"create api --group cache --version v1 --kind Memcached --resource --controller",
	}
	program := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
	dir, current := filepath.Join(t.TempDir(), "walk"), filepath.Join(t.TempDir(), "walk")
	for i, command := range commands {
		for _, d := range []string{dir, current} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		clitest.RunPeer(t, program, dir, append(strings.Fields(command), [][]string{{"--fetch-deps=false", "--skip-go-version-check"}, {"--make=false"}}[i]...)...)
		clitest.MustRun(t, current, strings.Fields(command)...)
	}

	// Its requirements are in the module cache, as they are the current ones but for an older controller-runtime: a copy with
	// one more function.
	runtime := filepath.Join(clitest.GoEnv(t, "GOMODCACHE"), "sigs.k8s.io", "controller-runtime@v0.25.2")
	if err := os.CopyFS(filepath.Join(dir, "..", "runtime"), os.DirFS(runtime)); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(dir, "..", "runtime", "pkg", "log", "early.go"), "package log\n\n// Early is not in later releases.\nfunc Early() {}\n")
	clitest.WriteFile(t, filepath.Join(dir, "go.sum"), clitest.ReadFile(t, filepath.Join(current, "go.sum")))
	mod := clitest.ReadFile(t, filepath.Join(current, "go.mod"))
	clitest.WriteFile(t, filepath.Join(dir, "go.mod"), strings.Replace(mod, "controller-runtime v0.25.2", "controller-runtime v0.25.1", 1)+
		"\nreplace sigs.k8s.io/controller-runtime v0.25.1 => ../runtime\n")
	if err := os.Mkdir(filepath.Join(dir, "internal", "early"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(dir, "internal", "early", "early.go"), "package early\n\nimport \"sigs.k8s.io/controller-runtime/pkg/log\"\n\nfunc Use() { log.Early() }\n")
	clitest.MustRun(t, dir, "generate")
	clitest.CheckTypes(t, dir, ".")

	before := clitest.ReadTree(t, dir)
	const obstacle = "the new requirements break the code:\n  internal/early/early.go:5:18: undefined: log.Early\n  correct it"
	clitest.EditFile(t, dir, "Dockerfile", "FROM golang:", "FROM golang:1.20@sha256:")
	code, out, errOut := clitest.Run(t, dir, "", "upgrade", "--dry-run")
	if code != 1 || !strings.Contains(errOut, obstacle) || !strings.Contains(errOut, "error: there are conflicts: ") {
		t.Errorf("with a conflict: exit code %d\n%s%s", code, out, errOut)
	}
	clitest.WriteFile(t, filepath.Join(dir, "Dockerfile"), before["Dockerfile"])

	code, out, errOut = clitest.Run(t, dir, "", "upgrade")
	for _, want := range []string{
		"go.mod, Go code and the manifests stay as they are: " + obstacle + " and upgrade again, ",
		"next: review what changed, then 'make test'\n",
	} {
		if code != 0 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d\n%s%s\nwant %q", code, out, errOut, want)
		}
	}
	after := clitest.ReadTree(t, dir)
	changed := differing(before, after)
	for _, want := range []string{".golangci.yml", "Dockerfile", "Makefile"} {
		if !slices.Contains(changed, want) {
			t.Errorf("%s is not upgraded, of %q", want, changed)
		}
	}
	for _, name := range changed {
		if strings.HasSuffix(name, ".go") || name == "go.mod" || name == "go.sum" || strings.HasPrefix(name, "config/") || strings.Contains(name, "e2e") {
			t.Errorf("%s is changed", name)
		}
	}
	clitest.CheckTypes(t, dir, ".")

	for _, args := range [][]string{{"upgrade"}, {"upgrade", "--check"}} {
		code, out, errOut := clitest.Run(t, dir, "", args...)
		if changed := differing(after, clitest.ReadTree(t, dir)); code != 0 || len(changed) > 0 {
			t.Errorf("%q again: exit code %d, changed %q\n%s%s", args, code, changed, out, errOut)
		}
	}
	code, out, errOut = clitest.Run(t, dir, "", "upgrade", "--force")
	if code != 1 || !strings.Contains(out, "updated  go.mod\n") || !strings.Contains(errOut, "error: "+strings.Replace(obstacle, "\n  correct", "\ncorrect", 1)+", then run 'operon generate' and 'make test'\n") {
		t.Errorf("--force: exit code %d\n%s%s", code, out, errOut)
	}
}
