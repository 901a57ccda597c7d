package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes makes the system kill a process when the thread that started it ends. Interrupts at the terminal do not reach it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// residentKiB returns the resident memory of a process.
func residentKiB(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			return strconv.Atoi(fields[1])
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}

// cpuSeconds returns the CPU time of the processes with a variable in their environment, and of their children that have ended.
func cpuSeconds(variable string) (seconds float64) {
	for _, proc := range marked(variable) {
		data, err := os.ReadFile(filepath.Join(proc, "stat"))
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		const first, ticksPerSecond = 11, 100 // utime, stime, cutime, cstime
		for _, field := range fields[first : first+4] {
			ticks, _ := strconv.Atoi(field) // the kernel writes numbers
			seconds += float64(ticks) / ticksPerSecond
		}
	}
	return seconds
}

// A runningProcess is a process that another package has started.
type runningProcess struct {
	pid           int
	args, environ []string
	dir           string
}

// findProcess returns the process whose arguments contain all texts.
func findProcess(texts ...string) (runningProcess, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return runningProcess{}, err
	}
next:
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		for _, text := range texts {
			if !bytes.Contains(data, []byte(text)) {
				continue next
			}
		}
		proc := filepath.Dir(file)
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil {
			return runningProcess{}, err
		}
		environ, err := os.ReadFile(filepath.Join(proc, "environ"))
		if err != nil {
			return runningProcess{}, err
		}
		dir, err := os.Readlink(filepath.Join(proc, "cwd"))
		return runningProcess{pid, split(data), split(environ), dir}, err
	}
	return runningProcess{}, fmt.Errorf("no process has the arguments %q", texts)
}

func split(data []byte) []string {
	return strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
}

// marked returns the directories in /proc of the processes with a variable in their environment.
func marked(variable string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+variable+"\x00")) {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}

// checkSystem returns an error if the program can't run on this system.
func checkSystem() error {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return errors.New("soak requires /proc")
	}
	return nil
}
