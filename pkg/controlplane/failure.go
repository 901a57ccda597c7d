package controlplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// Failure is a program that ended, or never started, when it should have run.
type Failure struct {
	// Program is its name, like kube-apiserver.
	Program string
	// Err is how it ended.
	Err error
	// Lines are the last of its log, oldest first.
	Lines []string
	// Cause is the likely cause and what to do about it, or empty.
	Cause string
}

func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s failed: %v", f.Program, f.Err)
	if f.Cause != "" {
		fmt.Fprintf(&b, "\nlikely cause: %s", f.Cause)
	}
	if len(f.Lines) > 0 {
		fmt.Fprintf(&b, "\nlast lines of its log:")
		for _, line := range f.Lines {
			fmt.Fprintf(&b, "\n  %s", line)
		}
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// What is written for the causes that have a name, each with what helps.
const (
	causePort       = "a port on 127.0.0.1 is in use by another program; try again, it takes other ports"
	causeDisk       = "the disk is full; free some space in the folder for temporary files (TMPDIR) and in Go's caches"
	causeMemory     = "the machine ran out of memory, and the system ended the program; it needs about 500 MB, a build 3 GB"
	causeRights     = "the user may not read, write or run a file; check the folder for temporary files (TMPDIR) and its mount options"
	causeReadOnly   = "the file system is read-only; set TMPDIR to a folder that can be written"
	causeFiles      = "too many files are open; raise the limit (ulimit -n)"
	causeFormat     = "the program is for another system or processor; remove it, and let Operon build its own"
	causeLibrary    = "a library that the program needs is missing; use Operon's own build, which needs none"
	causeNotThere   = "the program, or the loader it asks for, is not there; remove the folder, and let Operon build its own"
	causeParentGone = "the process that started it is gone"
)

// signs tell causes by what programs and systems write, most telling first.
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
		{"exiting because parent process", causeParentGone},
	}
}

// likelyCause guesses why a program failed from its end and its last lines.
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
		return causeNotThere
	}
	return ""
}
