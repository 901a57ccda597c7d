package script

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/userstate"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// leaks matches internals in messages: stack traces, names of Go types and functions, formatting errors.
var leaks = regexp.MustCompile(`goroutine |panic:|\*[a-z]+\.[A-Z]|strconv\.|%!|<nil>|\.tmpl`)

// prompts matches prompts and messages about invalid answers before an error.
var prompts = regexp.MustCompile(`^(.* (\[Y/n\]|\(example: .*\)( \[.*\])?):\n|".*": must be y or n\n|an answer is required\n)+`)

// refuse runs a program that must fail: refuse CODE REGEXP PROGRAM [ARGS...]. It checks the exit code, that stderr matches the
// expression, that each line is printed once, on stderr, without internal names and paths of the machine, and that no file in the
// script's directory changed.
func refuse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: refuse CODE REGEXP PROGRAM [ARGS...]")
	}
	work := ts.Getenv("WORK")
	before := scriptSum(ts, work)
	code, stdout, stderr := clitest.RunInScript(ts, args[2:]...)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if !regexp.MustCompile("(?m)" + args[1]).MatchString(stderr) {
		ts.Fatalf("stderr does not match %s", args[1])
	}
	// Prompts and progress may come before the error.
	stderr = prompts.ReplaceAllString(stderr, "")
	if !strings.HasPrefix(stderr, "error: ") || strings.Contains(stderr, "error: error: ") {
		ts.Fatalf("stderr must begin with an error")
	}
	for _, path := range []string{work, os.TempDir() + string(filepath.Separator)} {
		if strings.Contains(stderr, path) {
			ts.Fatalf("stderr contains %s, a path of this machine", path)
		}
	}
	if m := leaks.FindString(stderr); m != "" {
		ts.Fatalf("stderr contains %q", m)
	}
	printed := map[string]bool{}
	for line := range strings.Lines(stderr) {
		// Indented lines belong to the line above.
		if printed[line] && !strings.HasPrefix(line, " ") {
			ts.Fatalf("stderr contains twice: %s", line)
		}
		printed[line] = true
	}
	if stdout != "" {
		ts.Fatalf("stdout = %q, want nothing", stdout)
	}
	if scriptSum(ts, work) != before {
		ts.Fatalf("files in the directory of the script changed")
	}
}

// scriptSum returns the hash of a script's directory without the caches.
func scriptSum(ts *testscript.TestScript, work string) string {
	entries, err := os.ReadDir(work)
	ts.Check(err)
	var sums strings.Builder
	for _, entry := range entries {
		switch entry.Name() {
		case ".cache", ".home", ".tmp":
			continue
		}
		sum, err := treeSum(filepath.Join(work, entry.Name()))
		ts.Check(err)
		sums.WriteString(entry.Name() + " " + sum + "\n")
	}
	return sums.String()
}

// mode checks the permissions of files and directories: mode 0644 FILE...
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode 0644 FILE...")
	}
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := "0" + strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, got, args[0])
		}
	}
}

// hold takes the lock of a project as another command would, until the script ends: hold DIR COMMAND.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hold DIR COMMAND")
	}
	location := worktree.Location{FS: afero.NewOsFs(), Root: ts.MkAbs(args[0]), StateDirs: userstate.Dirs(ts.Getenv)}
	lock, err := worktree.Lock(context.Background(), location, worktree.LockOptions{Command: args[1], Timeout: time.Second})
	ts.Check(err)
	ts.Defer(func() { _ = lock.Unlock() })
}
