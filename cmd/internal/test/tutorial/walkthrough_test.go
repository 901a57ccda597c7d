package tutorial

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/controlplane"
)

// TestWalkthrough runs the commands of tutorials for operator-sdk and kubebuilder, in their order and with their edits, on a real
// API server. Commands that require a node are comments that begin with "# node:", followed by their replacement. Introductions have
// no commands.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it starts control planes")
	if runtime.GOOS == "windows" {
		t.Skip("the tutorials run make and a POSIX shell")
	}
	if err := clitest.DownloadModules(); err != nil {
		t.Fatal(err)
	}
	if _, err := clitest.ControlPlaneAssets(); err != nil {
		t.Fatal(err)
	}
	clitest.CompileDependencies(t, clitest.Testdata("memcached-operator"))
	testscript.Run(t, testscript.Params{
		Dir:   clitest.Testdata("walkthrough"),
		Setup: func(env *testscript.Env) error { return walkthroughEnv(t, env) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"replace":      clitest.ReplaceInScript,
			"typecheck":    clitest.TypesInScript(t),
			"controlplane": startPlane,
			"start":        startProgram,
			"awaits":       awaitOutput,
			"interrupt":    interruptProgram,
			"eventually":   eventually,
		},
		RequireExplicitExec: true,
	})
}

func walkthroughEnv(t *testing.T, env *testscript.Env) error {
	clitest.SetGoVariables(t, env)
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("KUBECONFIG", filepath.Join(env.WorkDir, "none"))
	env.Setenv("REGISTRY", clitest.StartRegistry(t))
	env.Values[programKey{}] = &runningProgram{}
	return nil
}

// programKey is the key of the program that a script has started.
type programKey struct{}

// A runningProgram runs until it is interrupted.
type runningProgram struct {
	clitest.Buffer
	c    *exec.Cmd
	done chan struct{}
}

// startPlane starts an API server, which all later commands of the script use.
func startPlane(ts *testscript.TestScript, _ bool, _ []string) {
	assets, err := clitest.ControlPlaneAssets()
	ts.Check(err)
	plane, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
	ts.Check(err)
	ts.Defer(func() { _ = plane.Stop() })
	ts.Setenv("KUBECONFIG", plane.KubeconfigPath())
	ts.Setenv("PATH", ts.Getenv("PATH")+string(os.PathListSeparator)+assets.Dir)
}

// startProgram starts a program: start PROGRAM [ARGS...].
func startProgram(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value(programKey{}).(*runningProgram)
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, args[0])); err == nil && path == "" {
			path = found
		}
	}
	p.c, p.done = exec.Command(path, args[1:]...), make(chan struct{})
	p.c.Dir, p.c.Stdout, p.c.Stderr, p.c.WaitDelay = ts.MkAbs("."), p, p, 10*time.Second
	for _, name := range []string{"PATH", "HOME", "KUBECONFIG", "GOMODCACHE", "GOCACHE", "GOFLAGS", "CGO_ENABLED", "GOTOOLCHAIN", "GOPROXY", "TMPDIR"} {
		p.c.Env = append(p.c.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(p.c.Start())
	done := p.done
	go func() {
		_ = p.c.Wait() // the exit code is checked
		close(done)
	}()
	ts.Defer(func() {
		_ = p.c.Process.Kill() // it has ended unless the script failed
		<-done
	})
}

// awaitOutput waits until the program has printed a text: awaits TEXT.
func awaitOutput(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value(programKey{}).(*runningProgram)
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(p.String(), args[0]); time.Sleep(50 * time.Millisecond) {
		select {
		case <-p.done:
			if !strings.Contains(p.String(), args[0]) {
				ts.Fatalf("it ended before it said %q:\n%s", args[0], p.String())
			}
			return
		default:
		}
		if time.Now().After(deadline) {
			ts.Fatalf("it never said %q:\n%s", args[0], p.String())
		}
	}
}

// interruptProgram interrupts the program like Ctrl-C. It must end with exit code 0.
func interruptProgram(ts *testscript.TestScript, _ bool, _ []string) {
	p := ts.Value(programKey{}).(*runningProgram)
	ts.Check(p.c.Process.Signal(os.Interrupt))
	select {
	case <-p.done:
	case <-time.After(5 * time.Minute):
		ts.Fatalf("it does not end:\n%s", p.String())
	}
	if code := p.c.ProcessState.ExitCode(); code != 0 {
		ts.Fatalf("exit code %d:\n%s", code, p.String())
	}
}

// eventually runs a program until its output is a text: eventually TEXT PROGRAM [ARGS...].
func eventually(ts *testscript.TestScript, _ bool, args []string) {
	pause := 100 * time.Millisecond
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(pause) {
		pause = min(pause*3/2, time.Second) // programs take CPU time
		err := ts.Exec(args[1], args[2:]...)
		got := ts.ReadFile("stdout")
		if err == nil && strings.TrimSpace(got) == args[0] {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("got %q (%v), want %q", strings.TrimSpace(got), err, args[0])
		}
	}
}
