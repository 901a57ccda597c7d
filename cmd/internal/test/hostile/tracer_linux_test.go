package hostile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tracedVariable makes the test binary ask the kernel to report its system calls to its tracer, and then execute itself.
const tracedVariable = "OPERON_TEST_TRACED"

// A trace is what a program and its descendants tried to do, in the order of time.
type trace struct {
	// programs are the programs that were executed.
	programs []program
	// changes are the paths, without symbolic links, of what was opened for writing, created, removed, renamed or changed.
	changes []string
	// connections are the addresses of sockets that were connected.
	connections []string
	// exitCode is the program's exit code, or -1 if it was killed.
	exitCode int
}

// A program is an executed file with its arguments, of which the first one is its name.
type program struct {
	path string
	args []string
}

// A pathCall is a system call that changes what is at one or two paths, with the indexes of its arguments. Only calls that Go programs
// use are traced, since no other program may run.
type pathCall struct {
	dir, path int
	second    bool // dir and path of a second path follow the first's
	follows   bool // a symbolic link at the path is followed
}

var pathCalls = map[uint64]pathCall{
	unix.SYS_OPENAT:    {dir: 0, path: 1, follows: true},
	unix.SYS_OPENAT2:   {dir: 0, path: 1, follows: true},
	unix.SYS_MKDIRAT:   {dir: 0, path: 1},
	unix.SYS_MKNODAT:   {dir: 0, path: 1},
	unix.SYS_UNLINKAT:  {dir: 0, path: 1},
	unix.SYS_RENAMEAT:  {dir: 0, path: 1, second: true},
	unix.SYS_RENAMEAT2: {dir: 0, path: 1, second: true},
	unix.SYS_LINKAT:    {dir: 0, path: 1, second: true},
	unix.SYS_SYMLINKAT: {dir: 1, path: 2},
	unix.SYS_FCHMODAT:  {dir: 0, path: 1, follows: true},
	unix.SYS_FCHOWNAT:  {dir: 0, path: 1},
	unix.SYS_UTIMENSAT: {dir: 0, path: 1},
	unix.SYS_TRUNCATE:  {dir: -1, path: 0, follows: true},
	unix.SYS_SETXATTR:  {dir: -1, path: 0, follows: true},
	unix.SYS_FCHMODAT2: {dir: 0, path: 1, follows: true},
	unix.SYS_EXECVE:    {dir: -1, path: 0, follows: true},
	unix.SYS_EXECVEAT:  {dir: 0, path: 1, follows: true},
}

// init ends the process as a traced program if tracedVariable is set.
func init() {
	if os.Getenv(tracedVariable) == "" {
		return
	}
	runtime.LockOSThread() // the filter applies to the thread that sets it, and to what it executes
	err := errors.Join(os.Unsetenv(tracedVariable), filterCalls())
	if err == nil {
		err = syscall.Exec(os.Args[0], os.Args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(3)
}

// filterCalls makes the kernel stop this thread and its descendants at the system calls of pathCalls and connect. Files that are opened for
// reading are not reported.
func filterCalls() error {
	const (
		number = 0
		flags  = 16 + 2*8 // of openat, in little endian
		report = 0x7ff00000
		allow  = 0x7fff0000
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	end := func(result uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: result}
	}
	filter := []unix.SockFilter{
		load(number),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_OPENAT, Jf: 4},
		load(flags),
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC, Jf: 1},
		end(report),
		end(allow),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CONNECT, Jf: 1},
		end(report),
	}
	for call := range pathCalls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(call), Jf: 1}, end(report))
	}
	filter = append(filter, end(allow))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up privileges: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("setting the filter of system calls: %w", err)
	}
	return nil
}

// A tracer follows a program and its descendants.
type tracer struct {
	trace
	mu      sync.Mutex
	running map[int]bool
}

// runTraced runs the test binary with the given environment and arguments, and returns what it did. It is killed after a time limit.
func runTraced(t *testing.T, dir string, environ []string, out *os.File, limit time.Duration, args ...string) trace {
	t.Helper()
	runtime.LockOSThread() // only the thread that started a program can trace it
	defer runtime.UnlockOSThread()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	pid, err := syscall.ForkExec(os.Args[0], append([]string{os.Args[0]}, args...), &syscall.ProcAttr{
		Dir: dir, Env: append(slices.Clone(environ), tracedVariable+"=1"), Files: []uintptr{null.Fd(), out.Fd(), out.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		t.Fatal(err)
	}
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK
	if err := errors.Join(unix.PtraceSetOptions(pid, options), unix.PtraceCont(pid, 0)); err != nil {
		t.Fatal(err)
	}
	tr := &tracer{running: map[int]bool{pid: true}}
	timer := time.AfterFunc(limit, tr.kill)
	defer timer.Stop()
	if err := tr.follow(pid); err != nil {
		t.Fatal(err)
	}
	return tr.trace
}

func (tr *tracer) kill() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for pid := range tr.running {
		_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
	}
}

// follow handles the stops of all threads until the last one has ended.
func (tr *tracer) follow(root int) error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return err
		}
		tr.mu.Lock()
		seen := tr.running[pid]
		tr.running[pid] = true
		if !status.Stopped() {
			delete(tr.running, pid)
		}
		tr.mu.Unlock()
		if !status.Stopped() {
			if pid == root {
				tr.exitCode = status.ExitStatus()
			}
			continue
		}
		signal := int(status.StopSignal())
		switch event := int(status) >> 16; {
		case event == unix.PTRACE_EVENT_SECCOMP:
			if err := tr.record(pid); err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("reading a system call: %w", err)
			}
			signal = 0
		case event != 0, signal == int(unix.SIGTRAP), signal == int(unix.SIGSTOP) && !seen:
			signal = 0
		}
		if err := unix.PtraceCont(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
}

// record adds the system call at which a thread has stopped.
func (tr *tracer) record(pid int) error {
	var registers unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &registers); err != nil {
		return err
	}
	number, arguments := systemCall(&registers)
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return err
	}
	defer func() { _ = memory.Close() }()
	read := func(address uint64, size int) []byte {
		data := make([]byte, size)
		n, _ := memory.ReadAt(data, int64(address)) // what follows the text may not be readable
		return data[:n]
	}
	if number == unix.SYS_CONNECT {
		tr.connections = append(tr.connections, address(read(arguments[1], int(min(arguments[2], 128)))))
		return nil
	}
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil {
		return nil // the process has been ended, and the call with it
	}
	call := pathCalls[number]
	for i := range 2 {
		text := cString(read(arguments[call.path+2*i], unix.PathMax))
		dir := int32(unix.AT_FDCWD)
		if call.dir >= 0 {
			dir = int32(arguments[call.dir+2*i])
		}
		path := resolve(pid, dir, text, call.follows)
		if number == unix.SYS_EXECVE || number == unix.SYS_EXECVEAT {
			executed := program{path: path}
			for list := arguments[call.path+1]; len(executed.args) < 100; list += 8 {
				pointer := read(list, 8)
				if len(pointer) < 8 || binary.NativeEndian.Uint64(pointer) == 0 {
					break
				}
				executed.args = append(executed.args, cString(read(binary.NativeEndian.Uint64(pointer), 4096)))
			}
			tr.programs = append(tr.programs, executed)
		} else {
			tr.changes = append(tr.changes, path)
		}
		if !call.second {
			break
		}
	}
	return nil
}

// cString returns the text before the first zero byte.
func cString(data []byte) string {
	text, _, _ := bytes.Cut(data, []byte{0})
	return string(text)
}

// resolve returns the absolute path of a file without symbolic links, as a thread that has stopped names it.
func resolve(pid int, dir int32, path string, follow bool) string {
	if !filepath.IsAbs(path) {
		base := fmt.Sprintf("/proc/%d/cwd", pid)
		if dir != unix.AT_FDCWD {
			base = fmt.Sprintf("/proc/%d/fd/%d", pid, dir)
		}
		if target, err := os.Readlink(base); err == nil {
			base = target
		}
		if path == "" { // the descriptor itself
			return base
		}
		path = filepath.Join(base, path)
	}
	if follow {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(parent, filepath.Base(path))
	}
	return path
}

// address returns a socket's address as text.
func address(data []byte) string {
	if len(data) < 2 {
		return "unknown"
	}
	switch binary.NativeEndian.Uint16(data) {
	case unix.AF_INET:
		if len(data) >= 8 {
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte(data[4:8])), binary.BigEndian.Uint16(data[2:])).String()
		}
	case unix.AF_INET6:
		if len(data) >= 24 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(data[8:24])), binary.BigEndian.Uint16(data[2:])).String()
		}
	case unix.AF_UNIX:
		return "unix " + strconv.Quote(string(data[2:]))
	}
	return fmt.Sprintf("%x", data)
}
