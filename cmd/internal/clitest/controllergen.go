package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// CheckControllerGen checks that the real controller-gen generates the same files.
func CheckControllerGen(t testing.TB, dir string) {
	t.Helper()
	program := BuildProgram(t, Root(), "sigs.k8s.io/controller-tools/cmd/controller-gen")
	// The generated files are removed first, so that controller-gen must write every byte of them.
	theirs := CopyTree(t, dir)
	for name := range ReadTree(t, theirs) {
		generated := strings.HasPrefix(filepath.Base(name), "zz_generated.") || strings.HasPrefix(name, "config/crd/bases/") ||
			name == "config/webhook/manifests.yaml" && strings.Contains(ReadFile(t, filepath.Join(theirs, name)), "webhooks:")
		if generated {
			if err := os.Remove(filepath.Join(theirs, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, args := range [][]string{
		{`object:headerFile="hack/boilerplate.go.txt"`, "paths=./..."},
		{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"},
	} {
		c := exec.Command(program, args...)
		c.Dir = theirs
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("controller-gen %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	CompareTrees(t, theirs, dir)
}
