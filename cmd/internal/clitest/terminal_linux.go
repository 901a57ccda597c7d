package clitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// terminalRows is the height of the terminals of tests: enough for all output of a command.
const terminalRows = 500

// A Terminal is a pseudo-terminal in which operon runs.
type Terminal struct {
	t      *testing.T
	Cmd    *exec.Cmd
	pty    *os.File
	screen vt10x.Terminal
	ended  chan struct{}

	mu sync.Mutex
	// output is the output of the command, with escape sequences.
	output strings.Builder
	// from is the position in output where WaitFor begins to search.
	from int
}

// StartTerminal starts the test binary as operon at a terminal of a number of columns, with env added to its environment;
// see Main. The command ends with the test at the latest.
func StartTerminal(t *testing.T, dir string, columns int, env []string, args ...string) *Terminal {
	t.Helper()
	pty, tty := openTerminal(t, columns)
	terminal := &Terminal{
		t: t, Cmd: exec.Command(os.Args[0], args...), pty: pty, ended: make(chan struct{}),
		screen: vt10x.New(vt10x.WithSize(columns, terminalRows), vt10x.WithWriter(pty)), // it answers where the cursor is
	}
	c := terminal.Cmd
	c.Dir = dir
	c.Env = append(append(os.Environ(), KillVariable+"=0", "TERM=xterm", "NO_COLOR=", "GITHUB_ACTIONS="), env...)
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() }) // an error means that it has ended
	tty.Close()
	go terminal.read()
	return terminal
}

// StartRunTerminal is StartTerminal for run, which needs a control plane and must not find the user's cluster. In short mode
// it skips the test.
func StartRunTerminal(t *testing.T, dir string, env []string, args ...string) *Terminal {
	t.Helper()
	needWorkloads(t, dir)
	return StartTerminal(t, dir, 100, append([]string{"KUBECONFIG=", "HOME=" + os.Getenv("HOME")}, env...), args...)
}

// read displays the output of the command on the screen.
func (t *Terminal) read() {
	defer close(t.ended)
	for buffer := make([]byte, 4096); ; {
		n, err := t.pty.Read(buffer)
		if err != nil { // no process has the terminal open any more
			return
		}
		t.mu.Lock()
		t.output.Write(buffer[:n])
		_, _ = t.screen.Write(buffer[:n]) // always nil
		t.mu.Unlock()
	}
}

// Output returns the output of the command so far, with escape sequences.
func (t *Terminal) Output() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output.String()
}

// Screen returns the lines on the screen, without trailing spaces and empty lines.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(t.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// WaitFor waits up to five minutes for a text in the output after the text of the last WaitFor.
func (t *Terminal) WaitFor(text string) {
	t.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		ended := false
		select {
		case <-t.ended:
			ended = true
		default:
		}
		t.mu.Lock()
		i := strings.Index(t.output.String()[t.from:], text)
		if i >= 0 {
			t.from += i + len(text)
		}
		t.mu.Unlock()
		if i >= 0 {
			return
		}
		if ended {
			t.t.Fatalf("the command ended without printing %q\n%s", text, t.Screen())
		}
	}
	t.t.Fatalf("the command did not print %q\n%s", text, t.Screen())
}

// Type waits until the command has printed a text, such as a prompt, and nothing else for a moment, and types keys.
func (t *Terminal) Type(after, keys string) {
	t.t.Helper()
	t.WaitFor(after)
	for size := -1; size != len(t.Output()); time.Sleep(500 * time.Millisecond) {
		size = len(t.Output())
	}
	fmt.Fprint(t.pty, keys)
}

// MustEnd waits for the end of the command, checks its exit code and returns the screen.
func (t *Terminal) MustEnd(code int) string {
	t.t.Helper()
	select {
	case <-t.ended:
	case <-time.After(5 * time.Minute):
		t.t.Fatalf("the command did not end\n%s", t.Screen())
	}
	_ = t.Cmd.Wait() // the exit code follows
	if got := t.Cmd.ProcessState.ExitCode(); got != code {
		t.t.Fatalf("exit code %d, want %d\n%s", got, code, t.Screen())
	}
	return t.Screen()
}

// openTerminal opens both ends of a pseudo-terminal.
func openTerminal(t *testing.T, columns int) (pty, tty *os.File) {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pty.Close() })
	fd := int(pty.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(filepath.Join("/dev/pts", fmt.Sprint(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	size := &unix.Winsize{Row: terminalRows, Col: uint16(columns)}
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	return pty, tty
}
