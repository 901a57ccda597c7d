//go:build unix

package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestUpgradeTwice upgrades projects whose names are words of the scaffold, one with what kustomize adds to a kustomization, one with an
// edited end-to-end test: the second upgrade changes nothing, and what the user or kustomize added stays.
func TestUpgradeTwice(t *testing.T) {
	t.Parallel()
	program := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
	const manager = "config/manager/kustomization.yaml"
	for name, test := range map[string]struct {
		project, group, kind string
		edit                 func(t *testing.T, dir string)
		// kept is a part of the output.
		kept string
	}{
		"project": {
			project: "project", group: "test", kind: "Config",
			edit: func(t *testing.T, dir string) {
				clitest.EditFile(t, dir, manager, "- manager.yaml\n", "- manager.yaml\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
					"images:\n- name: controller\n  newName: controller\n  newTag: latest\n")
			},
		},
		"manager": {
			project: "manager", group: "api", kind: "Controller", kept: "kept as it is: test/e2e/e2e_test.go",
			edit: func(t *testing.T, dir string) {
				clitest.EditFile(t, dir, "test/e2e/e2e_test.go", `By("creating manager namespace")`, `By("creating a namespace")`)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), test.project)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			kind := " --group " + test.group + " --version v1 --kind " + test.kind
			for _, command := range []string{
				"init --domain example.com --repo example.com/" + test.project + " --project-name " + test.project + " --fetch-deps=false --skip-go-version-check",
				"create api" + kind + " --resource --controller --make=false",
				"create webhook" + kind + " --defaulting --programmatic-validation --make=false",
			} {
				clitest.RunPeer(t, program, dir, strings.Fields(command)...)
			}
			test.edit(t, dir)
			edited := clitest.ReadFile(t, filepath.Join(dir, manager))
			code, out, errOut := clitest.Run(t, dir, "", "upgrade")
			if code != 0 || strings.Contains(errOut, "kept as") != (test.kept != "") || !strings.Contains(errOut, test.kept) {
				t.Errorf("exit code %d\n%s%s", code, out, errOut)
			}
			upgraded := clitest.CopyTree(t, dir)
			if code, out, errOut := clitest.Run(t, dir, "", "upgrade"); code != 0 || !strings.Contains(errOut, "up to date") {
				t.Errorf("second upgrade: exit code %d\n%s%s", code, out, errOut)
			}
			clitest.CompareTrees(t, upgraded, dir)
			for _, line := range []string{"apiVersion: kustomize.config.k8s.io/v1beta1\n", "kind: Kustomization\n", "  newName: controller\n"} {
				if strings.Contains(edited, line) && !strings.Contains(clitest.ReadFile(t, filepath.Join(dir, manager)), line) {
					t.Errorf("%s no longer has %s", manager, line)
				}
			}
		})
	}
}
