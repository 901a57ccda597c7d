package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// killMarked kills the processes of a run whose supervisor was killed: they have its identifier in their environment. The system shows
// the environment of the last exec. Forks of the warm interpreter are therefore not found, but they end with their parents (die_with_parent
// in warm.py). Only processes that a module forks, and that execute no program, remain.
func killMarked(ident string) {
	marker := []byte("\x00" + runVariable + "=" + ident + "\x00")
	for range 100 { // a process that is killed may have started another one at the same time
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(append([]byte{0}, data...), marker) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
