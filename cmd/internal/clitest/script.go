package clitest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// SetGoVariables lets the go commands of a script use the module and build caches of the machine, so that they need no
// network.
func SetGoVariables(t *testing.T, env *testscript.Env) {
	t.Helper()
	env.Setenv("GOMODCACHE", GoEnv(t, "GOMODCACHE"))
	env.Setenv("GOCACHE", GoEnv(t, "GOCACHE"))
	env.Setenv("GOFLAGS", BuildFlags)
	env.Setenv("CGO_ENABLED", "0")
	env.Setenv("GOTOOLCHAIN", "local")
	env.Setenv("GOPROXY", "off")
}

// RuntimeInScript is a command of scripts that provides operon-runtime for the following commands: runtime.
func RuntimeInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: runtime")
	}
	file, err := Runtime()
	ts.Check(err)
	ts.Setenv(RuntimeVariable, file)
}

// ReplaceInScript is a command of scripts that edits files: replace REGEXP TEXT FILE... Every file must match.
func ReplaceInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: replace REGEXP TEXT FILE...")
	}
	pattern := regexp.MustCompile("(?m)" + args[0])
	text := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\ufeff`, "\uFEFF").Replace(args[1])
	for _, name := range args[2:] {
		old := ts.ReadFile(name)
		if !pattern.MatchString(old) {
			ts.Fatalf("%s does not match %s", name, args[0])
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(pattern.ReplaceAllString(old, text)), 0o644))
	}
}

// TypesInScript is a command of scripts that checks the Go code in the current directory with CheckTypes: typecheck.
func TypesInScript(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) > 0 {
			ts.Fatalf("usage: typecheck")
		}
		CheckTypes(scriptTB{TB: t, ts: ts}, ts.MkAbs("."), ".")
	}
}

// scriptTB reports failures of checks as failures of a script, which ends with the first one.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (s scriptTB) Helper()                           {}
func (s scriptTB) Failed() bool                      { return false }
func (s scriptTB) Log(args ...any)                   { s.ts.Logf("%s", fmt.Sprint(args...)) }
func (s scriptTB) Logf(format string, args ...any)   { s.ts.Logf(format, args...) }
func (s scriptTB) Error(args ...any)                 { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s scriptTB) Errorf(format string, args ...any) { s.ts.Fatalf(format, args...) }
func (s scriptTB) Fatal(args ...any)                 { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s scriptTB) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }
