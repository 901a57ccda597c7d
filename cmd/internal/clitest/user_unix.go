//go:build unix

package clitest

import (
	"os"
	"path/filepath"
	"testing"
)

// Nobody is the ID of the user nobody.
const Nobody = 65534

// ShareProgram copies the test binary to where other users can run it, and returns its directory and its path. It skips the
// test unless root runs it.
func ShareProgram(t *testing.T) (dir, program string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run commands as another user")
	}
	// The directories of t.TempDir and of the test binary are not accessible to other users.
	dir, err := os.MkdirTemp("", "operon-test-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	program = filepath.Join(dir, "operon")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, program
}
