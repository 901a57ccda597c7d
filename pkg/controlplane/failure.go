package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Failure reports a program that did not start, or exited unexpectedly.
type Failure struct {
	// Program is its name, such as kube-apiserver.
	Program string
	// Err is the error of its start or exit.
	Err error
	// Lines are the last lines of its log, oldest first.
	Lines []string
	// Cause is the likely cause and its remedy, or empty.
	Cause string
}

func (f *Failure) Error() string { return f.Unwrap().Error() }

// Unwrap returns a finding, to which the cause and the log are related.
func (f *Failure) Unwrap() error {
	failed := diag.Finding{Problem: fmt.Sprintf("%s failed: %v", f.Program, f.Err), Err: f.Err}
	if f.Cause != "" {
		failed.Related = append(failed.Related, diag.Finding{Problem: "likely cause: " + f.Cause})
	}
	if len(f.Lines) > 0 {
		failed.Related = append(failed.Related, diag.Finding{Problem: "last lines of its log:"})
	}
	for _, line := range f.Lines {
		failed.Related = append(failed.Related, diag.Finding{Problem: line, Listed: "  " + line})
	}
	return failed
}

// The known causes, with their remedies.
const (
	causePort         = "a port on 127.0.0.1 is in use by another program; try again with other ports"
	causeDisk         = "the disk is full; free some space in the directory for temporary files (TMPDIR) and in Go's caches"
	causeMemory       = "the machine ran out of memory, and the system ended the program; it needs about 500 MB, a build 3 GB"
	causeRights       = "the user is not allowed to read, write or run a file; check the directory for temporary files (TMPDIR) and its mount options"
	causeReadOnly     = "the file system is read-only; set TMPDIR to a writable directory"
	causeFiles        = "too many files are open; raise the limit (ulimit -n)"
	causeFormat       = "the program is for another system or processor; remove it to use Operon's build"
	causeLibrary      = "a library of the program is missing; use Operon's build, which needs none"
	causeMissing      = "the program or its loader does not exist; remove the directory to use Operon's build"
	causeParentExited = "the process that started it has exited"
)

// signs maps texts in the output of programs and systems to causes, the most specific first.
func signs() []struct{ sign, cause string } {
	return []struct{ sign, cause string }{
		{"address already in use", causePort},
		{"only one usage of each socket address", causePort},
		{"no space left on device", causeDisk},
		{"disk quota exceeded", causeDisk},
		{"not enough space on the disk", causeDisk},
		{"out of memory", causeMemory},
		{"cannot allocate memory", causeMemory},
		{"signal: killed", causeMemory},
		{"error while loading shared libraries", causeLibrary},
		{"library not loaded", causeLibrary},
		{"exec format error", causeFormat},
		{"not a valid win32 application", causeFormat},
		{"bad cpu type in executable", causeFormat},
		{"too many open files", causeFiles},
		{"read-only file system", causeReadOnly},
		{"permission denied", causeRights},
		{"operation not permitted", causeRights},
		{"access is denied", causeRights},
		{"exiting because parent process", causeParentExited},
	}
}

// likelyCause derives the cause of a failure from the error and the last lines.
func likelyCause(err error, lines []string) string {
	text := strings.ToLower(strings.Join(lines, "\n"))
	if err != nil {
		text += "\n" + strings.ToLower(err.Error())
	}
	for _, s := range signs() {
		if strings.Contains(text, s.sign) {
			return s.cause
		}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return causeMissing
	}
	return ""
}
