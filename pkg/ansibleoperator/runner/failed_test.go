package runner_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// files returns the files of a custom resource below a root, without the content of artifacts.
func (e *env) files(name string) string {
	var found []string
	dir := e.runDir(name)
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, path); err == nil && relErr == nil && strings.Count(rel, "/") < 2 {
			found = append(found, rel)
		}
		return nil
	})
	slices.Sort(found)
	return strings.Join(found, " ")
}

// kept are the files that are left of a failed run.
func kept(ident string) string { return ". .failed artifacts artifacts/" + ident }

// TestFailedRuns checks that the artifacts of the last failed run of each custom resource outlive the operator, within the limits, and
// nothing else does.
func TestFailedRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *runner.Config) { c.Environ = append(c.Environ, "MY_API_TOKEN=secret-of-operator") })
	fail := func(name string) string {
		t.Helper()
		result := e.run(e.playbook(name, "- fail: {msg: cause of "+name+"}\n"))
		if !result.Failed() {
			t.Fatalf("%+v", result)
		}
		return result.Ident
	}
	restart := func(limit int64) {
		t.Helper()
		if err := e.runner.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := runner.New(runner.Config{Root: e.root, Dir: e.dir, Environ: os.Environ(), Cold: true, MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		e.runner = r
	}
	fail("one")
	one := fail("one")
	e.run(e.playbook("one", "- ping:\n"))
	e.run(e.playbook("two", "- ping:\n"))
	three := fail("three")
	restart(0)
	if got, want := e.files("one"), kept(one); got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if output, err := os.ReadFile(filepath.Join(e.runDir("one"), "artifacts", one, "stdout")); err != nil || !strings.Contains(string(output), "cause of one") {
		t.Errorf("output %s (%v)", output, err)
	}
	if command, err := os.ReadFile(filepath.Join(e.runDir("one"), "artifacts", one, "command")); err != nil || strings.Contains(string(command), "secret-of-operator") ||
		!strings.Contains(string(command), "ansible-playbook") {
		t.Errorf("command %s (%v)", command, err)
	}
	if exists(e.runDir("two")) {
		t.Errorf("files %s of a resource that has not failed", e.files("two"))
	}
	if runs := e.runner.FailedRuns(); len(runs) != 2 || runs[0].Ident != one || runs[1].Ident != three || runs[0].GroupVersionKind() != gvk || fmt.Sprint(runs[1].Key()) != "default/three" {
		t.Fatalf("failed runs %+v", runs)
	}
	// A run of the next operator keeps it, too.
	if result := e.run(e.playbook("one", "- ping:\n")); !exists(filepath.Join(e.runDir("one"), "artifacts", one)) || !exists(filepath.Join(e.runDir("one"), "artifacts", result.Ident)) {
		t.Errorf("files %s", e.files("one"))
	}
	if err := e.runner.Remove(t.Context(), gvk, e.runner.FailedRuns()[1].Key()); err != nil || exists(e.runDir("three")) {
		t.Errorf("files %s of a removed resource (%v)", e.files("three"), err)
	}
	restart(1)
	if runs := e.runner.FailedRuns(); len(runs) != 0 || exists(e.runDir("one")) {
		t.Errorf("failed runs %+v beyond the limit, files %s", runs, e.files("one"))
	}
}
