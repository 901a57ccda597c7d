package clitest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// ProcessesOf returns the names of processes with a directory in their command lines. It finds them on Linux only.
func ProcessesOf(dir string) (names []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(dir)) {
			name, _, _ := strings.Cut(string(line), "\x00")
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// CheckNoProcesses checks that the processes of a directory end within a time.
func CheckNoProcesses(t *testing.T, dir string, within time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		names := ProcessesOf(dir)
		if len(names) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("processes %v are still running", names)
			return
		}
	}
}

// A Process is operon in a separate process.
type Process struct {
	t   *testing.T
	Cmd *exec.Cmd
	// Done is closed when the process has ended.
	Done chan struct{}
	// TempDir is its TMPDIR.
	TempDir string

	mu  sync.Mutex
	out bytes.Buffer
}

// Write implements io.Writer for the output of the process.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// Output returns the output of the process so far.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// StartProcess starts the test binary as operon, with env added to its environment; see Main. In short mode it skips the
// test of a run.
func StartProcess(t *testing.T, dir string, env []string, args ...string) *Process {
	t.Helper()
	if args[0] == "run" || args[0] == "render" || args[0] == "test" {
		needWorkloads(t, dir)
	}
	p := &Process{t: t, TempDir: t.TempDir(), Done: make(chan struct{})}
	p.Cmd = exec.Command(os.Args[0], args...)
	p.Cmd.Dir = dir
	p.Cmd.Env = append(append(os.Environ(), KillVariable+"=0", "TMPDIR="+p.TempDir, "KUBECONFIG=", "HOME="+os.Getenv("HOME")), env...)
	for _, entry := range env {
		if tmp, ok := strings.CutPrefix(entry, "TMPDIR="); ok {
			p.TempDir = tmp
		}
	}
	p.Cmd.Stdout, p.Cmd.Stderr = p, p
	p.Cmd.WaitDelay = 10 * time.Second
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait() // MustEnd checks the exit code
		close(p.Done)
	}()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill() // it has ended unless the test failed
		<-p.Done
		if t.Failed() {
			t.Logf("operon %s:\n%s", strings.Join(args, " "), p.Output())
		}
	})
	return p
}

// needWorkloads provides the control plane that run starts, and compiles the dependencies of the manager that it builds, which
// may take longer than a test waits for output. In short mode it skips the test.
func needWorkloads(t *testing.T, dir string) {
	t.Helper()
	SkipIfShort(t, "it starts a control plane")
	if _, err := WorkloadAssets(); err != nil {
		t.Fatal(err)
	}
	CompileDependencies(t, dir)
}

// Interrupt sends the process an interrupt.
func (p *Process) Interrupt() {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
}

// WaitFor waits until the output contains a text n times.
func (p *Process) WaitFor(text string, n int) {
	p.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if strings.Count(p.Output(), text) >= n {
			return
		}
		select {
		case <-p.Done:
			if strings.Count(p.Output(), text) < n {
				p.t.Fatalf("operon ended without printing %q", text)
			}
			return
		default:
		}
	}
	p.t.Fatalf("operon did not print %q %d times", text, n)
}

// MustEnd waits for the end of the process and checks its exit code and that no process and no file remains.
func (p *Process) MustEnd(code int) {
	p.t.Helper()
	if got := p.End(); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
}

// End waits up to 15 minutes for the end of the process, which an Ansible operator can take on a busy machine, checks that no process and no
// file remains, and returns the exit code.
func (p *Process) End() int {
	p.t.Helper()
	select {
	case <-p.Done:
	case <-time.After(15 * time.Minute):
		p.t.Fatal("operon did not end")
	}
	CheckNoProcesses(p.t, p.TempDir, 30*time.Second)
	p.leavesNothing()
	return p.Cmd.ProcessState.ExitCode()
}

// leavesNothing checks that no temporary files of Operon and go remain.
func (p *Process) leavesNothing() {
	p.t.Helper()
	for _, pattern := range []string{"operon-*", "go-*"} {
		left, err := filepath.Glob(filepath.Join(p.TempDir, pattern))
		if err != nil || len(left) > 0 {
			p.t.Errorf("files %v remain (%v)", left, err)
		}
	}
}

// Cluster returns the control plane that the process has started.
func (p *Process) Cluster() *Cluster {
	p.t.Helper()
	p.WaitFor("the API server is at", 1)
	assets, err := ControlPlaneAssets()
	if err != nil {
		p.t.Fatal(err)
	}
	return &Cluster{T: p.t, assets: assets, Kubeconfig: filepath.Join(p.Cmd.Dir, ".operon", "kubeconfig")}
}
