// Package clitest tests the command line: it runs commands in this process or in one of their own, on copies of the
// golden projects, and compares and checks what they write. Only tests import it.
package clitest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd"
)

// Main runs the tests of a package. The package's TestMain calls it, because StartProcess starts the test binary again
// as operon.
func Main(m *testing.M) {
	runAsProgram()
	setBuildEnv()
	os.Exit(m.Run())
}

// ScriptMain is Main for packages with testscripts, which call operon by this name and as operator-sdk.
func ScriptMain(m *testing.M) {
	runAsProgram()
	setBuildEnv()
	testscript.Main(m, map[string]func(){"operon": program, "operator-sdk": program})
}

// setBuildEnv makes the go commands of all child processes build alike; see BuildFlags.
func setBuildEnv() {
	for name, value := range map[string]string{"GOFLAGS": BuildFlags, "CGO_ENABLED": "0"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// program is what a script calls as operon or operator-sdk.
func program() {
	env, err := cmd.System()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cmd.Main(context.Background(), env, os.Args))
}
