package crash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestKillAtEveryWrite kills a command before each of its changes of the disk. Repeating the command returns the same
// tree as without the interruption.
func TestKillAtEveryWrite(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs hundreds of commands")
	initialize := []string{"init", "--domain", "example.com", "--repo", "example.com/crash", "--project-name", "crash"}
	create := []string{"create", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--resource", "--controller"}
	webhooks := []string{"create", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--defaulting", "--programmatic-validation"}
	for _, tc := range []struct {
		name    string
		before  [][]string
		command []string
		// stride is how many changes lie between two kills, 1 with -thorough.
		stride int
	}{
		{name: "init", command: initialize, stride: 7},
		{name: "create api", before: [][]string{initialize}, command: create, stride: 5},
		{name: "create webhook", before: [][]string{initialize, create}, command: webhooks, stride: 5},
		{name: "edit", before: [][]string{initialize, create}, command: []string{"edit", "--multigroup"}, stride: 11},
		{name: "bundle", before: [][]string{initialize, create}, command: []string{"bundle", "--version", "0.0.1", "--image", "example.com/crash:v1"}, stride: 7},
		{name: "delete api", before: [][]string{initialize, create}, stride: 11,
			command: []string{"delete", "api", "--group", "cache", "--version", "v1", "--kind", "Memcached"}},
		{name: "delete webhook", before: [][]string{initialize, create, webhooks}, stride: 13,
			command: []string{"delete", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, args := range tc.before {
				clitest.MustRun(t, base, args...)
			}
			stride := tc.stride
			if *clitest.Thorough {
				stride = 1
			}
			want := clitest.CopyTree(t, base)
			clitest.MustRun(t, want, tc.command...)
			killed := 0
			for n := 1; ; n += stride {
				dir := clitest.CopyTree(t, base)
				err := operonProcess(dir, n, tc.command...)
				if err == nil {
					break // the command has fewer than n changes
				}
				killed++
				if !wasKilled(err) {
					t.Fatalf("change %d: the command was not killed but failed: %v", n, err)
				}
				// Past the commit point the command is done; before it the same command completes it.
				if err := operonProcess(dir, 0, tc.command...); err != nil && !done(t, want, dir) {
					t.Fatalf("change %d: the same command again: %v", n, err)
				}
				clitest.CompareTrees(t, want, dir)
				if t.Failed() {
					t.Fatalf("after a kill at change %d", n)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			if killed < 10 {
				t.Errorf("only %d kills: the command hardly writes", killed)
			}
		})
	}
}

// operonProcess runs the test binary as operon, which is killed at its n-th change.
func operonProcess(dir string, n int, args ...string) error {
	c := exec.Command(os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), clitest.KillVariable+"="+strconv.Itoa(n))
	if args[0] == "bundle" { // its output has a creation time, and its records name directories that are removed
		c.Env = append(c.Env, "SOURCE_DATE_EPOCH=1767225600", clitest.CacheVariable+"="+filepath.Join(filepath.Dir(filepath.Dir(dir)), "cache"))
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

func wasKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && !exit.Exited()
}

func done(t *testing.T, want, got string) bool {
	t.Helper()
	a, b := clitest.ReadTree(t, want), clitest.ReadTree(t, got)
	for name, content := range a {
		if b[name] != content {
			return false
		}
	}
	return len(a) == len(b)
}
