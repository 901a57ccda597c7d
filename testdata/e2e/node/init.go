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
	InitRole = "node-init"
	RunRole  = "node-run"
)

// The files that the roles get besides their standard ones.
const messagesFile = 3

// Init is the first process of the node: it waits for the link to the machine, starts the process that runs the
// node, and takes in orphans, as the processes that watch over containers. All processes of the node end with it.
// It returns the exit code.
func Init() int {
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
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"e2e", RunRole}, &syscall.ProcAttr{
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
