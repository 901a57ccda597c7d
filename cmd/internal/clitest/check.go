package clitest

import (
	"go/format"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// CheckFormat checks that the Go files in a directory tree are formatted.
func CheckFormat(t testing.TB, dir string) {
	t.Helper()
	for name, content := range ReadTree(t, dir) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		formatted, err := format.Source([]byte(content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(formatted) != content {
			t.Errorf("%s is not formatted", name)
		}
	}
}

// CheckOverlays builds every kustomization of a project of the current scaffold, which has many.
func CheckOverlays(t testing.TB, dir string) {
	t.Helper()
	if n := CheckKustomizations(t, dir); n < 8 {
		t.Errorf("found %d kustomizations, want at least 8", n)
	}
}

// CheckKustomizations builds every kustomization in a directory tree and returns their number.
func CheckKustomizations(t testing.TB, dir string) int {
	t.Helper()
	n := 0
	for name := range ReadTree(t, dir) {
		if filepath.Base(name) != "kustomization.yaml" {
			continue
		}
		n++
		if _, err := manifest.Build(dir, filepath.Dir(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return n
}
