package clitest

import (
	"path/filepath"
	"strings"
	"testing"
)

// GoldenProjects returns the names of the golden projects below testdata; NAME.commands holds the commands that make NAME.
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

// CopyGolden copies a golden project to a new directory and returns that. TestGolden checks that it is what its commands
// make.
func CopyGolden(t *testing.T, name string) string {
	t.Helper()
	return CopyTree(t, Testdata(name))
}
