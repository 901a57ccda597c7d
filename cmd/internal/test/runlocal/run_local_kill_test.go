//go:build unix

package runlocal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalKilled kills run local where it may not clean up: nothing goes on without it, what it
// generates exists completely or not at all, and the next run does all that a first one does.
func TestRunLocalKilled(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	clitest.SetFreeWebhookPort(t, dir)
	args := []string{"run", "local", "--control-plane", "embedded", "--samples"}
	addField(t, dir)
	before := clitest.ReadTree(t, dir)
	generated := clitest.CopyTree(t, dir)
	clitest.MustRun(t, generated, "generate")
	after := clitest.ReadTree(t, generated)
	// All of them keep their files in the same place, as the runs of one user do.
	tmp := "TMPDIR=" + t.TempDir()
	printed := func(text string) func(*clitest.Process) {
		return func(p *clitest.Process) { p.WaitFor(text, 1) }
	}
	runs := func(name string) func(*clitest.Process) {
		return func(p *clitest.Process) {
			for deadline := time.Now().Add(5 * time.Minute); !slices.Contains(clitest.ProcessesOf(p.TempDir), name); time.Sleep(time.Millisecond) {
				select {
				case <-p.Done:
					t.Fatalf("it ended before %s ran", name)
				default:
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s never ran", name)
				}
			}
		}
	}
	moments := []struct {
		name string
		env  string // of this run
		wait func(*clitest.Process)
	}{
		{"writing the first file", clitest.KillVariable + "=4", nil},
		{"writing the last file", clitest.KillVariable + "=11", nil},
		{"generating", "", func(*clitest.Process) { time.Sleep(30 * time.Millisecond) }},
		{"servers start", "", runs("etcd")},
		{"building", "", runs("go")},
		{"linking", "", runs("link")},
		{"installing", "", printed("the API server is at")},
		{"starting the manager", "", printed("starting the manager")},
		{"manager runs", "", printed("applied " + memcached)},
	}
	for _, m := range moments {
		p := clitest.StartProcess(t, dir, []string{tmp, m.env}, args...)
		if m.wait != nil {
			m.wait(p)
			if err := p.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-p.Done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: it was not killed", m.name)
		}
		if p.Cmd.ProcessState.Exited() {
			t.Fatalf("%s: it ended by itself:\n%s", m.name, p.Output())
		}
		clitest.CheckNoProcesses(t, p.TempDir, 30*time.Second)
		now := clitest.ReadTree(t, dir)
		for name := range after {
			if now[name] != before[name] && now[name] != after[name] {
				t.Errorf("%s: it leaves %s half-written:\n%s", m.name, name, now[name])
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	p := clitest.StartProcess(t, dir, []string{tmp}, args...)
	p.WaitFor("applied "+memcached, 1)
	c := p.Cluster()
	c.Eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	p.Interrupt()
	p.MustEnd(0)
	clitest.CompareTrees(t, generated, dir)
}

// TestGenerateWatchKilled kills generate --watch in the middle of its writes.
func TestGenerateWatchKilled(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	addField(t, dir)
	want := clitest.CopyTree(t, dir)
	clitest.MustRun(t, want, "generate")
	p := clitest.StartProcess(t, dir, []string{clitest.KillVariable + "=6"}, "generate", "--watch")
	<-p.Done
	if p.Cmd.ProcessState.Exited() {
		t.Fatal("it was not killed")
	}
	p = clitest.StartProcess(t, dir, nil, "generate", "--watch")
	p.WaitFor("waiting for changes", 1)
	p.Interrupt()
	p.MustEnd(0)
	clitest.CompareTrees(t, want, dir)
}

// TestWatchLosesProject checks that --watch ends when the project directory is removed or replaced.
func TestWatchLosesProject(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	clitest.SetFreeWebhookPort(t, dir)
	other := clitest.CopyTree(t, dir)
	moved := filepath.Join(filepath.Dir(dir), "moved")
	for _, c := range []struct {
		args    []string
		started string
		do      func() error
		want    string
	}{
		{[]string{"generate", "--watch"}, "waiting for changes", func() error { return errors.Join(os.Rename(dir, moved), os.Rename(other, dir)) },
			"error: the project directory was replaced by another one; run the command again to watch it\n"},
		{[]string{"run", "local", "--control-plane", "embedded", "--watch"}, "press Ctrl-C", func() error { return os.Rename(dir, other) },
			"error: the project directory was removed\n"},
		{[]string{"generate", "--watch"}, "waiting for changes", func() error { return os.RemoveAll(dir) },
			"error: the project directory was removed\n"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			if _, err := os.Stat(dir); err != nil {
				if err := os.Rename(moved, dir); err != nil {
					t.Fatal(err)
				}
			}
			p := clitest.StartProcess(t, dir, nil, c.args...)
			p.WaitFor(c.started, 1)
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			p.MustEnd(1)
			if !strings.Contains(p.Output(), c.want) {
				t.Errorf("it does not print %q", c.want)
			}
		})
	}
}

// addField gives generation something to do: the CRD and the deepcopy code of the golden operator.
func addField(t *testing.T, dir string) {
	t.Helper()
	clitest.EditFile(t, dir, "api/v1alpha1/memcached_types.go", "type MemcachedSpec struct {\n",
		"type MemcachedSpec struct {\n\t// colors of it\n\tColors []string `json:\"colors,omitempty\"`\n\n")
}
