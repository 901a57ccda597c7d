package clitest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd"
)

// scriptKey is the key of a script in the values of testscript.
type scriptKey struct{}

// A script is what RunInScript cannot ask testscript for.
type script struct {
	// variables are the names of the variables that the script may set.
	variables []string
	// input reports that the script sets the standard input of programs.
	input bool
	// path is PATH at the start of the script.
	path string
}

// needsProcess reports whether a program must run in a process of its own: it gets input or is killed, or libraries look up the
// go command in a PATH that differs from the one of this process.
func (s *script) needsProcess(ts *testscript.TestScript, program string) bool {
	return s.input || ts.Getenv(KillVariable) != "" || ts.Getenv("PATH") != s.path || program != "operon" && program != "operator-sdk"
}

var (
	setsVariable = regexp.MustCompile(`(?m)^(?:\[[^]]*\] )*env ([A-Za-z_0-9]+)=`)
	setsInput    = regexp.MustCompile(`(?m)^(?:\[[^]]*\] )*(?:stdin|ttyin) `)
)

// PrepareScript reads a script of a directory for RunInScript. Setup functions call it.
func PrepareScript(env *testscript.Env, dir string) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	text, err := os.ReadFile(filepath.Join(dir, name+".txtar"))
	if err != nil {
		return err
	}
	s := &script{variables: []string{RuntimeVariable}, input: setsInput.Match(text), path: env.Getenv("PATH")}
	for _, entry := range env.Vars {
		variable, _, _ := strings.Cut(entry, "=")
		s.variables = append(s.variables, variable)
	}
	ownCaches := false
	for _, found := range setsVariable.FindAllSubmatch(text, -1) {
		name := string(found[1])
		s.variables = append(s.variables, name)
		ownCaches = ownCaches || slices.Contains([]string{"GOMODCACHE", "GOPROXY", "XDG_CACHE_HOME"}, name)
	}
	if !ownCaches {
		if err := shareCaches(env.Getenv("XDG_CACHE_HOME")); err != nil {
			return err
		}
	}
	slices.Sort(s.variables)
	s.variables = slices.Compact(s.variables)
	env.Values[scriptKey{}] = s
	return nil
}

// RunInScript runs a program for a command of scripts and returns its exit code and output. Operon runs in the process of the
// test if it can: starting a process takes longer than most commands.
func RunInScript(ts *testscript.TestScript, args ...string) (code int, stdout, stderr string) {
	s, prepared := ts.Value(scriptKey{}).(*script)
	if !prepared || s.needsProcess(ts, args[0]) {
		err := ts.Exec(args[0], args[1:]...)
		if err != nil {
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				ts.Fatalf("%v", err)
			}
			code = exit.ExitCode()
		}
		return code, ts.ReadFile("stdout"), ts.ReadFile("stderr")
	}
	env, err := cmd.System()
	ts.Check(err)
	env.Dir, env.Environ = ts.MkAbs("."), nil
	for _, name := range s.variables {
		if value := ts.Getenv(name); value != "" {
			env.Environ = append(env.Environ, name+"="+value)
		}
	}
	var out, errOut bytes.Buffer
	env.In, env.Out, env.Err = strings.NewReader(""), &out, &errOut
	env.InPipe, env.InFile = true, false
	env.InTerminal, env.OutTerminal, env.ErrTerminal = false, false, false
	env.CacheDir = ts.Getenv("XDG_CACHE_HOME")
	changeForTests(env)
	code = cmd.Main(context.Background(), env, args)
	_, err = ts.Stdout().Write(out.Bytes())
	ts.Check(err)
	_, err = ts.Stderr().Write(errOut.Bytes())
	ts.Check(err)
	return code, out.String(), errOut.String()
}

// shareCaches lets a cache directory contain the types of libraries that tests have loaded before.
func shareCaches(dir string) error {
	shared, err := generationCache()
	if err != nil {
		return err
	}
	for _, name := range []string{"codegen", "typecheck"} {
		target, link := filepath.Join(shared, "operon", name), filepath.Join(dir, "operon", name)
		if err := errors.Join(os.MkdirAll(target, 0o755), os.MkdirAll(filepath.Dir(link), 0o755)); err != nil {
			return err
		}
		_ = os.Symlink(target, link) // without links, the script has a cache of its own
	}
	return nil
}
