//go:build unix

package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestUpgradeKeepsManifests upgrades a project of operator-sdk 1.23 whose manifests the user changed to resemble
// another scaffold: values of older releases, entries in another order, and objects in other files.
func TestUpgradeKeepsManifests(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	for _, args := range [][]string{{"upgrade"}, {"upgrade", "--conflict", "ours"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			keepsManifests(t, args)
		})
	}
}

func keepsManifests(t *testing.T, args []string) {
	t.Helper()
	dir := oldProjects()[1].unpack(t)
	const manager, rbac, crd = "config/manager/manager.yaml", "config/rbac/kustomization.yaml", "config/crd/kustomization.yaml"
	clitest.EditFile(t, dir, manager, "cpu: 500m\n            memory: 128Mi\n", "cpu: 100m\n            memory: 20Mi\n")
	clitest.EditFile(t, dir, manager, "        name: manager\n", "        name: manager\n        env:\n        - name: WATCH_NAMESPACE\n          value: mine\n")
	clitest.EditFile(t, dir, rbac, "- service_account.yaml\n- role.yaml\n", "- role.yaml\n- service_account.yaml\n")
	clitest.EditFile(t, dir, rbac, "- leader_election_role.yaml\n", "- election.yaml\n")
	move(t, dir, "config/rbac/leader_election_role.yaml", "config/rbac/election.yaml")
	clitest.EditFile(t, dir, crd, "bases/cache.example.com_memcacheds.yaml", "memcacheds.yaml")
	clitest.WriteFiles(t, dir, map[string]string{
		"config/crd/memcacheds.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: memcacheds.cache.example.com\n"})
	clitest.MustRun(t, dir, args...)
	clitest.CheckKustomizations(t, dir)
	after := clitest.ReadTree(t, dir)
	holdsTexts(t, after, map[string][]string{
		manager: {"cpu: 100m\n            memory: 20Mi\n", "- name: WATCH_NAMESPACE\n          value: mine\n", "      securityContext:\n        runAsNonRoot: true\n"},
		rbac:    {"- role.yaml\n- service_account.yaml\n", "\n- election.yaml\n"},
		crd:     {"\n- memcacheds.yaml\n"},
	})
	for name, texts := range map[string][]string{
		rbac:                                {"leader_election_role.yaml"},
		crd:                                 {"bases/"},
		"config/default/kustomization.yaml": {"\n- ../webhook", "\n- ../certmanager"},
	} {
		for _, text := range texts {
			if strings.Contains(after[name], text) {
				t.Errorf("%s has %q:\n%s", name, text, after[name])
			}
		}
	}
	if _, ok := after["config/rbac/leader_election_role.yaml"]; ok {
		t.Error("the file under its former name is back")
	}
}

// TestUpgradeKeepsBuilding checks that all manifests are kept if a kustomization of the user would not build otherwise,
// and that the rest of the project is upgraded.
func TestUpgradeKeepsBuilding(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it type-checks a project several times")
	dir := oldProjects()[1].unpack(t)
	clitest.WriteFiles(t, dir, map[string]string{"config/mine/kustomization.yaml": "resources:\n- ../default\npatches:\n" +
		"- target:\n    kind: Deployment\n  patch: |-\n    - op: remove\n      path: /spec/template/spec/containers/1\n"})
	clitest.WriteFiles(t, dir, map[string]string{"config/crd/bases/cache.example.com_memcacheds.yaml": "apiVersion: apiextensions.k8s.io/v1\n" +
		"kind: CustomResourceDefinition\nmetadata:\n  name: memcacheds.cache.example.com\n", "config/rbac/role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\n" +
		"kind: ClusterRole\nmetadata:\n  name: manager-role\n"})
	before := clitest.ReadTree(t, dir)
	code, _, said := clitest.Run(t, dir, "", "upgrade")
	if code != 0 || !strings.Contains(said, "kept as they are: cmd/main.go and ") || !strings.Contains(said, "config/mine would not build: ") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	clitest.MustRun(t, dir, "tool", "kustomize", "build", "config/mine")
	after := clitest.ReadTree(t, dir)
	for name, kept := range map[string]bool{"config/default/kustomization.yaml": true, "config/manager/manager.yaml": true, "Makefile": false, "Dockerfile": false} {
		if (before[name] == after[name]) != kept {
			t.Errorf("%s is as it was: %t", name, !kept)
		}
	}
	clitest.MustRun(t, dir, "upgrade")
	if changed := differing(after, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("changed %q the second time", changed)
	}
}

// TestUpgradeDiff compares files with the current scaffold.
func TestUpgradeDiff(t *testing.T) {
	t.Parallel()
	dir := oldProjects()[1].unpack(t)
	before := clitest.ReadTree(t, dir)
	out := clitest.MustRun(t, dir, "upgrade", "--diff", "config/manager/manager.yaml")
	if !strings.Contains(out, "--- a/config/manager/manager.yaml\n+++ b/config/manager/manager.yaml\n") || !strings.Contains(out, "\n+            type: RuntimeDefault\n") && !strings.Contains(out, "\n+          type: RuntimeDefault\n") {
		t.Errorf("got\n%s", out)
	}
	if changed := differing(before, clitest.ReadTree(t, dir)); len(changed) > 0 {
		t.Errorf("changed %q", changed)
	}
	if code, _, said := clitest.Run(t, dir, "", "upgrade", "--diff", "config/none.yaml"); code != 2 || !strings.Contains(said, "is not a file that the scaffold writes") {
		t.Errorf("exit code %d\n%s", code, said)
	}
}

// move renames a file.
func move(t *testing.T, dir, from, to string) {
	t.Helper()
	clitest.WriteFiles(t, dir, map[string]string{to: clitest.ReadFile(t, filepath.Join(dir, from))})
	if err := os.Remove(filepath.Join(dir, from)); err != nil {
		t.Fatal(err)
	}
}
