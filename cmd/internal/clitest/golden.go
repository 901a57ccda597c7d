package clitest

import (
	"path/filepath"
	"strings"
	"testing"
)

// GoldenProjects returns the names of the golden projects in testdata. NAME.commands contains the commands that create NAME.
func GoldenProjects(t *testing.T) []string {
	t.Helper()
	scripts, err := filepath.Glob(Testdata("*.commands"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no golden projects in %s (%v)", Testdata(), err)
	}
	var names []string
	for _, s := range scripts {
		names = append(names, strings.TrimSuffix(filepath.Base(s), ".commands"))
	}
	return names
}

// CopyGolden copies a golden project to a new directory, which it returns. TestGolden checks that its commands create it.
func CopyGolden(t *testing.T, name string) string {
	t.Helper()
	return CopyTree(t, Testdata(name))
}
