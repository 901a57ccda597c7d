package script

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// exitCode runs a program and checks its exit code: exitcode 2 operon init.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, _, _ := clitest.RunInScript(ts, args[1:]...)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// runProgram runs operon in the process of the test, as exec runs it in a process of its own: run operon ARGS... With "!" it must
// fail.
func runProgram(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: run operon [args...]")
	}
	if code, _, _ := clitest.RunInScript(ts, args...); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// snapshot records a directory for unchanged: snapshot DIR.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot DIR")
	}
	sum, err := treeSum(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Setenv("SNAPSHOT_"+filepath.Base(args[0]), sum)
}

// unchanged checks that contents, modes and names in a directory match its snapshot.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: unchanged DIR")
	}
	sum, err := treeSum(ts.MkAbs(args[0]))
	ts.Check(err)
	same := sum == ts.Getenv("SNAPSHOT_"+filepath.Base(args[0]))
	if same == neg {
		ts.Fatalf("%s: unchanged is %t", args[0], same)
	}
}

// treeSum returns a hash of the names, modes and contents in a directory.
func treeSum(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, p, info.Mode())
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			fmt.Fprintln(h, target)
			return err
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(p)
		h.Write(data)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// condition supports [root], as read-only directories do not prevent writes of root.
func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}
