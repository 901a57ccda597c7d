package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// CheckControllerGen checks that controller-gen generates the same files, except in short mode.
func CheckControllerGen(t testing.TB, dir string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: not compared with controller-gen")
		return
	}
	program := BuildProgram(t, Root(), "sigs.k8s.io/controller-tools/cmd/controller-gen")
	checkOnce(t, dir, func() { runControllerGen(t, program, dir) }, "controller-gen", filepath.Base(filepath.Dir(program)))
}

func runControllerGen(t testing.TB, program, dir string) {
	t.Helper()
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
	object := `object:headerFile="hack/boilerplate.go.txt"`
	if strings.Contains(ReadFile(t, filepath.Join(theirs, "hack", "boilerplate.go.txt")), " YEAR") {
		// The Makefile takes the year from the clock, and so did the program that wrote the project.
		year := regexp.MustCompile(`Copyright (\d{4})`).FindStringSubmatch(ReadFile(t, filepath.Join(theirs, "cmd", "main.go")))
		if year == nil {
			t.Fatal("cmd/main.go has no year in its header")
		}
		object += ",year=" + year[1]
	}
	for _, args := range [][]string{
		{object, "paths=./..."},
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
