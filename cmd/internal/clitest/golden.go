package clitest

import (
	"path/filepath"
	"strings"
	"testing"
)

// GoldenProjects returns the names of the golden Go projects in testdata. NAME.commands contains the commands that create NAME.
func GoldenProjects(t *testing.T) []string {
	t.Helper()
	return goldenProjects(t, func(commands string) bool {
		return !strings.Contains(commands, helmPlugin) && !strings.Contains(commands, ansiblePlugin)
	})
}

// GoldenHelmProjects returns the names of the golden Helm projects in testdata.
func GoldenHelmProjects(t *testing.T) []string {
	t.Helper()
	return goldenProjects(t, func(commands string) bool { return strings.Contains(commands, helmPlugin) })
}

// GoldenAnsibleProjects returns the names of the golden Ansible projects in testdata.
func GoldenAnsibleProjects(t *testing.T) []string {
	t.Helper()
	return goldenProjects(t, func(commands string) bool { return strings.Contains(commands, ansiblePlugin) })
}

// helmPlugin is in the commands that create a Helm project, and ansiblePlugin in those that create an Ansible project.
const (
	helmPlugin    = "init --plugins helm "
	ansiblePlugin = "init --plugins ansible "
)

// goldenProjects returns the names of the golden projects whose commands are wanted.
func goldenProjects(t *testing.T, wanted func(commands string) bool) []string {
	t.Helper()
	scripts, err := filepath.Glob(Testdata("*.commands"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no golden projects in %s (%v)", Testdata(), err)
	}
	var names []string
	for _, s := range scripts {
		if !wanted(ReadFile(t, s)) {
			continue
		}
		names = append(names, strings.TrimSuffix(filepath.Base(s), ".commands"))
	}
	return names
}

// CopyGolden copies a golden project to a new directory, which it returns. TestGolden checks that its commands create it.
func CopyGolden(t *testing.T, name string) string {
	t.Helper()
	return CopyTree(t, Testdata(name))
}
