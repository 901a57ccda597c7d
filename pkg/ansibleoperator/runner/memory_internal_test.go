package runner

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadMemory(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  memory
	}{
		"container": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("805306368\n"),
			"sys/fs/cgroup/memory.events": file("low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0\n"),
		}, memory{768 << 20, 2}},
		"parent with a lower limit": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/memory.max": file("1048576\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"),
			"sys/fs/cgroup/a/b/memory.events": file("oom_kill 1\n"), "sys/fs/cgroup/a/memory.events": file("oom_kill 5\n"),
		}, memory{1 << 20, 1}},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup":                             file("12:pids:/docker/x\n4:memory:/docker/x\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   file("1048576\n"),
			"sys/fs/cgroup/memory/memory.oom_control":      file("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("1\n"),
		}, memory{1 << 20, 7}},
		"version 1 without a limit": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, memory{}},
		"other system": {fstest.MapFS{}, memory{}},
	} {
		if got := readMemory(test.files); got != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestExplainSignal(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		signal        int
		before, after memory
	}{
		"exceeded the memory limit of the container, 768 MiB":                   {9, memory{768 << 20, 1}, memory{768 << 20, 2}},
		"most likely out of memory: check the memory limit of the container, 1": {9, memory{}, memory{1 << 20, 0}},
		"no memory limit of its own":                                            {9, memory{}, memory{}},
		"something other than the operator":                                     {15, memory{1, 1}, memory{1, 2}},
		"see the log":                                                           {11, memory{}, memory{}},
	} {
		if got := test.before.explain(test.signal, test.after); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for code, want := range map[int]int{0: 0, 1: 0, -1: 0, 2: 0, -9: 9, 137: 9, 143: 15, 139: 0, 255: 0, -11: 11} {
		if got := signalOf(code); got != want {
			t.Errorf("signal of %d is %d", code, got)
		}
	}
}
