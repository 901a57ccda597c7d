package clitest

import (
	"slices"
	"strings"
	"testing"
)

// CheckProjectTests runs the tests of packages of a project on real API servers, one package at a time, and checks that
// the output contains all wanted texts: "ok" lines of packages, or lines of tests with -v in the arguments. In short
// mode it does nothing.
func CheckProjectTests(t *testing.T, dir string, args []string, wanted ...string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: the project's tests were not run")
		return
	}
	assets, err := ControlPlaneAssets()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"KUBEBUILDER_ASSETS=" + assets.Dir, "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=3m"}
	args = append([]string{"test", "-vet=off", "-p", "1"}, args...)
	checkOnce(t, dir, func() {
		CompileDependencies(t, dir)
		out := RunGo(t, dir, env, args...)
		for _, text := range wanted {
			if !strings.Contains(out, text) {
				t.Errorf("go %s did not print %q:\n%s", strings.Join(args, " "), text, out)
			}
		}
		if strings.Contains(out, "SKIPPED") || strings.Contains(out, " 1 Skipped") {
			t.Errorf("a spec was skipped:\n%s", out)
		}
	}, slices.Concat(args, wanted)...)
}

// CheckGoVet runs go vet on a project and its tests, including the end-to-end test, except in short mode. It compiles all
// dependencies: use CheckTypes unless the verdict of the compiler itself is the point.
func CheckGoVet(t *testing.T, dir string) {
	t.Helper()
	if testing.Short() {
		t.Log("-short: not compiled")
		return
	}
	checkOnce(t, dir, func() {
		CompileDependencies(t, dir)
		RunGo(t, dir, nil, "vet", "-tags=e2e", "./...")
	}, "go vet")
}
