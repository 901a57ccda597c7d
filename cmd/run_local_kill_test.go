//go:build unix

package cmd_test

import (
	"slices"
	"testing"
	"time"
)

// TestRunLocalKilled kills run local where it may not clean up: nothing goes on without it, what it
// generates is there as a whole or not at all, and the next run does all that a first one does.
func TestRunLocalKilled(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	freeWebhookPort(t, dir)
	args := []string{"run", "local", "--control-plane", "embedded", "--samples"}
	addField(t, dir)
	before := readTree(t, dir)
	generated := copyTree(t, dir)
	operon(t, generated, "generate")
	after := readTree(t, generated)
	// All of them keep their files in the same place, as one person's runs do.
	tmp := "TMPDIR=" + t.TempDir()
	said := func(text string) func(*localProcess) {
		return func(p *localProcess) { p.waitFor(text, 1) }
	}
	runs := func(name string) func(*localProcess) {
		return func(p *localProcess) {
			for deadline := time.Now().Add(3 * time.Minute); !slices.Contains(processesOf(p.tmp), name); time.Sleep(time.Millisecond) {
				select {
				case <-p.done:
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
		wait func(*localProcess)
	}{
		{"writing the first file", killVariable + "=4", nil},
		{"writing the last file", killVariable + "=11", nil},
		{"generating", "", func(*localProcess) { time.Sleep(30 * time.Millisecond) }},
		{"servers start", "", runs("etcd")},
		{"building", "", runs("go")},
		{"linking", "", runs("link")},
		{"installing", "", said("KUBECONFIG=")},
		{"starting the manager", "", said("starting the manager")},
		{"manager runs", "", said("applied " + memcached)},
	}
	for _, m := range moments {
		p := startLocal(t, dir, []string{tmp, m.env}, args...)
		if m.wait != nil {
			m.wait(p)
			if err := p.c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: it was not killed", m.name)
		}
		if p.c.ProcessState.Exited() {
			t.Fatalf("%s: it ended by itself:\n%s", m.name, p.output())
		}
		nothingRuns(t, p.tmp, 20*time.Second)
		now := readTree(t, dir)
		for name := range after {
			if now[name] != before[name] && now[name] != after[name] {
				t.Errorf("%s: it leaves %s half-written:\n%s", m.name, name, now[name])
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	p := startLocal(t, dir, []string{tmp}, args...)
	p.waitFor("applied "+memcached, 1)
	c := p.cluster()
	c.eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	p.interrupt()
	p.ends(0)
	compareTrees(t, generated, dir)
}

// TestGenerateWatchKilled kills generate --watch in the middle of its writes.
func TestGenerateWatchKilled(t *testing.T) {
	t.Parallel()
	dir := golden(t, "memcached-operator")
	addField(t, dir)
	want := copyTree(t, dir)
	operon(t, want, "generate")
	p := startLocal(t, dir, []string{killVariable + "=6"}, "generate", "--watch")
	<-p.done
	if p.c.ProcessState.Exited() {
		t.Fatal("it was not killed")
	}
	p = startLocal(t, dir, nil, "generate", "--watch")
	p.waitFor("waiting for changes", 1)
	p.interrupt()
	p.ends(0)
	compareTrees(t, want, dir)
}

// addField gives generation something to do: the CRD and the deepcopy code of the golden operator.
func addField(t *testing.T, dir string) {
	t.Helper()
	edit(t, dir, "api/v1alpha1/memcached_types.go", "type MemcachedSpec struct {\n",
		"type MemcachedSpec struct {\n\t// colours of it\n\tColours []string `json:\"colours,omitempty\"`\n\n")
}
