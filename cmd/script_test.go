package cmd_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(killVariable); at != "" {
		os.Exit(killedProgram(at))
	}
	testscript.Main(suite{m}, map[string]func(){"operon": program, "operator-sdk": program})
}

// programs is the folder of programs that are built once for all tests.
var programs string

// suite is all tests, with a folder for programs around them.
type suite struct{ *testing.M }

func (s suite) Run() int {
	var err error
	if programs, err = os.MkdirTemp("", "operon-programs-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	return s.M.Run()
}

// program is what a script calls by the name operon or operator-sdk.
func program() {
	env, err := cmd.System()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cmd.Main(context.Background(), env, os.Args))
}

// TestScript runs testdata/script/*.txtar: for every command and every bad input what it prints, the
// code it exits with and the files it leaves.
func TestScript(t *testing.T) {
	t.Parallel()
	if err := projectModules(); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "testdata", "script"),
		Setup: func(env *testscript.Env) error {
			// The module and build caches of the machine serve the scripts; nothing else of it does.
			env.Setenv("GOMODCACHE", goEnv(t, "GOMODCACHE"))
			env.Setenv("GOCACHE", goEnv(t, "GOCACHE"))
			env.Setenv("GOFLAGS", "")
			env.Setenv("GOTOOLCHAIN", "local")
			env.Setenv("GOPROXY", "off")
			// The folder with nothing but operon in it.
			env.Setenv("OPERON_DIR", filepath.SplitList(env.Getenv("PATH"))[0])
			env.Setenv("REAL_HOME", home)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"unchanged": unchanged,
			"snapshot":  snapshot,
			"exitcode":  exitCode,
			"refuse":    refuse,
			"replace":   replace,
			"mode":      mode,
			"hold":      hold,
		},
		Condition:           condition,
		RequireExplicitExec: true,
		UpdateScripts:       *update,
	})
}
