package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// TestMaxBytes checks that the oldest artifacts of all custom resources are removed.
func TestMaxBytes(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *runner.Config) { c.MaxBytes = 1 << 20 })
	var idents []string
	for i := range 4 {
		name := fmt.Sprintf("cr-%d", i%2)
		result := e.run(e.playbook(name, "- {debug: {msg: '"+strings.Repeat("a", 100<<10)+"'}}\n"))
		idents = append(idents, filepath.Join(e.runDir(name), "artifacts", result.Ident))
	}
	if exists(idents[0]) || !exists(idents[3]) {
		t.Errorf("the oldest artifacts exist: %t, the latest: %t", exists(idents[0]), exists(idents[3]))
	}
	var size int64
	for _, dir := range idents {
		_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
			if err == nil {
				size += info.Size()
			}
			return nil
		})
	}
	if size > 1<<20 || size == 0 {
		t.Errorf("all artifacts have %d bytes", size)
	}
}

// TestMaxBytesOfRun checks that a run whose artifacts alone exceed the limit is ended.
func TestMaxBytesOfRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t, func(c *runner.Config) { c.MaxBytes = 1 << 20 }, cold)
	request := e.playbook("one", "- {debug: {msg: '"+strings.Repeat("a", 400<<10)+"'}}\n- command: sleep 301.1\n")
	result, err := e.runner.Run(t.Context(), request)
	if result == nil || result.Killed != runner.KilledByArtifacts {
		t.Errorf("result %+v", result)
	}
	if want := "its artifacts alone exceed the limit of 1048576 bytes for all runs"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if found, err := filepath.Glob(filepath.Join(e.runDir("one"), "artifacts", "*", "stdout")); err != nil || len(found) > 0 {
		t.Errorf("artifacts remain: %v, %v", found, err)
	}
	if found := processes(t, "sleep 301.1"); len(found) > 0 {
		t.Errorf("processes remain: %v", found)
	}
}
