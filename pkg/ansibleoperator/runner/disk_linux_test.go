package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
)

// TestFullDisk fills the file system of run directories.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it mounts a file system, which requires root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		t.Skipf("it mounts a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	e := newEnv(t, func(c *runner.Config) { c.Root = filepath.Join(dir, "runs") })
	request := e.playbook("one", "- ping:\n")
	e.run(request)
	// A run that fills the file system.
	fill := filepath.Join(dir, "fill")
	want := "no space left on device; free space or inodes on the file system of " + filepath.Join(dir, "runs")
	result, err := e.runner.Run(t.Context(), e.playbook("two", `
- shell: (while sleep 0.01; do cat /dev/zero >> `+fill+`; done) > /dev/null 2>&1 &
- wait_for: {path: /not/there, state: absent, delay: 1}
- ping:
`))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%+v, error %v, want %s", result, err, want)
	}
	// A run on a full file system.
	request.Variables = map[string]any{"a": strings.Repeat("a", 1<<20)}
	if _, err := e.runner.Run(t.Context(), request); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if result := e.run(request); result.Failed() {
		t.Errorf("%+v", result)
	}
}
