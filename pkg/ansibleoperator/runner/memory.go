package runner

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A memory describes what the kernel lets the processes of the operator use.
type memory struct {
	// limit is the smallest limit of the control group and its parents in bytes; 0 for none.
	limit int64
	// kills is how often the kernel has killed a process of the control group because of the limit.
	kills int64
}

// noLimit is the least value that means no limit in version 1 of control groups.
const noLimit = 1 << 60

// readMemory reads the memory limit from the root file system of Linux. Other systems have none.
func readMemory(root fs.FS) (m memory) {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "":
			m.read(root, "sys/fs/cgroup", fields[2], "memory.max", "memory.events")
		case fields[1] == "memory":
			m.read(root, "sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes", "memory.oom_control")
		}
	}
	return m
}

// read reads the files of a control group and its parents. In a container, the mount point is often the group itself.
func (m *memory) read(root fs.FS, mount, group, limit, events string) {
	counted := false
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		name := path.Join(mount, dir)
		if n, err := strconv.ParseInt(readWord(root, path.Join(name, limit)), 10, 64); err == nil && n > 0 && n < noLimit && (m.limit == 0 || n < m.limit) {
			m.limit = n
		}
		if data, err := fs.ReadFile(root, path.Join(name, events)); err == nil && !counted {
			counted = true
			for line := range strings.Lines(string(data)) {
				if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
					m.kills, _ = strconv.ParseInt(n, 10, 64)
				}
			}
		}
		if dir == "/" {
			return
		}
	}
}

func readWord(root fs.FS, name string) string {
	data, _ := fs.ReadFile(root, name)
	return strings.TrimSpace(string(data))
}

// explain returns the likely cause of a signal that this package did not send, and what to do. The memory is the one before the run.
func (m memory) explain(signal int, after memory) string {
	limit := ""
	if after.limit > 0 {
		limit = fmt.Sprintf("the memory limit of the container, %d MiB", after.limit>>20)
	}
	switch {
	case signal == sigterm:
		return "something other than the operator ended it"
	case signal != sigkill:
		return "see the log of the operator"
	case limit != "" && after.kills > m.kills:
		return "out of memory: the run exceeded " + limit + "; raise it, or run fewer custom resources at once"
	case limit != "":
		return "most likely out of memory: check " + limit + "; raise it, or run fewer custom resources at once"
	}
	return "most likely out of memory: the container has no memory limit of its own, so check the memory of the node"
}

// The signals that have likely causes. Their numbers are the same on all systems.
const (
	sigkill = 9
	sigterm = 15
)

var signalNames = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 8: "SIGFPE", sigkill: "SIGKILL", 11: "SIGSEGV", sigterm: "SIGTERM"}

func signalName(signal int) string {
	if name, ok := signalNames[signal]; ok {
		return name
	}
	return fmt.Sprintf("signal %d", signal)
}

// signalOf returns the signal that ended a process of a task, from the return code in its result, as Python or a shell reports it; 0 if
// none did. Some modules report -1 for other errors.
func signalOf(code int) int {
	switch code {
	case -sigkill, -sigterm, -6, -11:
		return -code
	case 128 + sigkill, 128 + sigterm:
		return code - 128
	}
	return 0
}
