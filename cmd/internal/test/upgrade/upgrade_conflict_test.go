//go:build unix

package upgrade

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestConflictOutsideCode upgrades a project with a conflict in its Dockerfile: the code is checked and generated from
// nevertheless.
func TestConflictOutsideCode(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it compiles a project")
	p := oldProjects()[1]
	conflicting := func(t *testing.T) string {
		t.Helper()
		dir := p.unpack(t)
		clitest.EditFile(t, dir, "Dockerfile", "FROM golang:1.18 as", "FROM golang:1.18@sha256:"+strings.Repeat("0", 64)+" as")
		return dir
	}
	t.Run("code that compiles", func(t *testing.T) {
		t.Parallel()
		dir := conflicting(t)
		code, out, errOut := clitest.Run(t, dir, "", "upgrade")
		if code != 1 || !strings.Contains(errOut, "error: there are conflicts: ") || !strings.Contains(errOut, "\n  Dockerfile\n") {
			t.Fatalf("exit code %d\n%s%s", code, out, errOut)
		}
		if text := clitest.ReadFile(t, filepath.Join(dir, "Dockerfile")); !conflict.MatchString(text) {
			t.Errorf("no conflict is marked:\n%s", text)
		}
		if code, out, errOut := clitest.Run(t, dir, "", "generate", "--check"); code != 0 {
			t.Errorf("generate --check: exit code %d\n%s%s", code, out, errOut)
		}
	})
	t.Run("code that would not compile", func(t *testing.T) {
		t.Parallel()
		dir := conflicting(t)
		clitest.WriteFile(t, filepath.Join(dir, "controllers", "builder.go"), `package controllers

import "sigs.k8s.io/controller-runtime/pkg/cache"

// Later releases have no such function.
var _ = cache.MultiNamespacedCacheBuilder
`)
		before := clitest.ReadTree(t, dir)
		code, out, errOut := clitest.Run(t, dir, "", "upgrade")
		if changed := differing(before, clitest.ReadTree(t, dir)); code != 1 || !strings.Contains(errOut, "\nnothing was changed; ") || len(changed) > 0 {
			t.Errorf("exit code %d, changed %q\n%s%s", code, changed, out, errOut)
		}
	})
}
