//go:build unix

package controlplane

import (
	"os/exec"
	"strconv"
	"syscall"
)

// watchdogScript kills the process group $2 once the process $1 is gone, and ends with either.
const watchdogScript = `while kill -0 "$1" && kill -s 0 -- "-$2"; do sleep 1; done 2>/dev/null
kill -0 "$1" 2>/dev/null || kill -s KILL -- "-$2" 2>/dev/null`

// watchdog starts a shell that kills a process group when another process has died.
func watchdog(parent, group int) (*exec.Cmd, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "watchdog", strconv.Itoa(parent), strconv.Itoa(group))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}
