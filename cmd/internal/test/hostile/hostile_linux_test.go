// Package hostile runs the scripts of testdata/hostile: commands on inputs that try to exhaust or hang them.
package hostile

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// What a command may use: resident memory of any of its processes in bytes, time, and bytes of output.
const (
	maxMemory = 512 << 20
	maxTime   = 30 * time.Second
	maxOutput = 1 << 20
)

// pollPeriod is the interval of measurements of the memory of a running command.
const pollPeriod = 20 * time.Millisecond

// crashed matches the output of a program that the Go runtime ended.
var crashed = regexp.MustCompile(`(?m)^(panic|fatal error|runtime): |^goroutine \d+`)

// usage is the resource usage of a command.
type usage struct {
	script, command string
	memory          int64
	time            time.Duration
}

// report collects the usage of all commands.
type report struct {
	mu   sync.Mutex
	uses []usage
}

// TestHostile runs the scripts of testdata/hostile. Without -thorough it skips slow commands.
func TestHostile(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "its inputs take as long as they may")
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	r := &report{}
	t.Cleanup(func() { r.log(t) })
	testscript.Run(t, testscript.Params{
		Dir: clitest.Testdata("hostile"),
		Setup: func(env *testscript.Env) error {
			clitest.SetGoVariables(t, env)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Values[envKey{}] = env
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"attack":   r.attack,
			"compose":  compose,
			"registry": registry,
			"replace":  clitest.ReplaceInScript,
		},
		Condition: func(name string) (bool, error) {
			if name == "thorough" {
				return *clitest.Thorough, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		RequireExplicitExec: true,
	})
}

// envKey is the key of the environment of a script's commands.
type envKey struct{}

// attack runs a command on hostile input: attack CODE REGEXP PROGRAM [ARGS...]. The command must end within the limits, with
// the exit code and a line on stderr that matches, and must not crash.
func (r *report) attack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: attack CODE REGEXP PROGRAM [ARGS...]")
	}
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[2])
	c := exec.Command(program, args[3:]...)
	c.Dir, c.Env = ts.MkAbs("."), ts.Value(envKey{}).(*testscript.Env).Vars
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	start := time.Now()
	ts.Check(c.Start())
	stopped := make(chan string, 1)
	done := make(chan struct{})
	go func() { stopped <- enforce(c.Process.Pid, done) }()
	err := c.Wait()
	close(done)
	took := time.Since(start)
	if reason := <-stopped; reason != "" {
		ts.Fatalf("%s after %s; its output begins\n%s", reason, took.Round(time.Millisecond), beginning(out.Bytes()))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		ts.Fatalf("%v", err)
	} else if code := c.ProcessState.ExitCode(); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d (%v), want %s; the output begins\n%s", code, exit, args[0], beginning(out.Bytes()))
	}
	memory := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	switch {
	case memory > maxMemory:
		ts.Fatalf("used %d MiB, more than %d", memory>>20, maxMemory>>20)
	case out.Len() > maxOutput:
		ts.Fatalf("printed %d bytes, more than %d", out.Len(), maxOutput)
	case crashed.Match(out.Bytes()):
		ts.Fatalf("crashed:\n%s", beginning(out.Bytes()))
	case !regexp.MustCompile("(?m)" + args[1]).Match(out.Bytes()):
		ts.Fatalf("the output does not match %s; it begins\n%s", args[1], beginning(out.Bytes()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uses = append(r.uses, usage{ts.Name(), strings.Join(args[2:], " "), memory, took})
}

// enforce kills a process group that exceeds the memory or time limit, and returns which. It returns when done is closed.
func enforce(pid int, done <-chan struct{}) string {
	poll, deadline := time.NewTicker(pollPeriod), time.After(maxTime)
	defer poll.Stop()
	for {
		reason := ""
		select {
		case <-done:
			return ""
		case <-deadline:
			reason = "it was still running"
		case <-poll.C:
			if memory := resident(pid); memory > maxMemory {
				reason = fmt.Sprintf("it used %d MiB", memory>>20)
			}
		}
		if reason != "" {
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			return reason
		}
	}
}

// resident returns the resident memory of a process in bytes, 0 if it has ended.
func resident(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

func beginning(text []byte) []byte { return text[:min(len(text), 2000)] }

// log prints the commands with the highest usage.
func (r *report) log(t *testing.T) {
	slices.SortFunc(r.uses, func(a, b usage) int { return cmp.Compare(b.memory, a.memory) })
	for _, u := range r.uses {
		t.Logf("%4d MiB %6.2fs  %s: %s", u.memory>>20, u.time.Seconds(), u.script, u.command)
	}
}

var (
	repeated = regexp.MustCompile(`(?s)^(\d+)x(.+)$`)
	escapes  = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
)

// compose writes a file: compose FILE PART... A part is text, in which \n starts a new line, or such as 100x[ for text that is
// repeated. In repeated text, %N is the number of the repetition, starting at 1, and %P the number of the previous one.
func compose(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: compose FILE PART...")
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	file, err := os.Create(name)
	ts.Check(err)
	// Written piece by piece: the memory counted for a command includes this process's memory when it starts it.
	w := bufio.NewWriter(file)
	for _, part := range args[1:] {
		count, text := 1, part
		if match := repeated.FindStringSubmatch(part); match != nil {
			count, err = strconv.Atoi(match[1])
			ts.Check(err)
			text = match[2]
		}
		text = escapes.Replace(text)
		numbered := strings.ContainsRune(text, '%')
		for i := range count {
			unit := text
			if numbered {
				unit = strings.NewReplacer("%N", strconv.Itoa(i+1), "%P", strconv.Itoa(i)).Replace(text)
			}
			_, err := w.WriteString(unit)
			ts.Check(err)
		}
	}
	ts.Check(w.Flush())
	ts.Check(file.Close())
}
