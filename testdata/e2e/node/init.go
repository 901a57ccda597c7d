//go:build linux

package node

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// The roles in which the program calls itself, as its first argument.
const (
	initRole   = "node-init"
	runRole    = "node-run"
	egressRole = "node-egress"
)

// Role returns what the program does in the role that its arguments name, or nil if they name none. Its result is the exit code.
func Role(args []string) func() int {
	if len(args) == 0 {
		return nil
	}
	return map[string]func() int{initRole: runInit, runRole: runAll, egressRole: runEgress}[args[0]]
}

// The files that the roles get besides their standard ones.
const messagesFile = 3

// runInit is the first process of the node: it waits for the link to the machine, starts the process that runs the
// node, and takes in orphans, as the processes that watch over containers. All processes of the node end with it.
// It returns the exit code.
func runInit() int {
	s, err := loadSettings()
	if err == nil {
		// The machine closes this process's input when the link is there. If it dies first, so does this process.
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	if err == nil {
		err = mountInside(s)
	}
	if err == nil {
		err = syscall.Sethostname([]byte(s.Name))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting the node: %v\n", err)
		return 1
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"e2e", runRole}, &syscall.ProcAttr{
		Env:   append(os.Environ(), "TMPDIR="+insideDir+"/tmp"),
		Files: []uintptr{0, 1, 2, messagesFile},
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting the node: %v\n", err)
		return 1
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || ended == pid {
			return status.ExitStatus()
		}
	}
}
