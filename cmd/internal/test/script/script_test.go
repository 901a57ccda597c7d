package script

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestScript runs testdata/script/*.txtar, which check output, exit code and files of all commands, also with invalid input.
func TestScript(t *testing.T) {
	t.Parallel()
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: clitest.Testdata("script"),
		Setup: func(env *testscript.Env) error {
			clitest.SetGoVariables(t, env) // scripts use nothing else of the machine
			// The directory that contains only operon.
			env.Setenv("OPERON_DIR", filepath.SplitList(env.Getenv("PATH"))[0])
			env.Setenv("REAL_HOME", home)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			return clitest.PrepareScript(env, clitest.Testdata("script"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"unchanged": unchanged,
			"snapshot":  snapshot,
			"exitcode":  exitCode,
			"refuse":    refuse,
			"replace":   clitest.ReplaceInScript,
			"mode":      mode,
			"hold":      hold,
			"run":       runProgram,
			"runtime":   clitest.RuntimeInScript,
			"typecheck": clitest.TypesInScript(t),
		},
		Condition:           condition,
		RequireExplicitExec: true,
		UpdateScripts:       *clitest.Update,
	})
}
