// Package clitest contains helpers for tests of the command line. Run executes commands in the process of the test,
// StartProcess in a separate one, on new projects or copies of the golden projects. Only tests import it; their TestMain
// calls Main.
package clitest

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/pkg/userstate"
	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/testdata/parallel"
)

// Main runs the tests of a package, whose TestMain calls it. StartProcess, scripts and makefiles run the test binary as
// operon, operator-sdk, kubebuilder, helm-operator or ansible-operator.
func Main(m *testing.M) { run(suite{M: m}) }

// MainOfWaiting is Main for a package whose tests mostly wait, so that more of them run at the same time.
func MainOfWaiting(m *testing.M) { run(suite{M: m, waits: true}) }

func run(s suite) {
	debug.SetGCPercent(200) // as in the program
	runAsProgram()
	testscript.Main(s, map[string]func(){
		"operon": program, "operator-sdk": program, "kubebuilder": program, "helm-operator": program, "ansible-operator": program,
	})
}

// suite runs the tests of a package.
type suite struct {
	*testing.M
	waits bool
}

// Run sets BuildFlags for the go commands of all child processes and a state directory for this process and its children, and runs
// the tests. Commands run in this process then, two at a
// time, and keep more memory alive than one: collecting garbage less often saves a fifth of the CPU time.
func (s suite) Run() int {
	debug.SetGCPercent(400)
	if s.waits {
		parallel.Wait()
	}
	state, err := os.MkdirTemp("", "operon-test-state-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(state) }() // a process that a failed test has left may still write to it
	for name, value := range map[string]string{"GOFLAGS": BuildFlags, "CGO_ENABLED": "0", "XDG_STATE_HOME": state} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return s.M.Run()
}

// Location returns the location of a project for commands that tests run in this process or as programs.
func Location(root string) worktree.Location {
	return worktree.Location{FS: afero.NewOsFs(), Root: root, StateDirs: userstate.Dirs(os.Getenv)}
}

// StateDir returns the directory in the state directory of tests for the project at root.
func StateDir(t *testing.T, root string) string {
	t.Helper()
	dir, err := userstate.Find(userstate.Dirs(os.Getenv), root)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// NeverSlow is Env.SlowAfter for tests whose output must not depend on the speed of the machine. Programs that tests start have it
// unless OPERON_TEST_SLOW_AFTER is set.
const NeverSlow = time.Hour

// program runs the test binary as operon, by the name that it is called by.
func program() {
	env, err := programEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cmd.Main(context.Background(), env, os.Args))
}

// programEnv returns the Env of a program that a test starts.
func programEnv() (*cmd.Env, error) {
	env, err := cmd.System()
	if err != nil {
		return nil, err
	}
	changeForTests(env)
	return env, nil
}

// changeForTests sets the fields of an Env that environment variables of tests change.
func changeForTests(env *cmd.Env) {
	if file := env.Getenv(RuntimeVariable); file != "" {
		env.Runtime = func() (string, error) { return file, nil }
	}
	after, err := time.ParseDuration(env.Getenv("OPERON_TEST_SLOW_AFTER"))
	if env.SlowAfter = after; err != nil {
		env.SlowAfter = NeverSlow
	}
}
